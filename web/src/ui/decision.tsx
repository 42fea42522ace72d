// Why a turn remembered, in one line.

import { Show, type JSX } from "solid-js";
import type { Decision } from "../api/types";
import { bytes, count, decision, decisionMark } from "./words";

export function DecisionLine(props: { plan: Decision; tense?: "done" | "running" | "would"; sent?: number; saved?: number }): JSX.Element {
  const resumes = () => props.plan.decision === "resume";
  const replayed = () => (props.plan.decision === "fresh" ? props.plan.replayed : 0);
  return (
    <span class="decision" data-resumed={resumes()}>
      <span aria-hidden="true">{decisionMark(props.plan)}</span> {decision(props.plan, props.tense)}
      <Show when={replayed() > 0}> · {count(replayed(), "turn")} replayed</Show>
      <Show when={props.sent !== undefined}> · {bytes(props.sent ?? 0)} sent</Show>
      <Show when={(props.saved ?? 0) > 0}>, {bytes(props.saved ?? 0)} saved</Show>
    </span>
  );
}
