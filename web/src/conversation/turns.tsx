// The turns of a path, of which only those near the eye are drawn; the reader's place holds whatever loads.

import { createEffect, createMemo, createSignal, on, onCleanup, Show, type JSX } from "solid-js";
import { Virtualizer, type VirtualizerHandle } from "virtua/solid";
import { Icon } from "../ui/icon";
import type { ConversationModel } from "./model";
import { watchReading, type Reading } from "./reading";
import { isOver, type Turn } from "./turn";
import { TurnCard } from "./turn_card";
import "./turns.css";

/** So many turns at the end stay drawn while they are read along: a list that rolls down drops what lies above. */
const KEPT = 6;

export function Turns(props: { model: ConversationModel; current: string | undefined; onInspect: (turn: Turn) => void; onRetry: (turn: Turn) => void }): JSX.Element {
  let scroller!: HTMLDivElement;
  let handle: VirtualizerHandle | undefined;
  const [reading, setReading] = createSignal<Reading>();
  const follows = () => reading()?.follows() ?? props.current === undefined;
  const [announced, setAnnounced] = createSignal("");
  const numbers = createMemo(() => Array.from({ length: props.model.count() }, (_, at) => at + 1));

  const look = () => {
    if (!handle) return;
    const first = handle.findItemIndex(handle.scrollOffset);
    const last = handle.findItemIndex(handle.scrollOffset + handle.viewportSize);
    // A little more than what is seen, so that who scrolls does not see it come.
    props.model.need(first + 1 - 20, last + 1 + 20);
  };
  const scrolled = () => {
    look();
    reading()?.scrolled();
  };
  const kept = createMemo(() => {
    if (!follows()) return undefined;
    const count = props.model.count();
    const first = Math.max(0, count - KEPT);
    return Array.from({ length: count - first }, (_, at) => first + at);
  });

  // Turns that take the places kept for them are of another height. The list holds what is first in sight, which may be
  // such a place; who reads holds on to the first turn that is there.
  let read: { turn: Element; top: number } | undefined;
  const remember = () => {
    if (read || follows()) return;
    const begin = scroller.getBoundingClientRect().top;
    const turn = [...scroller.querySelectorAll(".turn")].find((turn) => turn.getBoundingClientRect().bottom > begin);
    if (!turn) return;
    read = { turn, top: turn.getBoundingClientRect().top };
    // In the next frame they are measured and moved.
    requestAnimationFrame(() => requestAnimationFrame(() => (read = undefined)));
  };
  const moved = new MutationObserver(() => {
    if (!read?.turn.isConnected) return;
    const distance = read.turn.getBoundingClientRect().top - read.top;
    if (Math.abs(distance) > 1) scroller.scrollTop += distance;
  });
  onCleanup(() => moved.disconnect());

  createEffect(on(() => props.model.count(), () => queueMicrotask(() => {
    reading()?.hold();
    look();
  })));
  createEffect(on(() => [props.current, props.model.state().state] as const, ([turn, state]) => {
    if (turn === undefined || state !== "ready") return;
    const number = props.model.numberOf(turn);
    if (number !== undefined) {
      reading()?.follow(false);
      queueMicrotask(() => handle?.scrollToIndex(number - 1, { align: "start" }));
    }
  }));

  // Only finished turns are announced: nobody can listen to text while it is written.
  const lastTurn = () => props.model.turns[props.model.count()];
  createEffect(on(() => [lastTurn()?.id, lastTurn()?.status] as const, ([id, status], before) => {
    const turn = lastTurn();
    if (!turn || !before || before[0] !== id || status === before[1] || !isOver(turn)) return;
    const text = turn.items.filter((item) => item.kind === "text").at(-1);
    setAnnounced(`${turn.agent ?? "The agent"} ${turn.status}. ${text && "text" in text ? text.text.slice(0, 300) : ""}`);
  }));

  return (
    <div class="turns-frame">
      <div class="turns" role="log" aria-label="Turns" aria-live="off" tabindex="0" ref={(element) => { scroller = element; setReading(watchReading(element, props.current === undefined)); }} onScroll={scrolled}>
        <div class="turns-inner" ref={(element) => { moved.observe(element, { subtree: true, attributes: true, attributeFilter: ["style"] }); }}>
          <Virtualizer ref={(given) => { handle = given; if (given) queueMicrotask(look); }} data={numbers()} scrollRef={scroller} bufferSize={800} keepMounted={kept()} onResize={() => reading()?.hold()}>
            {(number) => (
              <Show when={props.model.turns[number]} fallback={<TurnPlace onTaken={remember} />}>
                {(turn) => <TurnCard model={props.model} turn={turn()} current={props.current === turn().id} onInspect={() => props.onInspect(turn())} onRetry={() => props.onRetry(turn())} />}
              </Show>
            )}
          </Virtualizer>
        </div>
      </div>
      <div class="sr-only" role="status">{announced()}</div>
      <Show when={!follows() && props.model.count() > 0}>
        <button class="button to-end" onClick={() => { reading()?.follow(true); reading()?.hold(); }}><Icon name="down" size={16} />Newest</button>
      </Show>
    </div>
  );
}

/** The place of a turn that is not here yet. */
function TurnPlace(props: { onTaken: () => void }): JSX.Element {
  onCleanup(() => props.onTaken());
  return <div class="turn-skeleton" aria-hidden="true"><div class="skeleton" /><div class="skeleton" /></div>;
}
