// A tool call: one line with its state, which unfolds to what went in and came out.

import { createSignal, For, Show, type JSX } from "solid-js";
import { visible } from "../ui/visible";
import { isUnfolded, rememberFold } from "./folds";
import type { CallItem } from "./turn";

const MARKS = { running: "◌", done: "✓", failed: "✗", cancelled: "–" } as const;

/** What a call is about: its command, file or words, whichever of them it names. */
export function target(input: unknown): string {
  if (typeof input === "string") return input;
  if (typeof input !== "object" || input === null) return "";
  const fields = input as Record<string, unknown>;
  for (const name of ["command", "file_path", "filePath", "path", "pattern", "query", "url", "description", "prompt"]) {
    const value = fields[name];
    if (typeof value === "string") return value;
    if (Array.isArray(value)) return value.join(" ");
  }
  const first = Object.values(fields).find((value) => typeof value === "string");
  return typeof first === "string" ? first : "";
}

function pretty(input: unknown): string {
  return typeof input === "string" ? input : JSON.stringify(input, null, 2);
}

/** `turn` names the turn it belongs to: agents give the same id to calls of different turns. */
export function Call(props: { turn: string; call: CallItem }): JSX.Element {
  const fold = () => `${props.turn} ${props.call.id}`;
  const [open, setOpen] = createSignal(isUnfolded(fold()));
  const toggled = (event: Event & { currentTarget: HTMLDetailsElement }) => {
    setOpen(event.currentTarget.open);
    rememberFold(fold(), event.currentTarget.open);
  };
  return (
    <details class="call" data-state={props.call.state} open={open()} onToggle={toggled}>
      <summary>
        <Show when={props.call.state !== "running"} fallback={<span class="spinner" aria-hidden="true" />}>
          <span class="call-mark" aria-hidden="true">{MARKS[props.call.state]}</span>
        </Show>
        <span class="call-name mono">{visible(props.call.name)}</span>
        <span class="call-target mono cut">{visible(target(props.call.input)).replaceAll("\n", " ")}</span>
        <Show when={props.call.inside.length > 0}><span class="tag">{props.call.inside.length} inside</span></Show>
        <span class="sr-only">{props.call.state}</span>
      </summary>
      <Show when={open()}>
        <div class="call-body">
          <div class="label">Input</div>
          <pre tabindex="0">{visible(pretty(props.call.input))}</pre>
          <Show when={props.call.output !== null}>
            <div class="label">Output</div>
            <pre tabindex="0">{visible(props.call.output ?? "")}</pre>
          </Show>
        </div>
      </Show>
      <Show when={props.call.inside.length > 0}>
        <div class="call-inside"><For each={props.call.inside}>{(call) => <Call turn={props.turn} call={call} />}</For></div>
      </Show>
    </details>
  );
}
