import { createSignal, Show, type JSX } from "solid-js";
import { Dialog } from "../ui/dialog";
import type { Place } from "./changes";
import { said } from "./changes";
import type { ConversationModel } from "./model";
import { branchFrom } from "./turn_acts";
import { visible } from "../ui/visible";

/** Asks for the name of a branch, which it need not have. */
export function BranchDialog(props: { model: ConversationModel; turn: Place; number?: number; onClose: () => void }): JSX.Element {
  const [name, setName] = createSignal("");
  const [failed, setFailed] = createSignal(false);
  const go = async (event: SubmitEvent) => {
    event.preventDefault();
    if (await branchFrom(props.model, props.turn, name().trim())) props.onClose();
    else setFailed(true);
  };
  return (
    <Dialog label="Branch from here" onClose={props.onClose}>
      <form class="branch-form" onSubmit={(event) => void go(event)}>
        <h2>Branch from {props.number === undefined ? "here" : `turn ${props.number}`}</h2>
        <p class="small quiet">The next turn goes on behind this one. What comes after it now stays, on its own branch.</p>
        <label class="field">
          <span>Name, if it should have one</span>
          <input class="input" value={name()} maxlength="100" autocomplete="off" onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Show when={failed() && said(props.model)}>
          {(why) => <div class="notice bad small" role="alert"><div>{visible(why().text)}<Show when={why().hint}>{(hint) => <div class="hint">{visible(hint())}</div>}</Show></div></div>}
        </Show>
        <div class="branch-buttons">
          <button type="button" class="button plain" onClick={() => props.onClose()}>Cancel</button>
          <button type="submit" class="button primary">Branch</button>
        </div>
      </form>
    </Dialog>
  );
}
