// A run of a flow, as its records tell it.

import type { Begun, Ended, Standing, StepKey, StepState } from "./types";

export interface StepView {
  state: StepState;
  attempt: number;
  /** Since when it runs. */
  since?: string;
  /** Why the try before this one failed. */
  lastError?: string;
  conversation?: string;
  turn?: string;
  ended?: Ended;
  /** Of a list: what was done with each item. */
  items: Record<number, StepView>;
}

export interface RunView {
  begun?: Begun;
  standing: Standing;
  stopping: boolean;
  damaged: boolean;
  steps: Record<string, StepView>;
}

export function emptyRun(): RunView {
  return { standing: "running", stopping: false, damaged: false, steps: {} };
}

const waiting = (): StepView => ({ state: "waiting", attempt: 0, items: {} });

/** The run after one more record. Its steps are changed in place: whoever draws them is given copies. */
export function applyRecord(run: RunView, type: string, data: unknown): void {
  switch (type) {
    case "run":
      run.begun = data as Begun;
      break;
    case "resumed": {
      const { anew } = data as { anew: string[] };
      for (const name of anew) delete run.steps[name];
      // What was cut is begun again.
      for (const step of Object.values(run.steps)) if (step.state === "running" || step.state === "cut") step.state = "waiting";
      run.standing = "running";
      run.stopping = false;
      break;
    }
    case "step_begun": {
      const record = data as StepKey & { attempt: number; error?: string; time: string };
      const step = stepOf(run, record);
      step.state = "running";
      step.attempt = record.attempt;
      step.since = record.time;
      step.lastError = record.error;
      delete step.ended;
      break;
    }
    case "turn": {
      const record = data as StepKey & { conversation: string; turn: string };
      const step = stepOf(run, record);
      step.conversation = record.conversation;
      step.turn = record.turn;
      break;
    }
    case "step_ended": {
      const record = data as Ended;
      const step = stepOf(run, record);
      step.state = record.state;
      step.ended = record;
      if (record.receipt?.conversation) {
        step.conversation = record.receipt.conversation;
        step.turn = record.receipt.turn;
      }
      break;
    }
    case "asked_to_stop":
      run.stopping = true;
      break;
    case "damaged":
      run.damaged = true;
      break;
    case "result": {
      const { state } = data as { state: Ended["state"] };
      run.standing = state === "skipped" ? "done" : state;
      run.stopping = false;
      cutRunning(run);
      break;
    }
    case "interrupted":
      run.standing = "interrupted";
      run.stopping = false;
      cutRunning(run);
      break;
  }
}

/** Nobody is at the run any more: what has no end did not come to one. */
function cutRunning(run: RunView): void {
  for (const step of Object.values(run.steps)) {
    for (const one of [step, ...Object.values(step.items)]) if (one.state === "running") one.state = "cut";
  }
}

function stepOf(run: RunView, key: StepKey): StepView {
  const step = (run.steps[key.step] ??= waiting());
  if (key.index === undefined) return step;
  if (step.state === "waiting") step.state = "running";
  return (step.items[key.index] ??= waiting());
}
