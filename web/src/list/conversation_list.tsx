// Conversations by project, newest first.

import { createMemo, For, Match, Show, Switch, type JSX } from "solid-js";
import { Virtualizer } from "virtua/solid";
import type { ConversationRow } from "../api/types";
import { route } from "../router";
import { inbox } from "../state/inbox";
import { hasMore, listFailure, listState, more, refresh, rows } from "../state/list";
import { AgentBadge } from "../ui/agent";
import { now } from "../ui/clock";
import { Icon } from "../ui/icon";
import { Link } from "../ui/link";
import { Empty, Failure, Loading } from "../ui/states";
import { visible } from "../ui/visible";
import { age, baseName, cost, count } from "../ui/words";
import "./conversation_list.css";

type Entry = { project: string; path: string } | ConversationRow;

function grouped(rows: readonly ConversationRow[]): Entry[] {
  const groups = new Map<string, ConversationRow[]>();
  for (const row of rows) {
    const key = row.project ?? "";
    const group = groups.get(key);
    if (group) group.push(row);
    else groups.set(key, [row]);
  }
  return [...groups].flatMap(([path, group]): Entry[] => [{ project: path === "" ? "no project" : baseName(path), path }, ...group]);
}

export function ConversationList(): JSX.Element {
  const entries = createMemo(() => grouped(rows));
  const scrolled = (event: Event) => {
    const element = event.currentTarget as HTMLElement;
    if (element.scrollHeight - element.scrollTop - element.clientHeight < 600) void more();
  };
  return (
    <Switch>
      <Match when={listState() === "loading"}><div class="list-pad"><Loading lines={6} label="Loading conversations" /></div></Match>
      <Match when={listState() === "failed"}><div class="list-pad"><Failure error={listFailure()} again={() => void refresh()} /></div></Match>
      <Match when={entries().length === 0}><Empty title="No conversations yet"><p class="small">What you or a script begin with <code>rejoin run</code> appears here at once.</p></Empty></Match>
      <Match when={true}>
        <div class="conversations" onScroll={scrolled}>
          <div role="list" aria-label="Conversations">
            <Virtualizer data={entries()} itemSize={56} bufferSize={400}>
              {(entry) => (
                <Show when={"path" in entry && entry} fallback={<Row row={entry as ConversationRow} />}>
                  {(project) => <div role="listitem" class="list-project cut" title={visible(project().path)}><h3>{visible(project().project)}</h3></div>}
                </Show>
              )}
            </Virtualizer>
          </div>
          <Show when={hasMore()}><button class="button plain list-more" onClick={() => void more()}>Older conversations</button></Show>
        </div>
      </Match>
    </Switch>
  );
}

function Row(props: { row: ConversationRow }): JSX.Element {
  const current = () => {
    const here = route();
    return here.screen === "conversation" && here.id === props.row.id;
  };
  const title = () => visible(props.row.name ?? props.row.title) || "(no words)";
  return (
    <div role="listitem" class="list-row" data-unread={props.row.unread}>
      <Link to={{ screen: "conversation", id: props.row.id, view: "turns" }} class="list-link" current={current()}>
        <span class="list-title cut">{title()}</span>
        <span class="list-meta">
          <span class="list-agents"><For each={props.row.agents.slice(0, 4)}>{(agent) => <AgentBadge agent={agent} />}</For></span>
          <span class="number">{count(props.row.turns, "turn")}</span>
          <Show when={props.row.tags.includes("flow")}><span class="list-flow" role="img" aria-label="of a flow" title="of a flow"><Icon name="flow" size={12} /></span></Show>
          <Show when={(props.row.cost ?? 0) > 0}><span class="number">{cost(props.row.cost ?? 0)}</span></Show>
          <span class="grow" />
          <State row={props.row} />
          <time class="number">{age(props.row.used_ms, now())}</time>
        </span>
      </Link>
    </div>
  );
}

function State(props: { row: ConversationRow }): JSX.Element {
  const asks = () => inbox.questions.some((asked) => asked.conversation === props.row.id);
  return (
    <Switch>
      <Match when={asks()}><span class="tag warn">asks</span></Match>
      <Match when={props.row.state === "running"}><span class="tag accent"><span class="spinner" aria-hidden="true" />running</span></Match>
      <Match when={props.row.queued > 0}><span class="tag">{props.row.queued} queued</span></Match>
      <Match when={props.row.state === "failed"}><span class="tag bad">failed</span></Match>
      <Match when={props.row.state === "interrupted"}><span class="tag bad">interrupted</span></Match>
      <Match when={props.row.unread}><span class="tag accent">new</span></Match>
    </Switch>
  );
}
