// The records of a run as they are written, from the first one on.

import { createEffect, createSignal, on, onCleanup, type Accessor } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { Problem, send } from "../../api/client";
import type { ProblemBody } from "../../api/types";
import { SseParser } from "../../live/sse";
import { applyRecord, emptyRun, type RunView } from "./run_state";

const FIRST_PAUSE = 500;
const LONGEST_PAUSE = 10_000;

export interface FollowedRun {
  run: RunView;
  /** Nothing is known of it before its first record. */
  loaded: Accessor<boolean>;
  error: Accessor<unknown>;
  /** Reads from the first record on: after something was done with it, also elsewhere. */
  again: () => void;
}

/** Asking again would bring the same answer. */
function isFinal(problem: Problem): boolean {
  return problem.status >= 400 && problem.status < 500 && problem.status !== 429;
}

function refused(body: ProblemBody): Problem {
  return new Problem(body.status, body.code, body.detail, body.hint);
}

export function followRun(id: Accessor<string>): FollowedRun {
  const [run, setRun] = createStore<RunView>(emptyRun());
  const [loaded, setLoaded] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const [round, setRound] = createSignal(0);

  const follow = async (wanted: string, signal: AbortSignal) => {
    let pause = FIRST_PAUSE;
    const state = emptyRun();
    let last: string | null = null;
    while (!signal.aborted) {
      try {
        const response = await send(`/flows/runs/${wanted}/events`, { signal, headers: last === null ? {} : { "Last-Event-ID": last } });
        if (response.body === null) return;
        setError(undefined);
        pause = FIRST_PAUSE;
        const parser = new SseParser();
        const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          for (const event of parser.push(value)) {
            if (event.type === "ping") continue;
            if (event.type === "error") throw refused(JSON.parse(event.data) as ProblemBody);
            applyRecord(state, event.type, JSON.parse(event.data));
            if (event.id !== null) last = event.id;
          }
          setRun(reconcile(structuredClone(state)));
          if (state.begun || state.damaged) setLoaded(true);
        }
        if (state.standing !== "running") return;
      } catch (problem) {
        if (signal.aborted) return;
        setError(problem);
        if (isFinal(Problem.of(problem))) return;
      }
      await new Promise((resolve) => setTimeout(resolve, pause));
      pause = Math.min(LONGEST_PAUSE, pause * 2);
    }
  };

  createEffect(
    on([id, round], ([wanted], before) => {
      if (before?.[0] !== wanted) {
        setLoaded(false);
        setError(undefined);
      }
      const abort = new AbortController();
      void follow(wanted, abort.signal);
      onCleanup(() => abort.abort());
    }),
  );
  return { run, loaded, error, again: () => setRound((count) => count + 1) };
}
