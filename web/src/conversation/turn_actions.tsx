// What can be done with a turn, in its header: a toolbar, on phones a menu.

import { createSignal, For, Show, type JSX } from "solid-js";
import { Icon } from "../ui/icon";
import { Menu, type MenuItem } from "../ui/menu";
import { BranchDialog } from "./branch_dialog";
import type { ConversationModel } from "./model";
import { isOver, type Turn } from "./turn";
import { answerOf, copyAnswer, copyLink, retryTurn, rewindTo } from "./turn_acts";
import "./turn_actions.css";

export function TurnActions(props: { model: ConversationModel; turn: Turn; onEdit: () => void }): JSX.Element {
  const [names, setNames] = createSignal(false);
  const [at, setAt] = createSignal(0);
  let bar!: HTMLElement;
  const runs = () => (isOver(props.turn) ? null : "it runs");
  const items = (): MenuItem[] => [
    { name: "Edit the prompt", icon: "edit", act: () => props.onEdit(), not: runs() },
    { name: "Retry", icon: "retry", act: () => void retryTurn(props.model, props.turn), not: runs() },
    { name: "Branch from here", icon: "branch", act: () => setNames(true), not: runs() },
    { name: "Rewind to here", icon: "rewind", act: () => void rewindTo(props.model, props.turn), not: runs() ?? (props.turn.id === props.model.detail()?.head ? "it is the head" : null) },
    { name: "Copy the answer", icon: "copy", act: () => void copyAnswer(props.model, props.turn), not: answerOf(props.turn) === "" ? "there is none" : null },
    { name: "Link to this turn", icon: "link", act: () => void copyLink(props.model, props.turn) },
  ];
  const key = (event: KeyboardEvent) => {
    const last = items().length - 1;
    const to = { ArrowRight: Math.min(last, at() + 1), ArrowLeft: Math.max(0, at() - 1), Home: 0, End: last }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    setAt(to);
    bar.querySelectorAll<HTMLElement>("button")[to]?.focus();
  };
  return (
    <div class="turn-actions">
      <div class="turn-toolbar" role="toolbar" aria-label={`Turn ${props.turn.number}`} ref={(element) => (bar = element)} onKeyDown={key}>
        <For each={[0, 1, 2, 3, 4, 5]}>
          {(index) => {
            const item = () => items()[index] as MenuItem;
            return (
              <button type="button" class="icon-button" aria-label={item().name} title={item().not ? `${item().name}: ${item().not}` : item().name} aria-disabled={item().not ? "true" : undefined} tabindex={at() === index ? 0 : -1} onFocus={() => setAt(index)} onClick={() => { if (!item().not) item().act(); }}>
                <Icon name={item().icon} size={15} />
              </button>
            );
          }}
        </For>
      </div>
      <div class="turn-menu"><Menu label={`Actions of turn ${props.turn.number}`} items={items()} /></div>
      <Show when={names()}><BranchDialog model={props.model} turn={props.turn} number={props.turn.number} onClose={() => setNames(false)} /></Show>
    </div>
  );
}
