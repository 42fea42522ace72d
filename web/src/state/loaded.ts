// Something that is read from the daemon for a screen: what came, what went wrong, and reading it again.

import { createEffect, createSignal, on, onCleanup, untrack, type Accessor } from "solid-js";

export interface Loaded<T> {
  /** What came last; stays while it is read again. */
  value: Accessor<T | undefined>;
  /** Why nothing came, the last time it was tried. */
  error: Accessor<unknown>;
  again: () => void;
}

/** Reads whenever the key changes; not while it is undefined. */
export function createLoaded<K, T>(key: Accessor<K | undefined>, read: (key: K, signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [value, setValue] = createSignal<T | undefined>();
  const [error, setError] = createSignal<unknown>();
  let running: AbortController | null = null;
  const run = async (wanted: K | undefined) => {
    running?.abort();
    running = null;
    if (wanted === undefined) return;
    const abort = new AbortController();
    running = abort;
    try {
      const came = await read(wanted, abort.signal);
      if (abort.signal.aborted) return;
      setError(undefined);
      setValue(() => came);
    } catch (problem) {
      if (!abort.signal.aborted) setError(problem);
    }
  };
  createEffect(
    on(key, (wanted) => {
      setValue(undefined);
      setError(undefined);
      void run(wanted);
    }),
  );
  onCleanup(() => running?.abort());
  return { value, error, again: () => void run(untrack(key)) };
}

/** Calls at most once in a while, and never misses the last one. */
export function debounced(call: () => void, pause: number): { (): void; cancel(): void } {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const soon = () => {
    timer ??= setTimeout(() => {
      timer = undefined;
      call();
    }, pause);
  };
  return Object.assign(soon, {
    cancel: () => {
      clearTimeout(timer);
      timer = undefined;
    },
  });
}
