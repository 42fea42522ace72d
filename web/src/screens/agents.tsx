// The agents: which are here, what each can do, and what a check-up found, with its cure.

import { createMemo, createSignal, For, Match, Show, Switch, type JSX } from "solid-js";
import { get } from "../api/client";
import { createLoaded, type Loaded } from "../state/loaded";
import { AgentBadge } from "../ui/agent";
import { copy } from "../ui/clipboard";
import { Icon } from "../ui/icon";
import { Link } from "../ui/link";
import { Failure, Loading } from "../ui/states";
import { visible } from "../ui/visible";
import { count } from "../ui/words";
import "./agents.css";

/** What `/agents` tells of one. */
interface Report {
  agent: string;
  title: string;
  installed: boolean;
  install: string;
  capabilities?: Record<Ability, boolean> & { product: string; version: string | null };
}
type Ability = "resume" | "fork" | "ephemeral" | "choose_id" | "ask";

/** One point of a check-up, as `/agents/doctor` tells it. */
interface Check {
  name: string;
  finding: "fine" | "note" | "broken";
  text: string;
  next?: string;
}
type Checkups = Map<string, Check[]>;

const ABILITIES: { ability: Ability; can: string; cannot: string }[] = [
  { ability: "resume", can: "Resumes its sessions by their ids", cannot: "Cannot resume: it is told the history every time" },
  { ability: "ask", can: "Asks in the middle of a turn", cannot: "Cannot ask in the middle of a turn" },
  { ability: "fork", can: "Copies a session for a branch", cannot: "Cannot copy a session" },
  { ability: "choose_id", can: "Takes the id of a new session from rejoin", cannot: "Chooses the ids of its sessions itself" },
  { ability: "ephemeral", can: "Can run without storing anything", cannot: "Stores every turn" },
];

const CHECKS: Record<string, string> = { version: "Version", shape: "Output", flags: "Flags", login: "Login", store: "Store", hazard: "Hazard", memory: "Memory" };
const WEIGHT = { broken: 0, note: 1, fine: 2 };

export function Agents(): JSX.Element {
  const agents = createLoaded(() => "agents", async (_, signal) => (await get<{ agents: Report[] }>("/agents", undefined, signal)).agents);
  const doctor = createLoaded<string, Checkups>(
    () => "doctor",
    async (_, signal) => {
      const { checkups } = await get<{ checkups: { agent: string; checks: Check[] }[] }>("/agents/doctor", undefined, signal);
      return new Map(checkups.map(({ agent, checks }) => [agent, checks]));
    },
  );
  // What is part of rejoin is there before it can be used: without a check-up it was not set up, and comes last.
  const unset = (agent: Report) => doctor.value() !== undefined && !doctor.value()?.has(agent.agent);
  const here = () => (agents.value()?.filter((agent) => agent.installed) ?? []).sort((a, b) => Number(unset(a)) - Number(unset(b)));
  const absent = () => agents.value()?.filter((agent) => !agent.installed) ?? [];
  return (
    <section class="screen" aria-labelledby="agents-title">
      <div class="inner">
        <header class="row agents-head">
          <h1 class="grow" id="agents-title">Agents</h1>
          <CheckAgain doctor={doctor} again={() => { agents.again(); doctor.again(); }} />
        </header>
        <Show when={agents.error()}>{(error) => <Failure error={error()} again={agents.again} label="The agents cannot be listed" />}</Show>
        <Show when={doctor.error()}>{(error) => <Failure error={error()} again={doctor.again} label="There is no check-up" />}</Show>
        <Show when={agents.value()} fallback={<Show when={!agents.error()}><Loading lines={5} label="Loading the agents" /></Show>}>
          <section class="stack" aria-labelledby="agents-here">
            <h2 id="agents-here">Installed <span class="agents-count number">{here().length}</span></h2>
            <ul class="stack" aria-label="Installed agents">
              <For each={here()}>{(agent) => <Installed report={agent} unset={unset(agent)} doctor={doctor} />}</For>
            </ul>
          </section>
          <Show when={absent().length > 0}>
            <section class="stack" aria-labelledby="agents-absent">
              <h2 id="agents-absent">Not installed <span class="agents-count number">{absent().length}</span></h2>
              <ul class="agents-absent" aria-label="Agents that are not installed">
                <For each={absent()}>{(agent) => <Absent report={agent} />}</For>
              </ul>
            </section>
          </Show>
        </Show>
      </div>
    </section>
  );
}

/** The worst there is, in words, and a way to look anew once it was cured. */
function CheckAgain(props: { doctor: Loaded<Checkups>; again: () => void }): JSX.Element {
  const found = (finding: Check["finding"]) => [...(props.doctor.value()?.values() ?? [])].flat().filter((check) => check.finding === finding).length;
  const words = () => {
    const broken = found("broken");
    const notes = found("note");
    if (broken + notes === 0) return "Everything is as it should be";
    return [broken > 0 ? `${count(broken, "thing")} broken` : "", notes > 0 ? `${count(notes, "thing")} to know` : ""].filter(Boolean).join(", ");
  };
  return (
    <div class="row agents-check">
      <span class="small quiet" role="status"><Show when={props.doctor.value()}>{words()}</Show></span>
      <button class="button" onClick={() => props.again()}><Icon name="retry" size={16} />Check again</button>
    </div>
  );
}

function Installed(props: { report: Report; unset: boolean; doctor: Loaded<Checkups> }): JSX.Element {
  const checks = createMemo(() => {
    const found = props.doctor.value()?.get(props.report.agent);
    return found && [...found].sort((a, b) => WEIGHT[a.finding] - WEIGHT[b.finding]);
  });
  const worst = () => checks()?.[0]?.finding;
  const title = `agent-${props.report.agent}`;
  return (
    <li class="card stack agents-one" aria-labelledby={title}>
      <div class="row agents-name">
        <AgentBadge agent={props.report.agent} silent />
        <h3 id={title}>{visible(props.report.title)}</h3>
        <code class="small quiet">{props.report.agent}</code>
        <span class="grow" />
        <Show when={!props.unset && props.report.capabilities?.version}>{(version) => <span class="small number">{visible(version())}</span>}</Show>
        <Switch>
          <Match when={props.unset}><span class="tag">not set up</span></Match>
          <Match when={worst() === "broken"}><span class="tag bad">broken</span></Match>
          <Match when={worst() === "note"}><span class="tag warn">something to know</span></Match>
          <Match when={worst() === "fine"}><span class="tag good">fine</span></Match>
        </Switch>
      </div>
      <Show when={!props.unset} fallback={<p class="small">{visible(props.report.install)}</p>}>
        <div class="agents-columns">
          <Abilities report={props.report} />
          <div>
            <h4 class="label">Check-up</h4>
            <Show when={checks()} fallback={<Show when={!props.doctor.error()} fallback={<p class="small quiet">It could not be made.</p>}><Loading lines={2} label="Checking" /></Show>}>
              {(list) => <ul class="agents-list"><For each={list()}>{(check) => <Found check={check} />}</For></ul>}
            </Show>
          </div>
        </div>
        <div class="agents-foot">
          <Link to={{ screen: "new", agent: props.report.agent }} class="button" label={`New conversation with ${props.report.title}`}>New conversation</Link>
        </div>
      </Show>
    </li>
  );
}

function Abilities(props: { report: Report }): JSX.Element {
  return (
    <div>
      <h4 class="label">What it can do</h4>
      <ul class="agents-list">
        <For each={ABILITIES}>
          {(one) => {
            const can = () => props.report.capabilities?.[one.ability] ?? false;
            return (
              <li class="agents-point" data-can={can()}>
                <span class="agents-mark" aria-hidden="true">{can() ? <Icon name="check" size={14} /> : "–"}</span>
                <span>{can() ? one.can : one.cannot}</span>
              </li>
            );
          }}
        </For>
      </ul>
    </div>
  );
}

const FINDINGS = { fine: { mark: "", words: "" }, note: { mark: "!", words: "Note. " }, broken: { mark: "×", words: "Broken. " } };

function Found(props: { check: Check }): JSX.Element {
  return (
    <li class="agents-point" data-finding={props.check.finding}>
      <span class="agents-mark" aria-hidden="true">{props.check.finding === "fine" ? <Icon name="check" size={14} /> : FINDINGS[props.check.finding].mark}</span>
      <div class="agents-found">
        <span class="sr-only">{FINDINGS[props.check.finding].words}</span>
        <span class="quiet">{CHECKS[props.check.name] ?? visible(props.check.name)}: </span>{visible(props.check.text)}
        <Show when={props.check.next}>{(next) => <div class="agents-cure"><strong>Cure:</strong> {visible(next())}</div>}</Show>
      </div>
    </li>
  );
}

function Absent(props: { report: Report }): JSX.Element {
  const [copied, setCopied] = createSignal(false);
  const take = async () => setCopied(await copy(props.report.install));
  return (
    <li class="agents-row">
      <AgentBadge agent={props.report.agent} silent />
      <span class="agents-title">{visible(props.report.title)}</span>
      <code class="small grow agents-install">{visible(props.report.install)}</code>
      <button class="button plain" aria-label={`Copy how to install ${props.report.title}`} onClick={() => void take()}>
        <Icon name={copied() ? "check" : "copy"} size={16} />{copied() ? "Copied" : "Copy"}
      </button>
    </li>
  );
}
