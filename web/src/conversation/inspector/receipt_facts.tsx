// The receipt of a turn: what was decided, sent, used and paid.

import { For, Show, type JSX } from "solid-js";
import type { Decision } from "../../api/types";
import { DecisionLine } from "../../ui/decision";
import { visible } from "../../ui/visible";
import { bytes, cost, count, seconds, when } from "../../ui/words";
import { isOver, type Turn } from "../turn";
import { Fact } from "./fact";

/** The two values that a guard found different, where the reason names them. */
function difference(plan: Decision): { was: string; now: string } | null {
  const told = plan as { was?: unknown; now?: unknown };
  return typeof told.was === "string" && typeof told.now === "string" ? { was: told.was, now: told.now } : null;
}

export function ReceiptFacts(props: { turn: Turn }): JSX.Element {
  const receipt = () => props.turn.receipt;
  const plan = () => receipt()?.plan ?? props.turn.plan;
  const error = () => {
    const now = receipt();
    return now && "error" in now ? now : null;
  };
  return (
    <>
      <section class="inspector-part" aria-label="Decision">
        <h3>Decision</h3>
        <Show when={plan()} fallback={<p class="quiet">Not taken yet.</p>}>
          {(taken) => (
            <>
              <p><DecisionLine plan={taken()} tense={isOver(props.turn) ? "done" : "running"} /></p>
              <Show when={difference(taken())}>
                {(values) => <dl class="facts"><Fact name="Was" code>{visible(values().was) || "—"}</Fact><Fact name="Now" code>{visible(values().now) || "—"}</Fact></dl>}
              </Show>
            </>
          )}
        </Show>
      </section>
      <section class="inspector-part" aria-label="Receipt">
        <h3>Receipt</h3>
        <Show when={receipt()} fallback={<p class="quiet">{isOver(props.turn) ? "None: rejoin was stopped before it could be written." : "Comes when the turn ends."}</p>}>
          {(paid) => (
            <dl class="facts">
              <Fact name="Outcome">{paid().outcome}</Fact>
              <Show when={error()}>{(failed) => <><Show when={"class" in failed() && (failed() as { class: string }).class}>{(kind) => <Fact name="Kind">{kind()}</Fact>}</Show><Fact name="Error">{visible(failed().error)}</Fact></>}</Show>
              <Fact name="Agent">{paid().agent}</Fact>
              <Show when={paid().model}>{(model) => <Fact name="Model">{visible(model())}</Fact>}</Show>
              <Fact name="Session asked for" code>{paid().asked ?? "none"}</Fact>
              <Fact name="Session seen" code>{paid().session ?? "none"}</Fact>
              <Fact name="Sent" number>{bytes(paid().bytes)}</Fact>
              <Show when={paid().replay_bytes}>{(whole) => <Fact name="A replay would be" number>{bytes(whole())}</Fact>}</Show>
              <Show when={paid().usage}>
                {(used) => (
                  <>
                    <Fact name="Tokens in" number>{used().input.toLocaleString("en")}</Fact>
                    <Fact name="Tokens cached" number>{(used().cached ?? 0).toLocaleString("en")}</Fact>
                    <Fact name="Tokens out" number>{used().output.toLocaleString("en")}</Fact>
                  </>
                )}
              </Show>
              <Show when={paid().cost != null}><Fact name="Cost" number>{cost(paid().cost ?? 0)}</Fact></Show>
              <Fact name="Time" number>{seconds(paid().milliseconds)}</Fact>
              <Fact name="Runs" number>{paid().runs}</Fact>
              <Show when={paid().exit_code != null}><Fact name="Exit code" number>{paid().exit_code}</Fact></Show>
              <Show when={paid().lossy}><Fact name="Replay">shortened to fit</Fact></Show>
              <Show when={(paid().diagnostics ?? 0) > 0}><Fact name="Not events" number>{count(paid().diagnostics ?? 0, "line")}</Fact></Show>
            </dl>
          )}
        </Show>
        <For each={receipt()?.warnings ?? []}>{(warning) => <p class="notice warn small">{visible(warning)}</p>}</For>
        <dl class="facts">
          <Fact name="Began">{when(props.turn.started)}</Fact>
          <Fact name="Turn id" code>{props.turn.id}</Fact>
        </dl>
      </section>
    </>
  );
}
