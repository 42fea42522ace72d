// Another wording for a prompt: saved in place, or run in the turn's stead. What that does to resuming is said before.

import { createSignal, onMount, Show, type JSX } from "solid-js";
import { ask, get } from "../api/client";
import type { TurnBody, Why } from "../api/types";
import { DecisionLine } from "../ui/decision";
import { Failure, Loading } from "../ui/states";
import { edit, runInstead, say } from "./changes";
import type { ConversationModel } from "./model";
import { fromBody, type Turn } from "./turn";
import "./edit_prompt.css";

export function EditPrompt(props: { model: ConversationModel; turn: Turn; onClose: () => void }): JSX.Element {
  const [before, setBefore] = createSignal<string | null>(null);
  const [text, setText] = createSignal("");
  const [why, setWhy] = createSignal<Why | null>(null);
  const [busy, setBusy] = createSignal(false);
  const [problem, setProblem] = createSignal<unknown>(null);
  const key = crypto.randomUUID();
  let area: HTMLTextAreaElement | undefined;
  const fit = () => {
    if (!area) return;
    area.style.height = "auto";
    area.style.height = `${Math.min(area.scrollHeight + 2, innerHeight * 0.5)}px`;
  };
  const load = async () => {
    setProblem(null);
    try {
      // In a window of turns long texts are cut: what is edited is all of it.
      const { value } = await ask<TurnBody>(`/conversations/${props.model.id}/turns/${props.turn.id}`);
      const whole = fromBody(value).prompt;
      setBefore(whole);
      setText(whole);
      area?.focus();
      fit();
      if (value.parent) setWhy(await get<Why>(`/conversations/${props.model.id}/why`, { agent: props.turn.agent, checkpoint: value.parent }).catch(() => null));
    } catch (error) {
      setProblem(error);
    }
  };
  onMount(() => void load());
  const same = () => text() === before();
  const empty = () => text().trim() === "";
  const act = async (how: () => Promise<string | null>) => {
    if (busy()) return;
    setBusy(true);
    setProblem(null);
    try {
      const words = await how();
      if (words) say(props.model, { text: words, bad: false });
      props.onClose();
    } catch (error) {
      setProblem(error);
    } finally {
      setBusy(false);
    }
  };
  const save = () => act(async () => {
    const changed = await edit(props.model, props.turn, text());
    return changed ? "The prompt has a new wording. Sessions that know the old one are not resumed: the next turn begins fresh: history changed." : "It says that already: nothing was changed.";
  });
  const run = () => act(async () => {
    const taken = await runInstead(props.model, props.turn, text(), key);
    return taken.status === "queued" ? "It waits in the queue." : null;
  });
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      if (same()) props.onClose();
    } else if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !same() && !empty()) {
      event.preventDefault();
      void save();
    }
  };
  return (
    <form class="edit-prompt" aria-label={`Edit the prompt of turn ${props.turn.number}`} onSubmit={(event) => { event.preventDefault(); void save(); }}>
      <Show when={before() !== null} fallback={<Show when={problem()} fallback={<Loading lines={2} label="Loading the prompt" />}>{(error) => <Failure error={error()} again={() => void load()} />}</Show>}>
        <textarea class="input edit-text" aria-label="New wording" rows="2" ref={(element) => { area = element; queueMicrotask(() => { fit(); element.focus(); }); }} value={text()} onInput={(event) => { setText(event.currentTarget.value); fit(); }} onKeyDown={keys} />
        <dl class="edit-means small">
          <dt>Save wording</dt>
          <dd>Answer and later turns stay. Sessions that know the old words are not resumed: <strong>the next turn begins fresh: history changed</strong>.</dd>
          <dt>Run from here</dt>
          <dd>
            This turn stays; the new words run beside it, on a branch.{" "}
            <Show when={why()} fallback={<strong>It begins fresh: no session stands before the first turn.</strong>}>{(told) => <DecisionLine plan={told().plan} tense="would" />}</Show>
            <Show when={props.turn.attachments.length > 0}> Its files are not sent again.</Show>
          </dd>
        </dl>
        <Show when={problem()}>{(error) => <Failure error={error()} />}</Show>
        <div class="edit-buttons">
          <button type="button" class="button plain" onClick={() => props.onClose()}>Cancel</button>
          <span class="grow" />
          <button type="button" class="button" disabled={empty() || busy()} onClick={() => void run()}>Save and run from here</button>
          <button type="submit" class="button primary" disabled={same() || empty() || busy()}>Save wording</button>
        </div>
      </Show>
    </form>
  );
}
