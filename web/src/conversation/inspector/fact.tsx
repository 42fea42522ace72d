// A line of a list of facts: its name, and what it is.

import { Show, type JSX } from "solid-js";

export function Fact(props: { name: string; children: JSX.Element; number?: boolean; code?: boolean }): JSX.Element {
  return (
    <div class="fact">
      <dt>{props.name}</dt>
      <dd classList={{ number: props.number }}><Show when={props.code} fallback={props.children}><code>{props.children}</code></Show></dd>
    </div>
  );
}
