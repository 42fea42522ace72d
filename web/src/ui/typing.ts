// Whether somebody types just now: keys go before what can wait.

/** So long after a key the next one may come, in milliseconds. */
const PAUSE = 1000;

let last = -PAUSE;
addEventListener("keydown", () => (last = performance.now()), { capture: true, passive: true });

export function isTyping(): boolean {
  return performance.now() - last < PAUSE;
}
