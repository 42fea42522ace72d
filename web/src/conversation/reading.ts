// Whether the reader reads along at the end of something that grows: only an own act ends that.

import { createSignal, onCleanup, type Accessor } from "solid-js";

/** So near to the end counts as reading along. */
const NEAR = 48;
/** So long, in milliseconds, an act may take to move what is seen, on a busy machine too. */
const ACTS = 1000;
/** So long, in milliseconds, what is unfolded may take to be there. */
const UNFOLDS = 500;
const UPWARD = new Set(["ArrowUp", "PageUp", "Home", "Tab", " "]);

export interface Reading {
  /** Whether the end is held in sight. */
  follows: Accessor<boolean>;
  follow: (follows: boolean) => void;
  /** Goes to the end if that is held. Whoever learns of a growth or another height calls this. */
  hold: () => void;
  /** Something was scrolled: by the reader, by who holds the end, or by who corrects places above. */
  scrolled: () => void;
}

/** Watches what the reader does to `scroller`; call it when that is there. */
export function watchReading(scroller: HTMLElement, atEnd: boolean): Reading {
  const [follows, follow] = createSignal(atEnd);
  let acted = -ACTS;
  let held = false;
  let barred = false;
  let unfolded = -UNFOLDS;
  let touched = 0;
  let top = 0;
  const act = () => (acted = performance.now());

  const hold = () => {
    if (!follows()) return;
    scroller.scrollTop = scroller.scrollHeight;
    top = scroller.scrollTop;
  };
  const scrolled = () => {
    const before = top;
    top = scroller.scrollTop;
    const left = scroller.scrollHeight - top - scroller.clientHeight;
    const now = performance.now();
    if (top < before && left > 1 && (held || now - acted < ACTS)) follow(false);
    else if (follows()) {
      // Heights above were corrected, or what was measured came late: no reason to leave the end.
      if (left > 1) hold();
    } else if (top >= before && left < NEAR && now - unfolded > UNFOLDS) follow(true);
  };

  const listen = <Name extends keyof HTMLElementEventMap>(name: Name, does: (event: HTMLElementEventMap[Name]) => void) => scroller.addEventListener(name, does, { passive: true });
  listen("wheel", (event) => event.deltaY < 0 && act());
  listen("keydown", (event) => UPWARD.has(event.key) && act());
  listen("touchstart", (event) => (touched = event.touches[0]?.clientY ?? 0));
  listen("touchmove", (event) => {
    const now = event.touches[0]?.clientY ?? 0;
    if (now > touched) act();
    touched = now;
  });
  // The scroll bar, text that is marked beyond the edge, the wheel that is pressed.
  listen("pointerdown", (event) => {
    held = event.pointerType !== "touch";
    barred = event.target === scroller;
  });
  const released = () => {
    // A click into the bar rolls on a little.
    if (held && barred) act();
    held = false;
  };
  // Who unfolds something wants to see that, and not the end, which it pushes away.
  listen("click", (event) => {
    if (!(event.target as Element).closest("summary")) return;
    unfolded = performance.now();
    follow(false);
  });
  // Behind another tab nothing is laid out, and nothing is told of what grew there.
  const seenAgain = () => document.hidden || requestAnimationFrame(hold);
  document.addEventListener("visibilitychange", seenAgain);
  for (const name of ["pointerup", "pointercancel"] as const) addEventListener(name, released);
  onCleanup(() => {
    document.removeEventListener("visibilitychange", seenAgain);
    for (const name of ["pointerup", "pointercancel"] as const) removeEventListener(name, released);
  });
  return { follows, follow, hold, scrolled };
}
