// Each guard with the two values it compares, as they are now, for a turn that would go on behind this one.

import { createEffect, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import { get, Problem } from "../../api/client";
import type { Why } from "../../api/types";
import { DecisionLine } from "../../ui/decision";
import { Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { guard } from "../../ui/words";
import type { ConversationModel } from "../model";
import { isOver, type Turn } from "../turn";

export function Guards(props: { model: ConversationModel; turn: Turn | null }): JSX.Element {
  const [why, setWhy] = createSignal<Why | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  let asking: AbortController | undefined;
  const load = async () => {
    asking?.abort();
    const mine = (asking = new AbortController());
    setProblem(null);
    try {
      const turn = props.turn;
      const checkpoint = turn && turn.id !== props.model.detail()?.head ? turn.id : undefined;
      const told = await get<Why>(`/conversations/${props.model.id}/why`, { agent: turn?.agent ?? undefined, checkpoint }, mine.signal);
      if (!mine.signal.aborted) setWhy(told);
    } catch (error) {
      if (!mine.signal.aborted) setProblem(Problem.of(error));
    }
  };
  const running = () => props.turn !== null && !isOver(props.turn);
  createEffect(on(() => [props.turn?.id, props.turn?.status, props.model.count()] as const, () => {
    setWhy(null);
    if (!running()) void load();
  }));
  onCleanup(() => asking?.abort());
  return (
    <section class="inspector-part" aria-label="Guards">
      <h3>Guards, for a turn after {props.turn ? "this one" : "the last"}</h3>
      <Show when={!running()} fallback={<p class="quiet">They are asked when this turn has ended.</p>}>
        <Show when={why()} fallback={<Show when={problem()} fallback={<Loading lines={3} label="Asking the guards" />}>{(error) => <Failure error={error()} again={() => void load()} />}</Show>}>
          {(told) => (
            <>
              <p><DecisionLine plan={told().plan} tense="would" /></p>
              <Show when={told().checks.length > 0} fallback={<p class="quiet small">There is no session to guard{told().can_resume ? " yet" : `: ${told().agent} cannot resume`}.</p>}>
                <ul class="guards" aria-label="Guards and their values">
                  <For each={told().checks}>
                    {(check) => (
                      <li class="guard" data-ok={check.ok}>
                        <span class="guard-name"><span class="guard-mark" role="img" aria-label={check.ok ? "passes" : "stops"}>{check.ok ? "✓" : "✗"}</span>{guard(check.guard)}</span>
                        <Show when={check.was !== check.now} fallback={<code class="guard-value" title={visible(check.now)}>{visible(check.now) || "—"}</code>}>
                          <span class="guard-value"><span class="quiet">session</span> <code>{visible(check.was) || "—"}</code></span>
                          <span class="guard-value"><span class="quiet">turn</span> <code>{visible(check.now) || "—"}</code></span>
                        </Show>
                      </li>
                    )}
                  </For>
                </ul>
              </Show>
              <dl class="facts">
                <div class="fact"><dt>Program</dt><dd><code>{visible(told().program)}</code> {told().version ? visible(told().version ?? "") : ""}</dd></div>
              </dl>
              <For each={told().warnings ?? []}>{(warning) => <p class="notice warn small">{visible(warning)}</p>}</For>
            </>
          )}
        </Show>
      </Show>
    </section>
  );
}
