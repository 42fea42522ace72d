// A turn in the drawing of all branches.

import { For, Show, type JSX } from "solid-js";
import { AgentBadge } from "../../ui/agent";
import { Icon } from "../../ui/icon";
import { Menu, type MenuItem } from "../../ui/menu";
import { visible } from "../../ui/visible";
import { decision, decisionMark, tokens, when } from "../../ui/words";
import type { Rails, Row } from "./rows";

export interface RowActs {
  switch(row: Row): void;
  open(row: Row): void;
  edit(row: Row): void;
  retry(row: Row): void;
  branch(row: Row): void;
  rewind(row: Row): void;
  link(row: Row): void;
}

interface Props {
  row: Row;
  rails: Rails | undefined;
  full: boolean;
  at: number;
  of: number;
  active: boolean;
  selected: boolean;
  onPreview: () => void;
  acts: RowActs;
}

const STATES: Partial<Record<Row["status"], [string, string]>> = {
  running: ["runs", "accent"],
  waiting: ["asks", "warn"],
  failed: ["failed", "bad"],
  timeout: ["out of time", "bad"],
  cancelled: ["cancelled", ""],
  interrupted: ["interrupted", "bad"],
};

export function TreeRow(props: Props): JSX.Element {
  const runs = () => (props.row.status === "running" || props.row.status === "waiting" ? "it runs" : null);
  const isHead = () => (props.row.is_head ? "it is the head" : null);
  const items = (): MenuItem[] => [
    { name: "Switch to it", icon: "check", act: () => props.acts.switch(props.row), not: isHead() },
    { name: "Show its turns", icon: "menu", act: () => props.acts.open(props.row) },
    { name: "Edit the prompt", icon: "edit", act: () => props.acts.edit(props.row), not: runs() },
    { name: "Retry", icon: "retry", act: () => props.acts.retry(props.row), not: runs() },
    { name: "Branch from here", icon: "branch", act: () => props.acts.branch(props.row), not: runs() },
    { name: "Rewind to here", icon: "rewind", act: () => props.acts.rewind(props.row), not: runs() ?? isHead() },
    { name: "Link to this turn", icon: "link", act: () => props.acts.link(props.row) },
  ];
  const resumed = () => props.row.plan?.decision === "resume";
  const state = () => STATES[props.row.status];
  const title = () => visible(props.row.title) || "(no words)";
  return (
    <div
      id={`branch-${props.row.turn}`}
      class="tree-row"
      role="treeitem"
      aria-level={props.row.depth + 1}
      aria-posinset={props.at + 1}
      aria-setsize={props.of}
      aria-selected={props.selected}
      data-active={props.active}
      data-path={props.row.on_path}
      onClick={() => props.onPreview()}
      onDblClick={() => props.acts.open(props.row)}
    >
      <span class="tree-rails">
        <Show when={props.rails}>{(rails) => <RailLines rails={rails()} path={props.row.on_path} />}</Show>
        <span class="tree-dot" style={{ "--column": props.rails?.column ?? 0 }}>
          <Show when={props.row.agent} fallback={<span class="tree-nobody" aria-hidden="true" />}>{(agent) => <AgentBadge agent={agent()} />}</Show>
        </span>
      </span>
      <span class="tree-title">
        <Show when={props.row.plan}>{(plan) => <span class="tree-mark" data-resumed={resumed()} role="img" aria-label={decision(plan())} title={decision(plan())}>{decisionMark(plan())}</span>}</Show>
        <span class="cut tree-words" title={title()}>{title()}</span>
        <Show when={props.row.revision > 0}><span class="tree-edited" role="img" aria-label={`edited ${props.row.revision}×`} title={`edited ${props.row.revision}×`}><Icon name="edit" size={12} /></span></Show>
        <Show when={state()}>{(one) => <span class={`tag ${one()[1]}`}>{one()[0]}</span>}</Show>
        <For each={props.row.branches}>{(name) => <span class="tag tree-name"><Icon name="branch" size={11} /><span class="cut">{visible(name)}</span></span>}</For>
        <Show when={props.row.is_head}><span class="tag accent">head</span></Show>
      </span>
      <Show when={props.full}>
        <span class="tree-decision small quiet cut">{props.row.plan ? decision(props.row.plan) : ""}</span>
        <span class="tree-tokens small number" title={props.row.usage ? `${props.row.usage.input} in, ${props.row.usage.cached ?? 0} cached, ${props.row.usage.output} out` : undefined}>{props.row.usage ? tokens(props.row.usage.input + (props.row.usage.cached ?? 0) + props.row.usage.output) : ""}</span>
        <span class="tree-time small quiet number cut">{props.row.started ? when(props.row.started) : ""}</span>
      </Show>
      <span class="tree-more"><Menu label={`Actions of “${title().slice(0, 40)}”`} items={items()} tabindex={-1} /></span>
    </div>
  );
}

/** A column, in pixels of the drawing; tree.css has the same. */
const WIDE = 20;
const HIGH = 36;
const x = (column: number) => column * WIDE + WIDE / 2 + 2;

function RailLines(props: { rails: Rails; path: boolean }): JSX.Element {
  const middle = HIGH / 2;
  return (
    <svg class="tree-lines" viewBox={`0 0 ${x(props.rails.column) + WIDE} ${HIGH}`} width={x(props.rails.column) + WIDE} preserveAspectRatio="none" aria-hidden="true">
      <For each={props.rails.through}>{(path, column) => <path d={`M${x(column())} 0V${HIGH}`} data-path={path} />}</For>
      <Show when={props.rails.from === "above"}><path d={`M${x(props.rails.column)} 0V${middle}`} data-path={props.path} /></Show>
      <Show when={props.rails.from === "left"}>
        <path d={`M${x(props.rails.column - 1)} 0C${x(props.rails.column - 1)} ${middle} ${x(props.rails.column)} 2 ${x(props.rails.column)} ${middle}`} data-path={props.path} />
      </Show>
      <Show when={props.rails.down !== "nothing"}><path d={`M${x(props.rails.column)} ${middle}V${HIGH}`} data-path={props.rails.down === "path"} /></Show>
    </svg>
  );
}
