// Turns that stand beside each other: "2/3", and the way to the others.

import { createSignal, Show, type JSX } from "solid-js";
import { Icon } from "../ui/icon";
import { attempt } from "./changes";
import type { ConversationModel } from "./model";
import { newestLeaf, readTree } from "./tree/rows";
import type { Turn } from "./turn";
import { switchHead } from "./turn_acts";
import "./siblings.css";

const [moving, setMoving] = createSignal(false);

async function step(model: ConversationModel, turn: Turn, by: number): Promise<void> {
  const to = turn.siblings[turn.siblings.indexOf(turn.id) + by];
  if (to === undefined || moving()) return;
  setMoving(true);
  try {
    let leaf = to;
    const read = await attempt(model, async () => {
      leaf = newestLeaf(await readTree(model.id), to);
      return null;
    });
    if (read) await switchHead(model, { id: leaf });
  } finally {
    setMoving(false);
  }
}

/** `[` and `]`: to the branch of the sibling before and after, where that one ends. */
export function siblingKey(model: ConversationModel, turn: Turn, event: KeyboardEvent): void {
  if ((event.key !== "[" && event.key !== "]") || turn.siblings.length < 2) return;
  event.preventDefault();
  void step(model, turn, event.key === "[" ? -1 : 1);
}

export function Siblings(props: { model: ConversationModel; turn: Turn }): JSX.Element {
  const at = () => props.turn.siblings.indexOf(props.turn.id);
  const all = () => props.turn.siblings.length;
  return (
    <Show when={all() > 1 && at() >= 0}>
      <span class="siblings" role="group" aria-label="Branches of this turn">
        <button type="button" class="icon-button" aria-label="Branch before" title="Branch before ([)" disabled={at() === 0 || moving()} onClick={() => void step(props.model, props.turn, -1)}><Icon name="back" size={14} /></button>
        <span class="number small"><span class="sr-only">Branch </span>{at() + 1}/{all()}</span>
        <button type="button" class="icon-button siblings-next" aria-label="Branch after" title="Branch after (])" disabled={at() === all() - 1 || moving()} onClick={() => void step(props.model, props.turn, 1)}><Icon name="back" size={14} /></button>
      </span>
    </Show>
  );
}
