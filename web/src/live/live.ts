// What a tab hears of the daemon: one stream, shared with the other tabs where the browser can do that.

import { createSignal } from "solid-js";
import { secret } from "../api/client";
import { StreamConnection } from "./connection";
import type { Connection, Envelope, FromTab, ToTab } from "./protocol";

const [connection, setConnection] = createSignal<Connection>({ state: "connecting" });
/** How the connection to the daemon stands. */
export { connection };

const [caughtUp, setCaughtUp] = createSignal<{ records: number; at: number } | null>(null);
/** How many records the last new stream had to tell of what happened before it. */
export { caughtUp };
/** Records by conversation, from its `hello` to its `ready`. */
const behind = new Map<string, number>();

function countBehind(event: Envelope): void {
  const conversation = event.conversation as string;
  if (event.type === "hello") behind.set(conversation, 0);
  const records = behind.get(conversation);
  if (records === undefined) return;
  if (event.seq !== undefined) behind.set(conversation, records + 1);
  if (event.type !== "ready") return;
  behind.delete(conversation);
  setCaughtUp({ records, at: Date.now() });
}

type Listener = (event: Envelope) => void;
const listeners = new Set<Listener>();
const byConversation = new Map<string, Set<(events: Envelope[]) => void>>();
let say: ((message: FromTab) => void) | null = null;

function heard(message: ToTab): void {
  if (message.say === "connection") {
    setConnection(message.connection);
    return;
  }
  const batches = new Map<string, Envelope[]>();
  for (const event of message.events) {
    if (event.type === "change" || event.conversation === undefined) {
      for (const listener of listeners) listener(event);
      continue;
    }
    countBehind(event);
    const batch = batches.get(event.conversation);
    if (batch) batch.push(event);
    else batches.set(event.conversation, [event]);
  }
  for (const [conversation, batch] of batches) {
    for (const listener of byConversation.get(conversation) ?? []) listener(batch);
  }
}

/** Begins to listen; again after a login. */
export function listen(): void {
  if (say === null) say = sharedConnection() ?? ownConnection();
  const tab = `rejoin-tab-${crypto.randomUUID()}`;
  const hello = () => say?.({ say: "hello", tab, secret: secret() });
  if ("locks" in navigator) {
    void navigator.locks.request(tab, () => {
      hello();
      return new Promise(() => {});
    });
  } else {
    hello();
  }
}

function sharedConnection(): ((message: FromTab) => void) | null {
  if (!("SharedWorker" in window) || !("locks" in navigator)) return null;
  const worker = new SharedWorker(new URL("./worker.ts", import.meta.url), { type: "module", name: "rejoin" });
  worker.port.onmessage = (message: MessageEvent<ToTab>) => heard(message.data);
  return (message) => worker.port.postMessage(message);
}

function ownConnection(): (message: FromTab) => void {
  const stream = new StreamConnection();
  const port = { send: heard };
  return (message) => stream.heard(port, message);
}

/** Changes of conversations that are not watched, and what is of none. */
export function onChange(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Everything that happens in a conversation behind a cursor. */
export function watch(conversation: string, cursor: string, listener: (events: Envelope[]) => void): () => void {
  const known = byConversation.get(conversation) ?? new Set();
  known.add(listener);
  byConversation.set(conversation, known);
  say?.({ say: "watch", conversation, cursor });
  return () => {
    known.delete(listener);
    if (known.size > 0) return;
    byConversation.delete(conversation);
    say?.({ say: "leave", conversation });
  };
}

/** Tries to connect now instead of at the next planned time. */
export function retryNow(): void {
  say?.({ say: "retry" });
}
