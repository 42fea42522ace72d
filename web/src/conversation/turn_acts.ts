// What can be done with a turn, wherever it is shown: beside its prompt, or on a row of the tree.

import type { Turn } from "./turn";
import { copy } from "../ui/clipboard";
import { address } from "../router";
import { attempt, branch, retry, rewind, say, switchTo, undoTo, type Place } from "./changes";
import type { ConversationModel } from "./model";

/** One request for one wish: the same click sent again, after a failure, is the same run. */
const keys = new Map<string, string>();

export async function retryTurn(model: ConversationModel, turn: Place): Promise<void> {
  const key = keys.get(turn.id) ?? crypto.randomUUID();
  keys.set(turn.id, key);
  const done = await attempt(model, async () => {
    const taken = await retry(model, turn, key);
    return taken.status === "queued" ? { text: "It waits in the queue to be run again." } : null;
  });
  if (done) keys.delete(turn.id);
}

export function rewindTo(model: ConversationModel, turn: Place): Promise<boolean> {
  const undo = undoTo(model);
  return attempt(model, async () => {
    const moved = await rewind(model, turn);
    return { text: `The next turn goes on after turn ${moved.turns}.`, hint: "Nothing was deleted: Branches shows all of it.", undo };
  });
}

export function branchFrom(model: ConversationModel, turn: Place, name: string): Promise<boolean> {
  const undo = undoTo(model);
  return attempt(model, async () => {
    const moved = await branch(model, turn, name);
    return { text: name ? `Branch “${name}” begins after turn ${moved.turns}.` : `The next turn begins a branch after turn ${moved.turns}.`, hint: "The turns after it stay on their own branch.", undo };
  });
}

export function switchHead(model: ConversationModel, turn: Place): Promise<boolean> {
  const undo = undoTo(model);
  return attempt(model, async () => {
    const moved = await switchTo(model, turn);
    return { text: `Switched: the next turn goes on after turn ${moved.turns}${moved.branch ? ` of “${moved.branch}”` : ""}.`, undo };
  });
}

async function copied(model: ConversationModel, text: string, what: string): Promise<void> {
  const done = await copy(text);
  say(model, done ? { text: `${what} copied.`, bad: false } : { text: "The browser would not let the page copy.", bad: true });
}

/** What the agent said, without thoughts and calls. */
export const answerOf = (turn: Turn): string => turn.items.map((item) => (item.kind === "text" ? item.text : "")).filter(Boolean).join("\n\n");

export async function copyAnswer(model: ConversationModel, turn: Turn): Promise<void> {
  if (turn.cut) await model.whole(turn).catch(() => {});
  await copied(model, answerOf(model.turns[turn.number] ?? turn), "Answer");
}

export function copyLink(model: ConversationModel, turn: Place): Promise<void> {
  return copied(model, location.origin + address({ screen: "conversation", id: model.id, view: "turns", turn: turn.id }), "Address of the turn");
}
