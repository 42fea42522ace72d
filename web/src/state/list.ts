// The conversations, newest first: pages as they are scrolled to, rows anew when something happens in them.

import { batch, createSignal } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { get, Problem } from "../api/client";
import type { ConversationRow } from "../api/types";
import { onChange } from "../live/live";

const PAGE = 60;
/** Changes come in bursts. */
const SETTLE = 150;

interface Page {
  conversations: ConversationRow[];
  next?: string | null;
}

const [rows, setRows] = createStore<ConversationRow[]>([]);
const [state, setState] = createSignal<"loading" | "ready" | "failed">("loading");
const [failure, setFailure] = createSignal<Problem | null>(null);
const [next, setNext] = createSignal<string | null>(null);
/** Rows by last use. */
export { rows, state as listState, failure as listFailure };
export const hasMore = (): boolean => next() !== null;

let loading = false;
let timer: ReturnType<typeof setTimeout> | undefined;
let begun = false;

/** Reads the first page, and keeps it true from then on. */
export function beginList(): void {
  if (begun) return;
  begun = true;
  onChange((event) => {
    if (event.type === "hello") return;
    refreshSoon();
  });
  void refresh();
}

export function refreshSoon(): void {
  clearTimeout(timer);
  timer = setTimeout(() => void refresh(), SETTLE);
}

/** Reads as much as is shown anew. */
export async function refresh(): Promise<void> {
  try {
    const wanted = Math.min(500, Math.max(PAGE, rows.length));
    const page = await get<Page>("/conversations", { limit: wanted });
    batch(() => {
      const kept = rows.length > wanted ? rows.slice(wanted).filter((row) => !page.conversations.some((one) => one.id === row.id)) : [];
      setRows(reconcile([...page.conversations, ...kept], { key: "id" }));
      if (kept.length === 0) setNext(page.next ?? null);
      setFailure(null);
      setState("ready");
    });
  } catch (error) {
    setFailure(Problem.of(error));
    if (rows.length === 0) setState("failed");
  }
}

export async function more(): Promise<void> {
  const cursor = next();
  if (loading || cursor === null) return;
  loading = true;
  try {
    const page = await get<Page>("/conversations", { limit: PAGE, cursor });
    batch(() => {
      const known = new Set(rows.map((row) => row.id));
      setRows([...rows, ...page.conversations.filter((row) => !known.has(row.id))]);
      setNext(page.next ?? null);
    });
  } catch (error) {
    setFailure(Problem.of(error));
  } finally {
    loading = false;
  }
}
