// A run of a flow as it goes: its steps as a graph and one by one, and what can be done with it.

import { createMemo, createSignal, For, onCleanup, Show, type JSX } from "solid-js";
import { get, post } from "../../api/client";
import { createLoaded } from "../../state/loaded";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { cost, count, short, when } from "../../ui/words";
import { FlowFailure } from "./flow_problems";
import { followRun, type FollowedRun } from "./follow";
import { inRun } from "./step_facts";
import { StepGraph } from "./step_graph";
import { StepList } from "./step_list";
import type { FlowGraph, StepState } from "./types";
import { StandingTag } from "./words";

export function RunPage(props: { id: string }): JSX.Element {
  const followed = followRun(() => props.id);
  const graph = createLoaded(() => props.id, (id, signal) => get<FlowGraph>(`/flows/runs/${id}/graph`, undefined, signal));
  const clock = createSeconds(() => followed.run.standing === "running");
  const [refused, setRefused] = createSignal<{ label: string; error: unknown }>();
  const [sending, setSending] = createSignal(false);
  const act = async (label: string, path: string, body: object) => {
    if (sending()) return;
    setSending(true);
    setRefused(undefined);
    try {
      await post(`/flows/runs/${props.id}/${path}`, body);
      // One that goes on has new records; one that was cancelled tells so by itself.
      if (path === "resume") followed.again();
    } catch (error) {
      setRefused({ label, error });
    } finally {
      setSending(false);
    }
  };
  const resume = (from?: string) => void act("Not resumed", "resume", from === undefined ? {} : { from });
  const name = () => visible(followed.run.begun?.flow ?? "") || `Run ${short(props.id)}`;
  return (
    <section class="screen" aria-labelledby="flow-run-title">
      <div class="inner flows">
        <Link to={{ screen: "flows" }} class="flow-back small"><Icon name="back" size={14} />Flows</Link>
        <header class="flow-run-head">
          <div class="grow">
            <h1 id="flow-run-title" class="flow-wrap">{name()}</h1>
            <Facts id={props.id} followed={followed} graph={graph.value()} />
          </div>
          <div class="row flow-acts">
            <span role="status" aria-label="State of the run"><Show when={followed.loaded()}><StandingTag standing={followed.run.damaged && !followed.run.begun ? "damaged" : followed.run.standing} stopping={followed.run.stopping} /></Show></span>
            <Show when={followed.loaded() && followed.run.standing === "running"}>
              <button class="button danger" aria-disabled={sending() || followed.run.stopping} onClick={() => !followed.run.stopping && void act("Not cancelled", "cancel", {})}>Cancel run</button>
            </Show>
            <Show when={followed.run.begun !== undefined && ["interrupted", "failed", "cancelled"].includes(followed.run.standing)}>
              <button class="button primary" aria-disabled={sending()} onClick={() => resume()}><Icon name="play" size={14} />Resume run</button>
            </Show>
          </div>
        </header>
        <Show when={refused()}>{(why) => <FlowFailure error={why().error} label={why().label} />}</Show>
        <Show when={followed.error()}>{(error) => <Failure error={error()} again={followed.again} label="The run cannot be followed" />}</Show>
        <Show when={followed.run.damaged}>
          <div class="notice warn">A line of this run's file is damaged. It does not go on by itself: a turn that was paid for may have been in it. Run it from a step of your choice below.</div>
        </Show>
        <Show when={followed.loaded()} fallback={<Show when={!followed.error()}><Loading lines={5} label="Loading the run" /></Show>}>
          <Show when={graph.error()}>{(error) => <FlowFailure error={error()} again={graph.again} label="The steps cannot be read" />}</Show>
          <Show when={graph.value()} fallback={<Show when={!graph.error()}><Loading lines={5} label="Loading the steps" /></Show>}>
            {(value) => (
              <>
                <StepGraph graph={value()} run={followed.run} clock={clock} />
                <StepList graph={value()} run={followed.run} clock={clock} resume={sending() ? undefined : resume} />
              </>
            )}
          </Show>
          <Inputs values={followed.run.begun?.inputs ?? {}} />
        </Show>
      </div>
    </section>
  );
}

/** The time, a second at a time, as long as somebody needs it. */
function createSeconds(needed: () => boolean): () => number {
  const [now, setNow] = createSignal(Date.now());
  const timer = setInterval(() => needed() && setNow(Date.now()), 1_000);
  onCleanup(() => clearInterval(timer));
  return now;
}

function Facts(props: { id: string; followed: FollowedRun; graph?: FlowGraph }): JSX.Element {
  const run = () => props.followed.run;
  const receipts = createMemo(() => Object.values(run().steps).flatMap((step) => [step, ...Object.values(step.items)]).map((step) => step.ended?.receipt));
  const spent = () => receipts().reduce((sum, receipt) => sum + (receipt?.cost ?? 0), 0);
  // Those inside of groups count, as they do in the list of runs.
  const steps = () => (props.graph?.steps ?? []).filter((step) => inRun(run(), step));
  const many = (state: StepState) => steps().filter((step) => run().steps[step.name]?.state === state).length;
  const stand = () => {
    const done = many("done");
    if (run().standing === "running") return `${done} of ${count(steps().length, "step")} done`;
    // As the list of runs and `flow ls` have it; what was skipped is not to come any more.
    return `${count(done, "step")} done${many("skipped") > 0 ? `, ${many("skipped")} skipped` : ""}`;
  };
  return (
    <Show when={run().begun}>
      {(begun) => (
        <p class="small quiet flow-facts">
          <span class="mono number" title={props.id}>{short(props.id)}</span>
          <Show when={props.graph}><span class="number">{stand()}</span></Show>
          <time class="number" datetime={begun().time}>{when(begun().time)}</time>
          <Show when={spent() > 0}><span class="number">{cost(spent())}</span></Show>
          <span class="mono flow-wrap">{visible(begun().dir)}</span>
          <Show when={!begun().source.file.startsWith("/")}>
            <Link to={{ screen: "flows", project: begun().dir, file: begun().source.file }} class="flow-again">Start another run</Link>
          </Show>
        </p>
      )}
    </Show>
  );
}

function Inputs(props: { values: Record<string, unknown> }): JSX.Element {
  const entries = () => Object.entries(props.values);
  return (
    <Show when={entries().length > 0}>
      <section class="stack flow-section" aria-labelledby="flow-inputs-title">
        <h2 id="flow-inputs-title">Inputs</h2>
        <dl class="flow-inputs small">
          <For each={entries()}>
            {([name, value]) => (
              <div>
                <dt class="mono quiet">{visible(name)}</dt>
                <dd class="flow-wrap">{visible(typeof value === "string" ? value : JSON.stringify(value))}</dd>
              </div>
            )}
          </For>
        </dl>
      </section>
    </Show>
  );
}
