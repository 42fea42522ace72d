// Prompts that wait: edited, moved, deleted, paused.

import { createEffect, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import { ask, get, Problem } from "../api/client";
import type { Queue, QueueChange, Run } from "../api/types";
import { AgentBadge } from "../ui/agent";
import { Icon } from "../ui/icon";
import { Failure } from "../ui/states";
import { visible } from "../ui/visible";

/** While something waits, others may change it, too; nothing tells that. */
const LOOK_AGAIN = 2500;

export function QueueChips(props: { conversation: string; version: unknown; onWaiting: (runs: Run[]) => void }): JSX.Element {
  const [queue, setQueue] = createSignal<Queue | null>(null);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [editing, setEditing] = createSignal<{ run: string; text: string } | null>(null);
  const path = () => `/conversations/${props.conversation}/queue`;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async () => {
    clearTimeout(timer);
    try {
      take(await get<Queue>(path()));
    } catch {
      // Looked at again with the next change.
    }
  };
  const take = (now: Queue) => {
    setQueue(now);
    props.onWaiting(now.runs);
    clearTimeout(timer);
    if (now.runs.length > 0) timer = setTimeout(() => void look(), LOOK_AGAIN);
  };
  createEffect(on(() => [props.conversation, props.version], () => void look()));
  onCleanup(() => clearTimeout(timer));
  const change = async (what: QueueChange) => {
    try {
      take((await ask<Queue>(path(), { method: "PATCH", body: what })).value);
      setProblem(null);
    } catch (error) {
      setProblem(Problem.of(error));
      void look();
    }
  };
  const move = (runs: Run[], at: number, by: number) => {
    const order = runs.map((run) => run.run);
    const [one] = order.splice(at, 1);
    if (one !== undefined) order.splice(at + by, 0, one);
    void change({ order });
  };
  return (
    <Show when={queue() && ((queue()?.runs.length ?? 0) > 0 || queue()?.paused) && queue()}>
      {(now) => (
        <section class="queue" aria-label="Queue">
          <div class="row small">
            <span class="quiet">{now().paused ? `Paused${now().why ? `: ${visible(now().why ?? "")}` : ""}` : "Waiting"}</span>
            <span class="grow" />
            <button class="button plain" onClick={() => void change({ pause: !now().paused })}>
              <Icon name={now().paused ? "play" : "pause"} size={14} />{now().paused ? "Go on" : "Pause"}
            </button>
          </div>
          <Show when={problem()}>{(why) => <Failure error={why()} />}</Show>
          <ol class="chips">
            <For each={now().runs}>
              {(run, at) => (
                <li class="chip queue-chip">
                  <Show when={run.agent}>{(agent) => <AgentBadge agent={agent()} />}</Show>
                  <Show
                    when={editing()?.run === run.run && editing()}
                    fallback={<button class="queue-text cut" title="Edit" onClick={() => setEditing({ run: run.run, text: run.prompt })}>{visible(run.prompt)}</button>}
                  >
                    {(edit) => (
                      <form class="row grow" onSubmit={(event) => { event.preventDefault(); void change({ edit: { run: run.run, prompt: edit().text } }); setEditing(null); }}>
                        <input class="input" aria-label="Queued prompt" value={edit().text} ref={(input) => queueMicrotask(() => input.focus())} onInput={(event) => setEditing({ run: run.run, text: event.currentTarget.value })} onKeyDown={(event) => event.key === "Escape" && setEditing(null)} />
                        <button class="button" type="submit">Save</button>
                      </form>
                    )}
                  </Show>
                  <button class="icon-button" aria-label="Move up" disabled={at() === 0} onClick={() => move(now().runs, at(), -1)}><Icon name="up" size={14} /></button>
                  <button class="icon-button" aria-label="Move down" disabled={at() === now().runs.length - 1} onClick={() => move(now().runs, at(), 1)}><Icon name="down" size={14} /></button>
                  <button class="icon-button" aria-label="Delete from queue" onClick={() => void change({ delete: run.run })}><Icon name="close" size={14} /></button>
                </li>
              )}
            </For>
          </ol>
        </section>
      )}
    </Show>
  );
}
