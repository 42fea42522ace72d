// The turns of a path, of which only those near the eye are drawn; the reader's place holds whatever loads.

import { createEffect, createMemo, createSignal, on, onCleanup, Show, type JSX } from "solid-js";
import { Virtualizer, type VirtualizerHandle } from "virtua/solid";
import { Icon } from "../ui/icon";
import type { ConversationModel } from "./model";
import { isOver, type Turn } from "./turn";
import { TurnCard } from "./turn_card";
import "./turns.css";

/** So near to the end counts as reading along. */
const NEAR = 48;
/** So long, in milliseconds, what is unfolded may take to be there. */
const UNFOLDS = 500;

export function Turns(props: { model: ConversationModel; current: string | undefined; onInspect: (turn: Turn) => void; onRetry: (turn: Turn) => void }): JSX.Element {
  let scroller!: HTMLDivElement;
  let handle: VirtualizerHandle | undefined;
  const [follows, setFollows] = createSignal(props.current === undefined);
  const [announced, setAnnounced] = createSignal("");
  const numbers = createMemo(() => Array.from({ length: props.model.count() }, (_, at) => at + 1));

  const look = () => {
    if (!handle) return;
    const first = handle.findItemIndex(handle.scrollOffset);
    const last = handle.findItemIndex(handle.scrollOffset + handle.viewportSize);
    // A little more than what is seen, so that who scrolls does not see it come.
    props.model.need(first + 1 - 20, last + 1 + 20);
  };
  const toEnd = () => handle?.scrollToIndex(props.model.count() - 1, { align: "end" });
  let unfolded = -UNFOLDS;
  const scrolled = () => {
    look();
    const near = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
    setFollows(near && performance.now() - unfolded > UNFOLDS);
  };
  // Who unfolds something wants to see that, and not the end, which it pushes away.
  const clicked = (event: MouseEvent) => {
    if (!(event.target as Element).closest("summary")) return;
    unfolded = performance.now();
    setFollows(false);
  };

  // Who reads at the end stays there while it grows; who reads elsewhere is left alone.
  let seen = 0;
  const grown = new ResizeObserver(() => {
    const height = scroller.scrollHeight;
    if (height !== seen && follows()) scroller.scrollTop = height;
    seen = height;
  });
  onCleanup(() => grown.disconnect());

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

  createEffect(on(() => props.model.count(), (now, before) => {
    if (now > 0 && (before === undefined || before === 0 || follows())) queueMicrotask(() => (props.current && before === undefined ? undefined : follows() && toEnd()));
    queueMicrotask(look);
  }));
  createEffect(on(() => [props.current, props.model.state().state] as const, ([turn, state]) => {
    if (turn === undefined || state !== "ready") return;
    const number = props.model.numberOf(turn);
    if (number !== undefined) {
      setFollows(false);
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
      <div class="turns" role="log" aria-label="Turns" aria-live="off" tabindex="0" ref={(element) => { scroller = element; grown.observe(element); }} onScroll={scrolled} onClick={clicked}>
        <div class="turns-inner" ref={(element) => { grown.observe(element); moved.observe(element, { subtree: true, attributes: true, attributeFilter: ["style"] }); }}>
          <Virtualizer ref={(given) => { handle = given; if (given) queueMicrotask(look); }} data={numbers()} scrollRef={scroller} bufferSize={800}>
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
        <button class="button to-end" onClick={() => { setFollows(true); toEnd(); }}><Icon name="down" size={16} />Newest</button>
      </Show>
    </div>
  );
}

/** The place of a turn that is not here yet. */
function TurnPlace(props: { onTaken: () => void }): JSX.Element {
  onCleanup(() => props.onTaken());
  return <div class="turn-skeleton" aria-hidden="true"><div class="skeleton" /><div class="skeleton" /></div>;
}
