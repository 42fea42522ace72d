// Where the next turn is written: never disabled, and told beforehand what it will cost to remember.

import { createEffect, createSignal, For, on, Show, type JSX } from "solid-js";
import { post, Problem } from "../api/client";
import type { Run, TakenRun, Wanted } from "../api/types";
import type { ConversationModel } from "../conversation/model";
import { isOver } from "../conversation/turn";
import { Icon } from "../ui/icon";
import { Failure } from "../ui/states";
import { installedAgents } from "./agents";
import { AttachedFiles, Attachments } from "./attachments";
import { keepDraft, loadDraft, newKey, writeDrafts } from "./draft";
import { Forecast, type Before, type Wish } from "./forecast";
import { QueueChips } from "./queue";
import "./composer.css";

const LEVELS = [["", ""], ["read", "Read"], ["edit", "Edit"], ["full", "Full"], ["agent", "Agent's own"]] as const;

/** Whether a box of the style sheet grows with its words. */
const GROWS = CSS.supports("field-sizing", "content");

export interface ComposerProps {
  /** The conversation that goes on; none for a new one. */
  model: ConversationModel | null;
  /** Where a new one begins. */
  project?: string;
  agent?: string;
  onSent?: (run: TakenRun) => void;
}

export function Composer(props: ComposerProps): JSX.Element {
  const place = () => props.model?.id ?? `new ${props.project ?? ""}`;
  const [draft, setDraft] = createSignal(loadDraft(place()));
  const [agent, setAgent] = createSignal("");
  const [model, setModel] = createSignal("");
  const [cwd, setCwd] = createSignal("");
  const [level, setLevel] = createSignal("");
  const [fresh, setFresh] = createSignal(false);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [sending, setSending] = createSignal(false);
  const [sent, setSent] = createSignal(0);
  const [waiting, setWaiting] = createSignal<Run[]>([]);
  // On a phone there is no room for wishes that are seldom changed.
  const [wishes, setWishes] = createSignal(false);
  const attachments = new Attachments();
  let box!: HTMLTextAreaElement;
  let chooser!: HTMLInputElement;

  createEffect(on(place, (now) => setDraft(loadDraft(now)), { defer: true }));
  const last = () => (props.model ? props.model.turns[props.model.count()] : undefined);
  const usual = () => props.agent ?? last()?.agent ?? "";
  const chosen = () => agent() || usual();
  const running = () => {
    const turn = last();
    return turn && !isOver(turn) ? turn : undefined;
  };
  const before = (): Before => {
    const turn = running();
    return { running: turn && { agent: turn.agent, plan: turn.plan }, waiting: waiting().map((run) => run.agent ?? null) };
  };
  const wish = (): Wish => ({ agent: chosen(), model: model(), cwd: cwd(), fresh: fresh() });
  const version = () => [props.model?.count(), last()?.status, props.model?.detail()?.etag, sent()];

  const type = (text: string) => {
    setDraft({ text, key: draft().key });
    keepDraft(place(), draft());
  };
  // Where the style sheet cannot say it; measuring makes every key lay out the whole page.
  const grow = () => {
    if (GROWS) return;
    box.style.height = "auto";
    box.style.height = `${Math.min(box.scrollHeight, window.innerHeight * 0.4)}px`;
  };
  createEffect(on(() => draft().text, () => queueMicrotask(grow)));

  const send = async () => {
    const text = draft().text;
    if (sending() || text.trim() === "" || !attachments.ready()) return;
    setSending(true);
    // Whoever sends it again after a crash has to send it with this key.
    writeDrafts();
    const wanted: Wanted = {
      prompt: text,
      ...(props.model ? { conversation: props.model.id } : { project: props.project }),
      agent: chosen() || undefined,
      model: model() || undefined,
      cwd: cwd() || undefined,
      permissions: level() || undefined,
      forceFreshSession: fresh() || undefined,
      attachments: attachments.ids().length > 0 ? attachments.ids() : undefined,
      interactive: true,
    };
    try {
      const run = await post<TakenRun>("/runs", wanted, { "Idempotency-Key": draft().key });
      // Only now is it safe somewhere else.
      setDraft({ text: "", key: newKey() });
      keepDraft(place(), draft());
      attachments.clear();
      setFresh(false);
      setProblem(null);
      setSent((count) => count + 1);
      props.onSent?.(run);
    } catch (error) {
      const why = Problem.of(error);
      setProblem(why);
      // The same words with other wishes are another request.
      if (why.code === "key_reused") setDraft({ text, key: newKey() });
    } finally {
      setSending(false);
    }
  };
  const stop = async () => {
    const turn = running();
    if (!turn || !props.model) return;
    try {
      await post(`/runs/${turn.id}/cancel`, { conversation: props.model.id });
      setProblem(null);
    } catch (error) {
      setProblem(Problem.of(error));
    }
  };
  const key = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.isComposing || event.shiftKey || event.altKey) return;
    event.preventDefault();
    void send();
  };
  const paste = (event: ClipboardEvent) => {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    attachments.add(files);
  };
  const drop = (event: DragEvent) => {
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length === 0) return;
    event.preventDefault();
    attachments.add(files);
  };
  return (
    <form class="composer" aria-label="Next turn" onSubmit={(event) => { event.preventDefault(); void send(); }} onDrop={drop} onDragOver={(event) => event.preventDefault()}>
      <div class="composer-inner">
        <Show when={props.model}>{(open) => <QueueChips conversation={open().id} version={version()} onWaiting={setWaiting} />}</Show>
        <Show when={problem()}>{(why) => <Failure error={why()} again={() => void send()} label="Not sent" />}</Show>
        <AttachedFiles attachments={attachments} />
        <div class="composer-box">
          <textarea ref={box} aria-label="Prompt" placeholder={running() ? "Queue the next prompt" : "What should be done?"} rows="1" value={draft().text} onInput={(event) => type(event.currentTarget.value)} onKeyDown={key} onPaste={paste} />
          <div class="composer-send">
            <button type="button" class="icon-button" aria-label="Attach files" title="Attach files" onClick={() => chooser.click()}><Icon name="attach" /></button>
            <input ref={chooser} type="file" multiple hidden onChange={(event) => { attachments.add(event.currentTarget.files ?? []); event.currentTarget.value = ""; }} />
            <Show when={running()}><button type="button" class="button danger" onClick={() => void stop()}>Stop</button></Show>
            <button type="submit" class="button primary" aria-disabled={draft().text.trim() === "" || sending()}>{sending() ? "Sending…" : "Send"}</button>
          </div>
        </div>
        <button type="button" class="button plain composer-more" aria-expanded={wishes()} onClick={() => setWishes(!wishes())}>{chosen() || "Agent"} · options<Icon name={wishes() ? "down" : "up"} size={14} /></button>
        <div class="composer-wishes" data-open={wishes()}>
          <label class="wish"><span class="sr-only">Agent</span>
            <select class="input" aria-label="Agent" value={chosen()} onChange={(event) => setAgent(event.currentTarget.value)}>
              <Show when={chosen() === ""}><option value="">Default agent</option></Show>
              <For each={installedAgents()}>{(one) => <option value={one.agent} selected={one.agent === chosen()}>{one.title}</option>}</For>
              <Show when={chosen() !== "" && !installedAgents().some((one) => one.agent === chosen())}><option value={chosen()}>{chosen()}</option></Show>
            </select>
          </label>
          <input class="input wish" role="combobox" aria-expanded="false" aria-label="Model" list="models" placeholder="Default model" value={model()} onInput={(event) => setModel(event.currentTarget.value.trim())} />
          <datalist id="models"><For each={[...new Set(Object.values(props.model?.detail()?.models ?? {}) as string[])]}>{(name) => <option value={name} />}</For></datalist>
          <select class="input wish" aria-label="Permissions" value={level()} onChange={(event) => setLevel(event.currentTarget.value)}>
            <For each={LEVELS}>{([value, words]) => <option value={value}>{value === "" ? (props.model?.detail()?.permissions ?? "Permissions") : words}</option>}</For>
          </select>
          <input class="input wish" aria-label="Directory" placeholder={props.model?.detail()?.dir ?? props.project ?? "Directory"} value={cwd()} onChange={(event) => setCwd(event.currentTarget.value.trim())} />
          <Show when={props.model}>
            <button type="button" class="switch" role="switch" aria-checked={fresh()} onClick={() => setFresh(!fresh())}><span class="switch-track" aria-hidden="true" />Fresh session</button>
          </Show>
        </div>
        <Forecast conversation={props.model?.id ?? null} wish={wish()} before={before()} version={version()} />
      </div>
    </form>
  );
}
