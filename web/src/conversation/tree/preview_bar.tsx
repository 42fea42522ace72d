// Which path is looked at if it is not the head's; and what came of the last change.

import { createSignal, Show, type JSX } from "solid-js";
import { go } from "../../router";
import { Icon } from "../../ui/icon";
import { visible } from "../../ui/visible";
import { attempt, said, say } from "../changes";
import type { ConversationModel } from "../model";
import { switchHead } from "../turn_acts";
import "./preview_bar.css";

/** The turn whose path is shown instead of the head's. */
export function previewedTurn(model: ConversationModel): string | null {
  // A path is read anew when it is another one: that changes the state.
  model.state();
  return model.previewed;
}

export function PreviewBar(props: { model: ConversationModel; link?: boolean }): JSX.Element {
  const last = () => props.model.turns[props.model.count()];
  return (
    <>
      <Show when={previewedTurn(props.model)}>
        {(turn) => (
          <div class="preview-bar small" role="region" aria-label="Preview">
            <span class="grow cut"><strong>Previewing</strong> turn <span class="number">{props.model.count()}</span> · {visible(last()?.prompt ?? "")}</span>
            <span class="preview-buttons">
              <Show when={props.link}><button class="button" onClick={() => go({ screen: "conversation", id: props.model.id, view: "turns", turn: turn() })}>Show turns</button></Show>
              <button class="button" onClick={() => void switchHead(props.model, { id: turn() })} title="The next turn goes on from here">Switch</button>
              <button class="button" onClick={() => void props.model.preview(null)}>Back to head</button>
            </span>
          </div>
        )}
      </Show>
      <ChangeNote model={props.model} />
    </>
  );
}

/** What came of the last change, with the way back. */
export function ChangeNote(props: { model: ConversationModel }): JSX.Element {
  const [busy, setBusy] = createSignal(false);
  const undo = async (how: () => Promise<unknown>) => {
    setBusy(true);
    await attempt(props.model, async () => {
      await how();
      return { text: "Taken back." };
    });
    setBusy(false);
  };
  return (
    <div role="status" class="change-status">
      <Show when={said(props.model)}>
        {(what) => (
          <div class="change-note small" data-bad={what().bad}>
            <div class="grow">
              {visible(what().text)}
              <Show when={what().hint}>{(hint) => <span class="quiet"> {visible(hint())}</span>}</Show>
            </div>
            <Show when={what().undo}>{(how) => <button class="button" disabled={busy()} onClick={() => void undo(how())}>Undo</button>}</Show>
            <button class="icon-button" aria-label="Dismiss" onClick={() => say(props.model, null)}><Icon name="close" size={16} /></button>
          </div>
        )}
      </Show>
    </div>
  );
}
