// An edited turn says so, and shows both wordings.

import { createSignal, Show, type JSX } from "solid-js";
import { visible } from "../ui/visible";
import { Icon } from "../ui/icon";
import { count } from "../ui/words";
import type { Turn } from "./turn";
import "./wordings.css";

export function Wordings(props: { turn: Turn }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  const times = () => (props.turn.revision > 1 ? ` ${count(props.turn.revision, "time")}` : "");
  return (
    <Show when={props.turn.revision > 0}>
      <div class="wordings">
        <Show when={props.turn.original !== null} fallback={<span class="tag"><Icon name="edit" size={12} />edited{times()}</span>}>
          <button type="button" class="wordings-button" aria-expanded={open()} onClick={() => setOpen(!open())}>
            <Icon name="edit" size={12} />edited{times()} · {open() ? "hide" : "show"} the first wording
          </button>
          <Show when={open()}>
            <dl class="wordings-both small">
              <dt>First</dt>
              <dd class="wordings-first">{visible(props.turn.original ?? "")}</dd>
              <dt>Now</dt>
              <dd>{visible(props.turn.prompt)}</dd>
            </dl>
          </Show>
        </Show>
      </div>
    </Show>
  );
}
