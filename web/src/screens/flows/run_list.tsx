// Runs of flows, newest first, kept up to date while somebody looks.

import { createEffect, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import { createStore, reconcile } from "solid-js/store";
import { get } from "../../api/client";
import { now } from "../../ui/clock";
import { Link } from "../../ui/link";
import { Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { age, baseName, count, short, when } from "../../ui/words";
import type { RunOverview } from "./types";
import { StandingTag } from "./words";

const PAGE = 20;
/** Flows have no stream of their own over all runs: the list is read anew, oftener while one runs. */
const WHILE_RUNNING = 2_000;
const OTHERWISE = 10_000;

interface RunsPage {
  runs: RunOverview[];
  cursor?: string;
}

export function RunList(props: { project?: string }): JSX.Element {
  const [state, setState] = createStore<{ runs: RunOverview[]; cursor?: string; loaded: boolean }>({ runs: [], loaded: false });
  const [error, setError] = createSignal<unknown>();
  const [reading, setReading] = createSignal(false);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let abort = new AbortController();

  const take = (runs: RunOverview[], cursor: string | undefined) => {
    setState("runs", reconcile(runs, { key: "id" }));
    setState("cursor", cursor);
    setState("loaded", true);
    setError(undefined);
  };
  /** The first page anew; what was read behind it stays. */
  const refresh = async () => {
    clearTimeout(timer);
    const { signal } = abort;
    if (!document.hidden || !state.loaded) {
      try {
        const page = await get<RunsPage>("/flows/runs", { project: props.project, limit: PAGE }, signal);
        const fresh = new Set(page.runs.map((run) => run.id));
        const further = state.runs.length > PAGE ? state.runs.filter((run) => !fresh.has(run.id)) : [];
        take([...page.runs, ...further], further.length > 0 ? state.cursor : page.cursor);
      } catch (problem) {
        if (signal.aborted) return;
        setError(problem);
      }
    }
    if (signal.aborted) return;
    timer = setTimeout(() => void refresh(), state.runs.some((run) => run.standing === "running") ? WHILE_RUNNING : OTHERWISE);
  };
  const more = async () => {
    if (reading()) return;
    const { signal } = abort;
    setReading(true);
    try {
      const page = await get<RunsPage>("/flows/runs", { project: props.project, limit: PAGE, cursor: state.cursor }, signal);
      const known = new Set(state.runs.map((run) => run.id));
      take([...state.runs, ...page.runs.filter((run) => !known.has(run.id))], page.cursor);
    } catch (problem) {
      if (!signal.aborted) setError(problem);
    } finally {
      setReading(false);
    }
  };
  const stop = () => {
    clearTimeout(timer);
    abort.abort();
  };
  createEffect(
    on(() => props.project, () => {
      stop();
      abort = new AbortController();
      setState({ runs: [], cursor: undefined, loaded: false });
      void refresh();
    }),
  );
  onCleanup(stop);

  return (
    <section class="stack flow-section" aria-labelledby="flow-runs-title">
      <h2 id="flow-runs-title">Runs</h2>
      <Show when={error()}>{(problem) => <Failure error={problem()} again={() => void refresh()} label="The runs cannot be read" />}</Show>
      <Show when={state.loaded} fallback={<Show when={!error()}><Loading lines={3} label="Loading the runs" /></Show>}>
        <Show when={state.runs.length > 0} fallback={<p class="quiet">None yet. Those that are begun in a terminal appear here, too.</p>}>
          <ul class="flow-rows" aria-label="Flow runs"><For each={state.runs}>{(run) => <RunRow run={run} />}</For></ul>
        </Show>
        <Show when={state.cursor}><div><button class="button" aria-disabled={reading()} onClick={() => void more()}>Older runs</button></div></Show>
      </Show>
    </section>
  );
}

function RunRow(props: { run: RunOverview }): JSX.Element {
  const name = () => visible(props.run.flow) || "(unknown)";
  return (
    <li class="flow-row flow-run-row">
      <StandingTag standing={props.run.standing} />
      <Link to={{ screen: "flows", run: props.run.id }} class="flow-name cut" label={`${name()}, run ${short(props.run.id)}`}>{name()}</Link>
      <span class="small quiet mono number flow-run-id">{short(props.run.id)}</span>
      <span class="small quiet number flow-run-steps">{count(props.run.done, "step")} done</span>
      <span class="small quiet cut flow-run-project" title={visible(props.run.dir)}>{visible(baseName(props.run.dir))}</span>
      <time class="small quiet number flow-run-age" datetime={props.run.time} title={when(props.run.time)}>{props.run.time ? age(Date.parse(props.run.time), now()) : ""}</time>
    </li>
  );
}
