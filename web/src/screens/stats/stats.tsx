// Stats: what resuming saved, what turns cost, and how long they took.

import { createMemo, createSignal, createUniqueId, For, onCleanup, Show, type JSX } from "solid-js";
import { get } from "../../api/client";
import type { Project } from "../../api/types";
import { onChange } from "../../live/live";
import { go, route } from "../../router";
import { createLoaded, debounced } from "../../state/loaded";
import { Link } from "../../ui/link";
import { Empty, Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { baseName, bytes, cost, count, tokens } from "../../ui/words";
import { readCounts, replayOf, type Counted, type Counts, type Period } from "./counts";
import { Bytes, Cost, Decisions, duration, Time, Tokens } from "./panels";
import "./stats.css";

const PERIODS: { period: Period; name: string }[] = [
  { period: "7", name: "7 days" },
  { period: "30", name: "30 days" },
  { period: "90", name: "90 days" },
  { period: "365", name: "a year" },
  { period: "all", name: "all time" },
];

/** Counting reads every journal that changed: not with each record. */
const PAUSE = 2000;

export function Stats(): JSX.Element {
  const [period, setPeriod] = createSignal<Period>("30");
  const project = () => {
    const here = route();
    return here.screen === "stats" ? here.project : undefined;
  };
  const key = createMemo(() => ({ period: period(), project: project() }));
  const loaded = createLoaded(key, (wanted, signal) => readCounts(wanted.period, wanted.project, signal));
  // What was counted before stays until the rest is there: nothing jumps.
  const counted = createMemo<Counted | undefined>((before) => loaded.value() ?? before);
  const soon = debounced(loaded.again, PAUSE);
  onCleanup(onChange((event) => event.type !== "hello" && soon()));
  onCleanup(soon.cancel);
  return (
    <section class="screen" aria-labelledby="stats-title">
      <div class="inner stats" aria-busy={loaded.value() === undefined && !loaded.error()}>
        <header class="row stats-head">
          <h1 class="grow" id="stats-title">Stats</h1>
          <ProjectChoice project={project()} />
          <PeriodChoice period={period()} change={setPeriod} />
        </header>
        <Show when={loaded.error()}>{(error) => <Failure error={error()} again={loaded.again} label="Turns cannot be counted" />}</Show>
        <Show when={counted()} fallback={<Show when={!loaded.error()}><Loading lines={6} label="Counting" /></Show>}>
          {(shown) => (
            <Show when={shown().all.turns > 0} fallback={<NoTurns />}>
              <Sums all={shown().all} />
              <Bytes counted={shown()} />
              <Decisions counted={shown()} />
              <Tokens counted={shown()} />
              <Cost counted={shown()} />
              <Time counted={shown()} />
              <p class="small quiet">Days are those of UTC.</p>
            </Show>
          )}
        </Show>
      </div>
    </section>
  );
}

function NoTurns(): JSX.Element {
  return (
    <Empty title="No turns to count">
      <p>None in this time, here.</p>
      <Link to={{ screen: "new" }} class="button">New conversation</Link>
    </Empty>
  );
}

function ProjectChoice(props: { project?: string }): JSX.Element {
  const projects = createLoaded(() => "projects", async (_, signal) => (await get<{ projects: Project[] }>("/projects", { limit: 100 }, signal)).projects.map(({ path }) => path));
  // One from the address may be an old one.
  const known = () => [...new Set([...(projects.value() ?? []), ...(props.project ? [props.project] : [])])];
  return (
    <select class="input stats-project" aria-label="Project" onChange={(event) => go({ screen: "stats", project: event.currentTarget.value || undefined })}>
      <option value="" selected={props.project === undefined}>All projects</option>
      <For each={known()}>{(path) => <option value={path} selected={path === props.project} title={visible(path)}>{visible(baseName(path))}</option>}</For>
    </select>
  );
}

function PeriodChoice(props: { period: Period; change: (period: Period) => void }): JSX.Element {
  const name = createUniqueId();
  return (
    <fieldset class="stats-period">
      <legend class="sr-only">Period</legend>
      <For each={PERIODS}>
        {(one) => (
          <label>
            <input type="radio" class="sr-only" name={name} checked={props.period === one.period} onChange={() => props.change(one.period)} />
            <span>{one.name}</span>
          </label>
        )}
      </For>
    </fieldset>
  );
}

function Sums(props: { all: Counts }): JSX.Element {
  const share = (part: number, whole: number) => `${whole === 0 ? 0 : Math.round((part / whole) * 100)} %`;
  const ended = () => [props.all.failed > 0 ? `${props.all.failed} failed` : "", props.all.cut > 0 ? `${props.all.cut} cut short` : ""].filter(Boolean).join(", ");
  const usage = () => props.all.usage;
  const sums = () => [
    { name: "Turns", value: props.all.turns.toLocaleString("en"), more: ended() || `in ${count(props.all.conversations, "conversation")}` },
    { name: "Resumed", value: share(props.all.resumed, props.all.turns), more: count(props.all.resumed, "turn") },
    { name: "Sent", value: bytes(props.all.bytes_sent), more: `instead of ${bytes(replayOf(props.all))}` },
    { name: "Saved", value: bytes(props.all.bytes_saved), more: share(props.all.bytes_saved, replayOf(props.all)) },
    { name: "Tokens", value: tokens(usage().input + usage().cached + usage().output), more: `${share(usage().cached, usage().input + usage().cached)} of input cached` },
    { name: "Cost", value: props.all.cost > 0 ? cost(props.all.cost) : "–", more: props.all.cost > 0 ? `${cost(props.all.cost / Math.max(1, props.all.turns))} a turn` : "not told" },
    { name: "Time", value: duration(props.all.milliseconds), more: `${duration(props.all.milliseconds / Math.max(1, props.all.turns))} a turn` },
  ];
  return (
    <dl class="stats-sums" aria-label="Sums">
      <For each={sums()}>
        {(sum) => (
          <div class="stats-sum">
            <dt class="small quiet">{sum.name}</dt>
            <dd class="stats-value number">{sum.value}</dd>
            <dd class="small quiet number">{sum.more}</dd>
          </div>
        )}
      </For>
    </dl>
  );
}
