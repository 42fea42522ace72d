// How runs and steps stand, in a word and a colour. One wording for the list, the graph and the run's page.

import { Show, type JSX } from "solid-js";
import type { Standing, StepState } from "./types";

const STANDINGS: Record<Standing, [word: string, tone: string]> = {
  running: ["running", "accent"],
  interrupted: ["interrupted", "warn"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
  cancelled: ["cancelled", "warn"],
  damaged: ["damaged", "bad"],
};

const STATES: Record<StepState, [word: string, tone: string]> = {
  waiting: ["waiting", ""],
  running: ["running", "accent"],
  done: ["done", "good"],
  failed: ["failed", "bad"],
  skipped: ["skipped", ""],
  cancelled: ["cancelled", "warn"],
  cut: ["cut off", "warn"],
  // The run is over without it.
  not_run: ["not run", ""],
  // It failed, which the flow allows.
  allowed: ["failed", "warn"],
};

export function StandingTag(props: { standing: Standing; stopping?: boolean }): JSX.Element {
  return (
    <span class={`tag flow-tag ${STANDINGS[props.standing][1]}`}>
      <Show when={props.standing === "running"}><span class="spinner flow-spinner" aria-hidden="true" /></Show>
      {props.stopping ? "stopping" : STANDINGS[props.standing][0]}
    </span>
  );
}

export function stateWord(state: StepState): string {
  return STATES[state][0];
}

export function StateTag(props: { state: StepState }): JSX.Element {
  return (
    <span class={`tag flow-tag ${STATES[props.state][1]}`}>
      <Show when={props.state === "running"}><span class="spinner flow-spinner" aria-hidden="true" /></Show>
      {stateWord(props.state)}
    </span>
  );
}
