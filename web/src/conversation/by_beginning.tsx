// A conversation by the beginning of its id, as terminals show it.

import { createEffect, createResource, Show, type JSX } from "solid-js";
import { get } from "../api/client";
import type { ConversationRow } from "../api/types";
import { go } from "../router";
import { Link } from "../ui/link";
import { Empty, Failure, Loading } from "../ui/states";
import { visible } from "../ui/visible";

export const WHOLE = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
/** Shorter ones could be anything. */
const BEGINNING = /^[0-9a-f][0-9a-f-]{5,35}$/i;
const PAGE = 500;

/** The one that begins like this; null if there is none, or more than one. */
async function find(beginning: string): Promise<string | null> {
  if (!BEGINNING.test(beginning)) return null;
  const found: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await get<{ conversations: ConversationRow[]; next?: string }>("/conversations", { limit: PAGE, cursor });
    found.push(...page.conversations.map(({ id }) => id).filter((id) => id.startsWith(beginning.toLowerCase())));
    cursor = page.next;
  } while (cursor !== undefined && found.length < 2);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/** Leads to the conversation; the address is the whole one then. */
export function ByBeginning(props: { id: string; turn?: string; view: "turns" | "tree" }): JSX.Element {
  const [found, { refetch }] = createResource(() => props.id, async (id) => ({ id: await find(id) }));
  createEffect(() => {
    const id = found.error ? null : found()?.id;
    if (id) go({ screen: "conversation", id, turn: props.turn, view: props.view }, true);
  });
  return (
    <Show when={!found.error} fallback={<div class="screen"><Failure error={found.error} again={() => void refetch()} /></div>}>
      <Show when={found()} fallback={<div class="screen"><Loading label="Looking for the conversation" /></div>}>
        {(now) => <Show when={now().id === null}><Unknown id={props.id} /></Show>}
      </Show>
    </Show>
  );
}

export function Unknown(props: { id: string }): JSX.Element {
  return (
    <Empty title="There is no such conversation">
      <p class="small">None has the id <code>{visible(props.id)}</code> here: it was deleted, or is kept on another machine.</p>
      <Link to={{ screen: "home" }} class="button">To the conversations</Link>
    </Empty>
  );
}
