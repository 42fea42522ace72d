// The decision the next turn would take, told before it is paid.

import { createEffect, createSignal, on, onCleanup, Show, type JSX } from "solid-js";
import { get, Problem } from "../api/client";
import type { Decision, Why } from "../api/types";
import { DecisionLine } from "../ui/decision";
import { visible } from "../ui/visible";
import { bytes, guard } from "../ui/words";

export interface Wish {
  agent: string;
  model: string;
  cwd: string;
  fresh: boolean;
}

/** What comes before the next turn: one that runs, prompts that wait. */
export interface Before {
  running: { agent: string | null; plan: Decision | null } | undefined;
  /** Who does those that wait; null is who did the last one. */
  waiting: (string | null)[];
}

/** What can be said while others come first; null if what holds now holds then. */
export function afterThem(before: Before, wish: Wish, why: Why | null): string | null {
  const { running, waiting } = before;
  if (!running && waiting.length === 0) return null;
  const after = waiting.length === 0 ? "after this turn" : `after ${running ? "this turn and " : ""}${waiting.length} that ${waiting.length === 1 ? "waits" : "wait"}`;
  if (wish.fresh) return `${after}: begins fresh: forced`;
  const others = [running?.agent, ...waiting].some((agent) => agent != null && agent !== wish.agent);
  // Turns of another agent, or in another directory, are told or replayed: how many is known when they have ended.
  if (others || wish.cwd !== "" || !running) return `${after}: decided when its turn comes`;
  const plan = running.plan;
  if (plan?.decision !== "resume") return `${after}: resumes ${plan ? "the session it began" : "its session"} if ${waiting.length === 0 ? "it ends" : "they end"} well`;
  const same = why === null || why.plan.decision !== "resume" || why.plan.session === plan.session;
  return same ? `${after}: resumes ${plan.session.slice(0, 8)} if ${waiting.length === 0 ? "it ends" : "they end"} well` : `${after}: decided when its turn comes`;
}

const SETTLE = 120;

export function Forecast(props: { conversation: string | null; wish: Wish; before: Before; version: unknown }): JSX.Element {
  const [why, setWhy] = createSignal<Why | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  let asking: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const forecast = async (conversation: string, wish: Wish) => {
    asking?.abort();
    const mine = (asking = new AbortController());
    try {
      const query = { agent: wish.agent || undefined, model: wish.model || undefined, cwd: wish.cwd || undefined, fresh: wish.fresh || undefined };
      const told = await get<Why>(`/conversations/${conversation}/why`, query, mine.signal);
      if (mine.signal.aborted) return;
      setWhy(told);
      setProblem(null);
    } catch (error) {
      if (mine.signal.aborted) return;
      setWhy(null);
      setProblem(Problem.of(error));
    }
  };
  createEffect(on(() => [props.conversation, { ...props.wish }, props.version] as const, ([conversation, wish]) => {
    clearTimeout(timer);
    if (conversation !== null) timer = setTimeout(() => void forecast(conversation, wish), SETTLE);
  }));
  onCleanup(() => {
    clearTimeout(timer);
    asking?.abort();
  });
  const later = () => afterThem(props.before, props.wish, why());
  const failed = () => why()?.checks.filter((check) => !check.ok) ?? [];
  return (
    <section class="forecast small" aria-label="Forecast" aria-live="polite">
      <Show when={props.conversation !== null} fallback={<span class="quiet">○ a new conversation: first turn, nothing to remember yet</span>}>
        <Show when={!later()} fallback={<span>{later()}</span>}>
          <Show when={why()} fallback={<span class="quiet">{problem() ? visible(problem()?.detail ?? "") : " "}</span>}>
            {(told) => (
              <>
                <DecisionLine plan={told().plan} tense="would" />
                <Show when={told().history_bytes > 0}><span class="quiet"> · {bytes(told().history_bytes)} of history sent along</span></Show>
                <Show when={told().plan.decision === "resume" && told().replay_bytes > told().history_bytes}><span class="quiet"> · {bytes(told().replay_bytes - told().history_bytes)} saved</span></Show>
                <Show when={failed()[0]}>
                  {(check) => <span class="quiet forecast-guard" title={`${visible(check().was)} → ${visible(check().now)}`}> · {guard(check().guard)}: was {visible(check().was) || "—"}, now {visible(check().now) || "—"}</span>}
                </Show>
              </>
            )}
          </Show>
        </Show>
      </Show>
    </section>
  );
}
