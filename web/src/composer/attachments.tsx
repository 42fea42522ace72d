// Files that go along: chosen, dropped or pasted; sent to the daemon at once, named in the request.

import { createSignal, For, Show, type JSX } from "solid-js";
import { ask, Problem } from "../api/client";
import { Icon } from "../ui/icon";
import { visible } from "../ui/visible";
import { bytes } from "../ui/words";

export interface Attached {
  local: number;
  name: string;
  size: number;
  id?: string;
  problem?: Problem;
  file: File;
}

export class Attachments {
  private next = 0;
  readonly all: () => Attached[];
  private readonly set: (change: (all: Attached[]) => Attached[]) => void;

  constructor() {
    [this.all, this.set] = createSignal<Attached[]>([]);
  }

  ready(): boolean {
    return this.all().every((one) => one.id !== undefined);
  }

  ids(): string[] {
    return this.all().flatMap((one) => (one.id === undefined ? [] : [one.id]));
  }

  add(files: Iterable<File>): void {
    for (const file of files) {
      const one: Attached = { local: this.next++, name: file.name || "pasted.png", size: file.size, file };
      this.set((all) => [...all, one]);
      void this.upload(one);
    }
  }

  async upload(one: Attached): Promise<void> {
    this.change(one.local, { problem: undefined });
    try {
      const type = one.file.type || "application/octet-stream";
      const { value } = await ask<{ id: string }>("/uploads", { method: "POST", bytes: one.file, type, query: { name: one.name } });
      this.change(one.local, { id: value.id });
    } catch (error) {
      this.change(one.local, { problem: Problem.of(error) });
    }
  }

  remove(local: number): void {
    this.set((all) => all.filter((one) => one.local !== local));
  }

  clear(): void {
    this.set(() => []);
  }

  private change(local: number, fields: Partial<Attached>): void {
    this.set((all) => all.map((one) => (one.local === local ? { ...one, ...fields } : one)));
  }
}

export function AttachedFiles(props: { attachments: Attachments }): JSX.Element {
  return (
    <Show when={props.attachments.all().length > 0}>
      <ul class="chips" aria-label="Attachments">
        <For each={props.attachments.all()}>
          {(one) => (
            <li class="chip" data-bad={one.problem !== undefined}>
              <Show when={one.id === undefined && !one.problem} fallback={<Icon name="attach" size={14} />}><span class="spinner" aria-hidden="true" /></Show>
              <span class="cut">{visible(one.name)}</span>
              <span class="quiet number">{bytes(one.size)}</span>
              <Show when={one.problem}>{(problem) => <><span class="chip-problem">{problem().detail}</span><button class="button plain" onClick={() => void props.attachments.upload(one)}>Try again</button></>}</Show>
              <button class="icon-button" aria-label={`Remove ${one.name}`} onClick={() => props.attachments.remove(one.local)}><Icon name="close" size={14} /></button>
            </li>
          )}
        </For>
      </ul>
    </Show>
  );
}
