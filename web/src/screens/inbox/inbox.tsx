// What waits for the user: questions of every run, and what ended without being looked at.

import { createEffect, createSignal, For, on, onMount, Show, type JSX } from "solid-js";
import { get } from "../../api/client";
import type { AskedHere, ConversationRow } from "../../api/types";
import { endedHow, inbox, inboxError, markRead, refreshInbox } from "../../state/inbox";
import { notifications, switchNotifications, type Notifications } from "../../state/notifications";
import { AgentBadge } from "../../ui/agent";
import { now } from "../../ui/clock";
import { Link } from "../../ui/link";
import { QuestionForm } from "../../ui/question_form";
import { Empty, Failure, Loading } from "../../ui/states";
import { Toggle } from "../../ui/toggle";
import { visible } from "../../ui/visible";
import { age, baseName, cost, count, short, when } from "../../ui/words";
import "./inbox.css";

export function Inbox(): JSX.Element {
  onMount(() => void refreshInbox());
  const settled = createSettled();
  const shown = () => inbox.questions.length + settled.list().length;
  return (
    <section class="screen" aria-labelledby="inbox-title">
      <div class="inner inbox">
        <header class="row inbox-head">
          <h1 class="grow" id="inbox-title">Inbox</h1>
          <NotificationSwitch />
        </header>
        <Show when={inboxError()}>{(error) => <Failure error={error()} again={() => void refreshInbox()} label="The inbox cannot be read" />}</Show>
        <Show when={inbox.loaded} fallback={<Show when={!inboxError()}><Loading lines={4} label="Loading the inbox" /></Show>}>
          <Show when={shown() + inbox.ended.length > 0} fallback={<Nothing />}>
            <Show when={shown() > 0}>
              <section class="stack" aria-labelledby="inbox-asks">
                <h2 id="inbox-asks">Asks <span class="inbox-count number">{inbox.questions.length}</span></h2>
                <ul class="stack">
                  <For each={inbox.questions}>{(asked) => <Asked asked={asked} />}</For>
                  <For each={settled.list()}>{(asked) => <Asked asked={asked} dismiss={() => settled.dismiss(asked.id)} />}</For>
                </ul>
              </section>
            </Show>
            <Show when={inbox.ended.length > 0}><Ended rows={inbox.ended} /></Show>
          </Show>
        </Show>
      </div>
    </section>
  );
}

function Nothing(): JSX.Element {
  return (
    <Empty title="Nothing waits for you">
      <p>Questions of agents come here, and runs that ended while you looked elsewhere.</p>
    </Empty>
  );
}

/** Questions that were answered while they were looked at, here or elsewhere: they say so before they go. */
function createSettled(): { list: () => AskedHere[]; dismiss: (id: string) => void } {
  const [list, setList] = createSignal<AskedHere[]>([]);
  const open = () => inbox.questions.map(({ id, conversation }) => ({ id, conversation }));
  createEffect(
    on(open, async (present, before) => {
      const ids = new Set(present.map(({ id }) => id));
      const gone = (before ?? []).filter(({ id }) => !ids.has(id));
      for (const { id, conversation } of gone) {
        try {
          const { questions } = await get<{ questions: AskedHere[] }>("/questions", { conversation, open: false });
          const asked = questions.find((one) => one.id === id);
          if (asked) setList((known) => [...known.filter((one) => one.id !== id), asked]);
        } catch {
          // Its conversation is gone, and so is what became of it.
        }
      }
    }),
  );
  return { list, dismiss: (id) => setList((known) => known.filter((one) => one.id !== id)) };
}

function Asked(props: { asked: AskedHere; dismiss?: () => void }): JSX.Element {
  const row = (): ConversationRow | undefined => inbox.rows[props.asked.conversation];
  return (
    <li class="card stack inbox-asked" data-settled={props.dismiss !== undefined}>
      <div class="row inbox-where">
        <For each={row()?.agents.slice(0, 3)}>{(agent) => <AgentBadge agent={agent} />}</For>
        <Link to={{ screen: "conversation", id: props.asked.conversation, turn: props.asked.run, view: "turns" }} class="cut inbox-title">
          {visible(row()?.name ?? row()?.title ?? "") || `conversation ${short(props.asked.conversation)}`}
        </Link>
        <span class="grow" />
        <Project path={props.asked.project} />
        <Show when={props.dismiss}>{(dismiss) => <button class="button plain" onClick={() => dismiss()()}>Dismiss</button>}</Show>
      </div>
      <QuestionForm id={props.asked.id} question={props.asked.question} onDone={() => void refreshInbox()} />
    </li>
  );
}

function Project(props: { path?: string | null }): JSX.Element {
  return <Show when={props.path}>{(path) => <span class="small quiet cut inbox-project" title={visible(path())}>{visible(baseName(path()))}</span>}</Show>;
}

function Ended(props: { rows: ConversationRow[] }): JSX.Element {
  const [error, setError] = createSignal<unknown>();
  const mark = async (rows: ConversationRow[]) => {
    setError(undefined);
    try {
      await markRead(rows);
    } catch (problem) {
      setError(problem);
    }
  };
  // What went wrong first; among equals the newest.
  const sorted = () => [...props.rows].sort((a, b) => Number(b.state !== "idle") - Number(a.state !== "idle"));
  return (
    <section class="stack" aria-labelledby="inbox-ended">
      <div class="row">
        <h2 class="grow" id="inbox-ended">Not looked at yet <span class="inbox-count number">{props.rows.length}</span></h2>
        <Show when={props.rows.length > 1}><button class="button plain" onClick={() => void mark([...props.rows])}>Mark all as read</button></Show>
      </div>
      <Show when={error()}>{(problem) => <Failure error={problem()} label="Not marked" />}</Show>
      <ul class="inbox-ended">
        <For each={sorted()}>{(row) => <EndedRow row={row} mark={() => void mark([row])} />}</For>
      </ul>
    </section>
  );
}

function EndedRow(props: { row: ConversationRow; mark: () => void }): JSX.Element {
  const title = () => visible(props.row.name ?? props.row.title) || "(no words)";
  const tone = () => ({ failed: "bad", interrupted: "warn", running: "", idle: "good" })[props.row.state];
  return (
    <li class="inbox-row">
      <span class={`tag inbox-state ${tone()}`}>{endedHow(props.row.state)}</span>
      <div class="grow">
        <Link to={{ screen: "conversation", id: props.row.id, view: "turns" }} class="inbox-title cut">{title()}</Link>
        <div class="row small quiet inbox-facts">
          <For each={props.row.agents.slice(0, 4)}>{(agent) => <AgentBadge agent={agent} />}</For>
          <span class="number">{count(props.row.turns, "turn")}</span>
          <Show when={(props.row.cost ?? 0) > 0}><span class="number">{cost(props.row.cost ?? 0)}</span></Show>
          <time class="number" datetime={new Date(props.row.used_ms).toISOString()} title={when(props.row.used_ms)}>{age(props.row.used_ms, now())}</time>
          <Project path={props.row.project} />
        </div>
      </div>
      <button class="button plain" aria-label={`Mark as read: ${title()}`} onClick={() => props.mark()}>Mark as read</button>
    </li>
  );
}

const WHY_NOT: Partial<Record<Notifications, string>> = {
  blocked: "This browser was told to block them: its settings for this page change that.",
  insecure: "The browser allows them over HTTPS or on localhost only.",
  unsupported: "This browser has none for pages.",
};

function NotificationSwitch(): JSX.Element {
  const why = () => WHY_NOT[notifications()];
  return (
    <div class="inbox-switch">
      <Toggle label="Notifications" on={notifications() === "on"} disabled={why() !== undefined} change={(on) => void switchNotifications(on)} />
      <p class="small quiet">{why() ?? "“Done” and “asks”, nothing else, while you look elsewhere."}</p>
    </div>
  );
}
