// What is plotted: bytes, decisions, tokens, cost and time, by day.

import { For, Show, type JSX } from "solid-js";
import { visible } from "../../ui/visible";
import { bytes, cost, count, reason, seconds, tokens } from "../../ui/words";
import { agentColour } from "./colours";
import { freshOf, NOTHING, perTurn, replayOf, type Counted, type Counts, type Day } from "./counts";
import type { Cell } from "./csv";
import { Panel, type Table } from "./panel";
import type { Series } from "./plot";

/** No half turns. */
const TURNS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000];
/** Hundredths of seconds to hundreds of hours. */
const TIMES = [0.01, 0.1, 0.5, 1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 18_000, 36_000, 90_000, 180_000, 360_000].map((seconds) => seconds * 1000);

const whole = (value: number) => value.toLocaleString("en");

function tableOf(counted: Counted, columns: { head: string; value: (day: Day) => number; format: (value: number) => string }[]): Table {
  const rows = counted.days.filter((day) => day.counts.turns > 0).map((day): Cell[] => [day.day, ...columns.map((column) => column.value(day))]);
  return { head: ["day", ...columns.map((column) => column.head)], rows, format: [whole, ...columns.map((column) => column.format)] };
}

function seriesOf(counted: Counted, name: string, colour: string, value: (counts: Counts) => number): Series {
  return { name, colour, values: counted.days.map((day) => value(day.counts)), sum: value(counted.all) };
}

const dayNames = (counted: Counted) => counted.days.map(({ day }) => day);

export function Bytes(props: { counted: Counted }): JSX.Element {
  const all = () => props.counted.all;
  const sent = (counts: Counts) => perTurn(counts.bytes_sent, counts);
  const replay = (counts: Counts) => perTurn(replayOf(counts), counts);
  return (
    <Panel
      title="Bytes per turn"
      about="What was sent, against what a full replay would have sent."
      file="bytes"
      plot={{
        label: `Bytes per turn, by day: ${bytes(sent(all()))} sent on average; a full replay would have sent ${bytes(replay(all()))}`,
        days: dayNames(props.counted),
        series: [seriesOf(props.counted, "Sent", "--accent", sent), seriesOf(props.counted, "Full replay", "--plot-behind", replay)],
        stacked: false,
        format: bytes,
      }}
      table={tableOf(props.counted, [
        { head: "turns", value: (day) => day.counts.turns, format: whole },
        { head: "bytes sent", value: (day) => day.counts.bytes_sent, format: bytes },
        { head: "bytes of full replays", value: (day) => replayOf(day.counts), format: bytes },
        { head: "sent per turn", value: (day) => sent(day.counts), format: bytes },
        { head: "full replay per turn", value: (day) => replay(day.counts), format: bytes },
      ])}
    />
  );
}

export function Decisions(props: { counted: Counted }): JSX.Element {
  const all = () => props.counted.all;
  const reasons = () => Object.entries(all().fresh).sort(([, a], [, b]) => b - a).map(([name]) => name);
  return (
    <Panel
      title="Resumed or fresh"
      about="Turns that went on in the agent's own session, and those that began a new one, by reason."
      file="decisions"
      plot={{
        label: `Turns by day: ${count(all().resumed, "turn")} resumed, ${freshOf(all())} fresh`,
        days: dayNames(props.counted),
        series: [seriesOf(props.counted, "Resumed", "--good", (counts) => counts.resumed), seriesOf(props.counted, "Fresh", "--plot-fresh", freshOf)],
        stacked: true,
        format: whole,
        steps: TURNS,
      }}
      table={tableOf(props.counted, [
        { head: "resumed", value: (day) => day.counts.resumed, format: whole },
        ...reasons().map((name) => ({ head: `fresh: ${reason(name)}`, value: (day: Day) => day.counts.fresh[name] ?? 0, format: whole })),
      ])}
    >
      <Reasons all={all()} reasons={reasons()} />
    </Panel>
  );
}

function Reasons(props: { all: Counts; reasons: string[] }): JSX.Element {
  const rows = () => [{ name: "resumed", many: props.all.resumed, kind: "resumed" }, ...props.reasons.map((name) => ({ name: `fresh: ${reason(name)}`, many: props.all.fresh[name] ?? 0, kind: "fresh" }))];
  const sum = () => Math.max(1, props.all.resumed + freshOf(props.all));
  const most = () => Math.max(1, ...rows().map(({ many }) => many));
  return (
    <table class="stats-reasons">
      <caption class="sr-only">Turns by what was decided</caption>
      <thead class="sr-only"><tr><th scope="col">Decision</th><th scope="col">Turns</th><th scope="col">Share</th></tr></thead>
      <tbody>
        <For each={rows()}>
          {(row) => (
            <tr>
              <th scope="row">
                {visible(row.name)}
                <span class="stats-bar" data-kind={row.kind} style={{ width: `${(row.many / most()) * 100}%` }} />
              </th>
              <td class="number">{whole(row.many)}</td>
              <td class="number quiet">{Math.round((row.many / sum()) * 100)} %</td>
            </tr>
          )}
        </For>
      </tbody>
    </table>
  );
}

export function Tokens(props: { counted: Counted }): JSX.Element {
  const usage = () => props.counted.all.usage;
  return (
    <Panel
      title="Tokens"
      about="As the agents tell them."
      file="tokens"
      plot={{
        label: `Tokens by day: ${tokens(usage().input)} in, ${tokens(usage().cached)} from a cache, ${tokens(usage().output)} out`,
        days: dayNames(props.counted),
        series: [
          seriesOf(props.counted, "Out", "--accent", (counts) => counts.usage.output),
          seriesOf(props.counted, "In", "--plot-second", (counts) => counts.usage.input),
          seriesOf(props.counted, "In, from a cache", "--plot-behind", (counts) => counts.usage.cached),
        ],
        stacked: true,
        format: tokens,
      }}
      table={tableOf(props.counted, [
        { head: "in", value: (day) => day.counts.usage.input, format: whole },
        { head: "in, from a cache", value: (day) => day.counts.usage.cached, format: whole },
        { head: "out", value: (day) => day.counts.usage.output, format: whole },
      ])}
    />
  );
}

export function Cost(props: { counted: Counted }): JSX.Element {
  return (
    <Show when={props.counted.all.cost > 0} fallback={<NoCost />}>
      <ByAgent counted={props.counted} title="Cost" about="In US dollars, where agents tell." file="cost" value={(counts) => counts.cost} format={cost} />
    </Show>
  );
}

function NoCost(): JSX.Element {
  return (
    <section class="card stats-panel" aria-labelledby="stats-cost">
      <h2 id="stats-cost">Cost</h2>
      <p class="small quiet">No agent told what its turns cost.</p>
    </section>
  );
}

export function Time(props: { counted: Counted }): JSX.Element {
  return <ByAgent counted={props.counted} title="Time" about="How long turns took, together." file="time" value={(counts) => counts.milliseconds} format={duration} steps={TIMES} unit="ms" />;
}

/** Minutes do for a day. */
export function duration(milliseconds: number): string {
  if (milliseconds < 60_000) return seconds(milliseconds);
  const minutes = Math.round(milliseconds / 60_000);
  const hours = minutes < 60 ? "" : `${Math.floor(minutes / 60).toLocaleString("en")} h`;
  return [hours, minutes % 60 > 0 ? `${minutes % 60} min` : ""].filter(Boolean).join(" ");
}

interface ByAgentProps {
  counted: Counted;
  title: string;
  about: string;
  file: string;
  value: (counts: Counts) => number;
  format: (value: number) => string;
  steps?: number[];
  unit?: string;
}

function ByAgent(props: ByAgentProps): JSX.Element {
  const of = (day: Day, agent: string) => props.value(day.agents[agent] ?? NOTHING);
  const series = (): Series[] =>
    props.counted.agents
      .map((agent) => {
        const values = props.counted.days.map((day) => of(day, agent));
        return { name: visible(agent), colour: agentColour(agent), values, sum: values.reduce((sum, value) => sum + value, 0) };
      })
      .filter(({ sum }) => sum > 0);
  const head = (name: string) => (props.unit ? `${name} (${props.unit})` : name);
  return (
    <Panel
      title={props.title}
      about={props.about}
      file={props.file}
      plot={{
        label: `${props.title} by day and agent: ${series().map(({ name, sum }) => `${name} ${props.format(sum)}`).join(", ")}`,
        days: dayNames(props.counted),
        series: series(),
        stacked: true,
        format: props.format,
        steps: props.steps,
      }}
      table={tableOf(props.counted, [
        ...props.counted.agents.map((agent) => ({ head: head(visible(agent)), value: (day: Day) => of(day, agent), format: props.format })),
        { head: head("all"), value: (day) => props.value(day.counts), format: props.format },
      ])}
    />
  );
}
