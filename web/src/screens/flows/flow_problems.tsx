// What is wrong with a flow: each with its place, in the order of the file.

import { For, Show, type JSX } from "solid-js";
import { Problem } from "../../api/client";
import { Failure } from "../../ui/states";
import { visible } from "../../ui/visible";
import type { FlowProblem } from "./types";

export function FlowProblems(props: { problems: FlowProblem[] }): JSX.Element {
  return (
    <ul class="flow-problems small">
      <For each={props.problems}>
        {(problem) => (
          <li>
            <span class="number quiet mono">{problem.line}:{problem.column}</span>
            <span>{visible(problem.text)}</span>
          </li>
        )}
      </For>
    </ul>
  );
}

/** A refusal; where it is about the flow's file, with all that is wrong there. */
export function FlowFailure(props: { error: unknown; label: string; again?: () => void }): JSX.Element {
  const problems = () => {
    const found = Problem.of(props.error).body["problems"];
    return Array.isArray(found) ? (found as FlowProblem[]) : [];
  };
  return (
    <div class="stack flow-failure">
      <Failure error={props.error} label={props.label} again={props.again} />
      <Show when={problems().length > 0}><FlowProblems problems={problems()} /></Show>
    </div>
  );
}
