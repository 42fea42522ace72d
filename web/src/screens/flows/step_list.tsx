// The steps of a run one by one: what became of each, what it said, and where its conversation is.

import { For, Show, type JSX } from "solid-js";
import { AgentBadge } from "../../ui/agent";
import { Link } from "../../ui/link";
import { visible } from "../../ui/visible";
import { bytes, cost, decision } from "../../ui/words";
import type { RunView, StepView } from "./run_state";
import { agentOf, inRun, stateOf, stepId, took } from "./step_facts";
import type { FlowGraph, GraphStep } from "./types";
import { StateTag } from "./words";

interface ListProps {
  graph: FlowGraph;
  run: RunView;
  clock: () => number;
  /** Absent while it cannot be asked for. */
  resume?: (from: string) => void;
}

export function StepList(props: ListProps): JSX.Element {
  return (
    <section class="stack flow-section" aria-labelledby="flow-steps-title">
      <h2 id="flow-steps-title">Steps</h2>
      <ol class="flow-rows" aria-label="Steps">
        <For each={props.graph.steps}>{(step) => <StepRow step={step} {...props} />}</For>
      </ol>
    </section>
  );
}

function StepRow(props: ListProps & { step: GraphStep }): JSX.Element {
  const view = () => props.run.steps[props.step.name];
  const name = () => visible(props.step.name);
  const after = () => props.graph.connections.filter((one) => one.to === props.step.name);
  const items = () => Object.entries(view()?.items ?? {}).sort(([a], [b]) => Number(a) - Number(b));
  const kind = () => ({ agent: "agent", command: "command", parallel: "at once", for_each: "for each item" })[props.step.kind];
  const canResume = () => props.run.standing !== "running" && props.step.inside === undefined && inRun(props.run, props.step);
  return (
    <li class="flow-step" id={stepId(props.step.name)} tabindex="-1" data-inside={props.step.inside !== undefined} aria-label={name()}>
      <div class="flow-step-head">
        <Show when={inRun(props.run, props.step)} fallback={<span class="tag flow-tag">not in this run</span>}><StateTag state={stateOf(props.run, view())} /></Show>
        <span class="flow-step-name flow-wrap">{name()}</span>
        <Show when={agentOf(view(), props.step)} fallback={<span class="small quiet">{kind()}</span>}>{(agent) => <span class="row small quiet"><AgentBadge agent={agent()} silent />{visible(agent())}</span>}</Show>
        <span class="small quiet number flow-took">{took(view(), props.clock())}</span>
        <span class="flow-step-acts">
          <Show when={view()?.conversation}>{(conversation) => <Conversation of={name()} id={conversation()} turn={view()?.turn} />}</Show>
          <Show when={canResume()}>
            <button class="button plain small" aria-label={`Run from here: ${name()}`} title="Runs this step and those after it anew" aria-disabled={props.resume === undefined} onClick={() => props.resume?.(props.step.name)}>Run from here</button>
          </Show>
        </span>
      </div>
      <Show when={after().length > 0}><p class="small quiet flow-after">{after().map((one) => `${{ waits: "after", continues: "goes on from", forks: "forks from" }[one.how]} ${visible(one.from)}`).join(", ")}</p></Show>
      <Show when={view()}>{(known) => <Outcome view={known()} of={name()} kind={props.step.kind} />}</Show>
      <Show when={items().length > 0}>
        <ol class="flow-items" aria-label={`Items of ${name()}`}>
          <For each={items()}>
            {([index, item]) => (
              <li>
                <div class="flow-step-head">
                  <StateTag state={stateOf(props.run, item)} />
                  <span class="number">Item {Number(index) + 1}</span>
                  <Show when={item.ended?.receipt?.agent}>{(agent) => <AgentBadge agent={agent()} />}</Show>
                  <span class="small quiet number flow-took">{took(item, props.clock())}</span>
                  <Show when={item.conversation}>{(conversation) => <span class="flow-step-acts"><Conversation of={`${name()}, item ${Number(index) + 1}`} id={conversation()} turn={item.turn} /></span>}</Show>
                </div>
                <Outcome view={item} of={`${name()}, item ${Number(index) + 1}`} kind="agent" />
              </li>
            )}
          </For>
        </ol>
      </Show>
    </li>
  );
}

function Conversation(props: { of: string; id: string; turn?: string }): JSX.Element {
  return <Link to={{ screen: "conversation", id: props.id, turn: props.turn, view: "turns" }} class="button small" label={`Conversation of ${props.of}`}>Conversation</Link>;
}

function Outcome(props: { view: StepView; of: string; kind: GraphStep["kind"] }): JSX.Element {
  const ended = () => props.view.ended;
  const receipt = () => ended()?.receipt;
  const error = () => ended()?.error ?? (props.view.state === "running" ? props.view.lastError : undefined);
  return (
    <div class="flow-outcome">
      <Show when={receipt()}>
        {(told) => (
          <p class="small quiet flow-facts">
            <span>{decision(told().plan)}</span>
            <span class="number">{bytes(told().bytes)} sent</span>
            <Show when={(told().cost ?? 0) > 0}><span class="number">{cost(told().cost ?? 0)}</span></Show>
          </p>
        )}
      </Show>
      <Show when={props.view.attempt > 1}><p class="small quiet">Try {props.view.attempt}</p></Show>
      <Show when={error()}>{(text) => <p class="small flow-error flow-wrap" data-allowed={ended()?.allowed === true}>{visible(text())}{ended()?.allowed ? " (allowed to fail)" : ""}</p>}</Show>
      {/* A group's output is that of its steps, which stand below it. */}
      <Show when={props.kind !== "parallel" && ended()?.output}>
        {(output) => (
          <details class="flow-details">
            <summary class="small">Output<span class="sr-only"> of {props.of}</span></summary>
            <pre class="flow-output small" tabindex="0" role="group" aria-label={`Output of ${props.of}`}>{visible(output())}</pre>
          </details>
        )}
      </Show>
    </div>
  );
}
