// What waits for the user: open questions, and conversations in which something ended that nobody has looked at.

import { createEffect, createRoot, createSignal, on } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { ask, get } from "../api/client";
import type { AskedHere, ConversationRow } from "../api/types";
import { connection, onChange } from "../live/live";
import { debounced } from "./loaded";
import { tell } from "./notifications";
import { session } from "./session";

/** Bursts of changes are read once. */
const SETTLE = 300;
/** So many conversations are looked through for unread ones, newest first. */
const NEWEST = 500;

export interface InboxState {
  /** Nothing is known before the first answer. */
  loaded: boolean;
  questions: AskedHere[];
  /** Ended and not looked at, newest first. */
  ended: ConversationRow[];
  /** Titles and agents of the conversations that ask. */
  rows: Record<string, ConversationRow>;
}

const [inbox, setInbox] = createStore<InboxState>({ loaded: false, questions: [], ended: [], rows: {} });
const [inboxError, setInboxError] = createSignal<unknown>();
export { inbox, inboxError };

/** How many things wait: for the badge. */
export function inboxCount(): number {
  return inbox.questions.length + inbox.ended.length;
}

let reading = false;
let readAgain = false;

/** Reads what waits. Several calls at once read twice at most. */
export async function refreshInbox(): Promise<void> {
  if (reading) {
    readAgain = true;
    return;
  }
  reading = true;
  try {
    do {
      readAgain = false;
      await read();
    } while (readAgain);
    setInboxError(undefined);
  } catch (error) {
    setInboxError(error);
  } finally {
    reading = false;
  }
}

async function read(): Promise<void> {
  const [{ questions }, { conversations }] = await Promise.all([
    get<{ questions: AskedHere[] }>("/questions", { open: true }),
    get<{ conversations: ConversationRow[] }>("/conversations", { limit: NEWEST }),
  ]);
  const asking = new Set(questions.map((asked) => asked.conversation));
  const ended = conversations.filter((row) => row.unread && row.state !== "running");
  const rows = Object.fromEntries(conversations.filter((row) => asking.has(row.id)).map((row) => [row.id, row]));
  if (inbox.loaded) tellNews(questions, ended, rows);
  setInbox("rows", reconcile(rows, { key: "id" }));
  setInbox("questions", reconcile(questions, { key: "id" }));
  setInbox("ended", reconcile(ended, { key: "id" }));
  setInbox("loaded", true);
}

function tellNews(questions: AskedHere[], ended: ConversationRow[], rows: Record<string, ConversationRow>): void {
  const asked = new Set(inbox.questions.map(({ id }) => id));
  for (const { id, conversation, question } of questions) {
    if (!asked.has(id)) tell({ what: "asks", conversation, title: rows[conversation]?.title ?? "", text: question.text });
  }
  const known = new Map(inbox.ended.map(({ id, used_ms }) => [id, used_ms]));
  for (const row of ended) {
    if (known.get(row.id) !== row.used_ms) tell({ what: "done", conversation: row.id, title: row.title, text: endedHow(row.state) });
  }
}

/** How something that is over ended, in a word. */
export function endedHow(state: ConversationRow["state"]): string {
  return { failed: "failed", interrupted: "interrupted", running: "running", idle: "done" }[state];
}

/** Notes that these were looked at: on all of the user's devices. */
export async function markRead(rows: ConversationRow[]): Promise<void> {
  const gone = new Set(rows.map(({ id }) => id));
  try {
    for (const id of gone) await ask(`/conversations/${id}`, { method: "PATCH", body: { read: true } });
  } finally {
    void refreshInbox();
  }
}

let begun = false;

/** Reads what waits, and keeps it true for as long as the page lives: the badge counts on every screen. */
export function beginInbox(): void {
  if (begun) return;
  begun = true;
  createRoot(() => {
    const soon = debounced(() => void refreshInbox(), SETTLE);
    onChange(soon);
    createEffect(
      on([() => session().state, () => connection().state], ([user, stream]) => {
        if (user !== "in") {
          soon.cancel();
          setInbox({ loaded: false, questions: [], ended: [], rows: {} });
        } else if (stream !== "waiting") {
          void refreshInbox();
        }
      }),
    );
  });
}
