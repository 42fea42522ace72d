// Loading, failing and empty: designed once, for every screen.

import { createSignal, onCleanup, Show, type JSX } from "solid-js";
import { Problem } from "../api/client";

/** What comes soon; shown only if it does not come at once. */
export function Loading(props: { lines?: number; label?: string }): JSX.Element {
  const [late, setLate] = createSignal(false);
  const timer = setTimeout(() => setLate(true), 150);
  onCleanup(() => clearTimeout(timer));
  return (
    <Show when={late()}>
      <div class="stack loading" role="status" aria-label={props.label ?? "Loading"}>
        {Array.from({ length: props.lines ?? 3 }, () => <div class="skeleton loading-line" />)}
      </div>
    </Show>
  );
}

/** What went wrong, why, and what to do. */
export function Failure(props: { error: unknown; again?: () => void; label?: string }): JSX.Element {
  const problem = () => Problem.of(props.error);
  return (
    <div class="notice bad" role="alert">
      <div class="grow">
        <div>{props.label ? `${props.label}: ` : ""}{problem().detail}</div>
        <Show when={problem().hint}>{(hint) => <div class="hint">{hint()}</div>}</Show>
      </div>
      <Show when={props.again}>
        {(again) => <button class="button" onClick={() => again()()}>Try again</button>}
      </Show>
    </div>
  );
}

export function Empty(props: { title: string; children?: JSX.Element }): JSX.Element {
  return (
    <div class="empty">
      <h2>{props.title}</h2>
      {props.children}
    </div>
  );
}
