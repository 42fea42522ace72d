// The steps of a run as a graph with its live state. A step leads to its conversation, or to its line in the list.

import { createMemo, createUniqueId, For, Show, type JSX } from "solid-js";
import { AgentBadge } from "../../ui/agent";
import { Link } from "../../ui/link";
import { visible } from "../../ui/visible";
import { layOut, type Placed } from "./graph_layout";
import type { RunView } from "./run_state";
import { agentOf, inRun, stateOf, stepId, took } from "./step_facts";
import type { FlowGraph } from "./types";
import { stateWord } from "./words";

export function StepGraph(props: { graph: FlowGraph; run: RunView; clock: () => number }): JSX.Element {
  const layout = createMemo(() => layOut(props.graph));
  const has = (how: string) => props.graph.connections.some((connection) => connection.how === how);
  return (
    <section class="flow-graph-part" aria-label="Graph">
      <div class="flow-graph-box" tabindex="0" role="group" aria-label="Graph of the steps">
        <div class="flow-graph" style={{ width: `${layout().width}px`, height: `${layout().height}px` }}>
          <svg class="flow-lines" width={layout().width} height={layout().height} aria-hidden="true">
            <defs>
              <marker id="flow-arrow" viewBox="0 0 8 8" refX="6" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" /></marker>
            </defs>
            <For each={layout().lines}>{(line) => <path d={line.path} data-how={line.connection.how} marker-end="url(#flow-arrow)" />}</For>
          </svg>
          <For each={layout().groups}>{(placed) => <GroupBox placed={placed} run={props.run} />}</For>
          <For each={layout().nodes}>{(placed) => <Node placed={placed} run={props.run} clock={props.clock} />}</For>
        </div>
      </div>
      <Show when={has("continues") || has("forks")}>
        <ul class="flow-legend small quiet" aria-label="Lines of the graph">
          <Show when={has("continues")}><li><i data-how="continues" />goes on in the same conversation</li></Show>
          <Show when={has("forks")}><li><i data-how="forks" />begins a conversation with its path</li></Show>
          <Show when={has("waits")}><li><i data-how="waits" />waits</li></Show>
        </ul>
      </Show>
    </section>
  );
}

function place(placed: Placed): JSX.CSSProperties {
  return { left: `${placed.x}px`, top: `${placed.y}px`, width: `${placed.width}px`, height: `${placed.height}px` };
}

function GroupBox(props: { placed: Placed; run: RunView }): JSX.Element {
  const state = () => stateOf(props.run, props.run.steps[props.placed.step.name]);
  return (
    <div class="flow-group" data-state={state()} style={place(props.placed)}>
      <span class="row small"><span class="cut grow">{visible(props.placed.step.name)}</span><span class="quiet">{stateWord(state())}</span></span>
    </div>
  );
}

function Node(props: { placed: Placed; run: RunView; clock: () => number }): JSX.Element {
  const step = () => props.placed.step;
  const view = () => props.run.steps[step().name];
  const state = () => stateOf(props.run, view());
  const known = () => inRun(props.run, step());
  const words = () => (known() ? [stateWord(state()), took(view(), props.clock())].filter(Boolean).join(" · ") : "not in this run");
  const agent = () => agentOf(view(), step());
  const id = createUniqueId();
  const show = () => {
    const line = document.getElementById(stepId(step().name));
    line?.scrollIntoView({ block: "center" });
    line?.focus({ preventScroll: true });
  };
  const name = () => visible(step().name);
  return (
    <div class="flow-node" data-state={known() ? state() : "out"} style={place(props.placed)}>
      <div class="row">
        <Show when={agent()} fallback={<Show when={step().kind === "command"}><span class="flow-prompt mono" aria-hidden="true">$</span></Show>}>{(who) => <AgentBadge agent={who()} silent />}</Show>
        <Show when={view()?.conversation} fallback={<button class="flow-node-act cut" aria-label={`Show step ${name()}`} aria-describedby={id} title={name()} onClick={show}>{name()}</button>}>
          {(conversation) => (
            <Link to={{ screen: "conversation", id: conversation(), turn: view()?.turn, view: "turns" }} class="flow-node-act cut" label={`Open conversation of ${name()}`} title={name()}>{name()}</Link>
          )}
        </Show>
        <Show when={state() === "running"}><span class="spinner" aria-hidden="true" /></Show>
      </div>
      <div class="small number cut flow-node-state" id={id}>{words()}</div>
    </div>
  );
}
