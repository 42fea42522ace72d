// What is said of a step in more than one place.

import { seconds } from "../../ui/words";
import type { RunView, StepView } from "./run_state";
import type { GraphStep, StepState } from "./types";

export function stepId(name: string): string {
  return `step-${name}`;
}

/** Whether the run has this step at all: it may be of a part of the flow only. */
export function inRun(run: RunView, step: GraphStep): boolean {
  const steps = run.begun?.steps ?? [];
  return steps.includes(step.name) || (step.inside !== undefined && steps.includes(step.inside)) || run.steps[step.name] !== undefined;
}

/** How a step stands, as it is shown. */
export function stateOf(run: RunView, view: StepView | undefined): StepState {
  const state = view?.state ?? "waiting";
  if (state === "waiting" && run.standing !== "running") return "not_run";
  return state === "failed" && view?.ended?.allowed ? "allowed" : state;
}

/** Who did it; before that, who will, where the file says a name and not a template. */
export function agentOf(view: StepView | undefined, step: GraphStep): string | undefined {
  const written = step.agent !== undefined && !step.agent.includes("{") ? step.agent : undefined;
  return view?.ended?.receipt?.agent ?? written;
}

/** How long it took, or has been at it by now. */
export function took(view: StepView | undefined, now: number): string {
  if (view?.ended && view.state !== "skipped") return seconds(view.ended.milliseconds);
  if (view?.state !== "running" || view.since === undefined) return "";
  return `${Math.max(0, Math.floor((now - Date.parse(view.since)) / 1000))} s`;
}
