// What stands behind a turn: its receipt, and why the agent remembered. Without a turn: the conversation itself.

import { Show, type JSX } from "solid-js";
import { Icon } from "../../ui/icon";
import type { ConversationModel } from "../model";
import type { Turn } from "../turn";
import { ConversationFacts } from "./conversation_facts";
import { Guards } from "./guards";
import { ReceiptFacts } from "./receipt_facts";
import "./inspector.css";

export function Inspector(props: { model: ConversationModel; turn: Turn | null; onClose: () => void }): JSX.Element {
  return (
    <section class="inspector" aria-label={props.turn ? `Receipt of turn ${props.turn.number}` : "About this conversation"}>
      <header class="inspector-head">
        <h2 class="grow">{props.turn ? `Turn ${props.turn.number}` : "Conversation"}</h2>
        <button class="icon-button" aria-label="Close the details" onClick={() => props.onClose()}><Icon name="close" /></button>
      </header>
      <div class="inspector-body">
        <Show when={props.turn} fallback={<ConversationFacts model={props.model} />}>
          {(turn) => <ReceiptFacts turn={turn()} />}
        </Show>
        <Guards model={props.model} turn={props.turn} />
      </div>
    </section>
  );
}
