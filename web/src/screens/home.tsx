// Nothing chosen yet; in an empty installation, what resuming is, in two clicks.

import { createSignal, Match, Show, Switch, type JSX } from "solid-js";
import { get, post, Problem } from "../api/client";
import type { TakenRun } from "../api/types";
import { go } from "../router";
import { listState, rows } from "../state/list";
import { Link } from "../ui/link";
import { Empty, Failure } from "../ui/states";
import "./new.css";

export function Home(): JSX.Element {
  return (
    <div class="screen">
      <Switch>
        <Match when={listState() === "ready" && rows.length === 0}><FirstSteps /></Match>
        <Match when={listState() === "ready"}>
          <Empty title="Pick a conversation">
            <p>Each turn there says whether the agent remembered, and why.</p>
            <Link to={{ screen: "new" }} class="button primary">New conversation</Link>
          </Empty>
        </Match>
      </Switch>
    </div>
  );
}

/** The directory the daemon was started in serves for trying it out. */
async function anyProject(): Promise<string> {
  const { directory } = await get<{ directory?: string | null }>("");
  if (!directory) throw new Problem(0, "no_directory", "name a directory to begin in", "New conversation asks for one");
  return directory;
}

function FirstSteps(): JSX.Element {
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [first, setFirst] = createSignal<TakenRun | null>(null);
  const begin = async () => {
    try {
      setFirst(await post<TakenRun>("/runs", { project: await anyProject(), agent: "demo", prompt: "The bug is in parser.rs" }));
      setProblem(null);
    } catch (error) {
      setProblem(Problem.of(error));
    }
  };
  const next = async () => {
    const conversation = first()?.conversation;
    if (!conversation) return;
    try {
      await post<TakenRun>("/runs", { conversation, agent: "demo", prompt: "Now fix it" });
      go({ screen: "conversation", id: conversation, view: "turns" });
    } catch (error) {
      setProblem(Problem.of(error));
    }
  };
  return (
    <div class="empty">
      <h1>Agents that remember</h1>
      <p>No conversations yet. See what resuming is, with the agent that is built in: no key, no network.</p>
      <div class="home-steps">
        <div class="card">
          <h2>1. Tell it something</h2>
          <p>“The bug is in parser.rs”: a first turn. There is nothing to remember yet.</p>
          <button class={`button ${first() ? "" : "primary"}`} aria-disabled={first() !== null} onClick={() => first() === null && void begin()}>{first() ? "Sent" : "Try the demo agent"}</button>
        </div>
        <div class="card">
          <h2>2. Go on</h2>
          <p>“Now fix it”: its own session is resumed by its real id, and only these ten bytes are sent.</p>
          <button class={`button ${first() ? "primary" : ""}`} aria-disabled={first() === null} onClick={() => void next()}>Send the second prompt</button>
        </div>
      </div>
      <Show when={problem()}>{(why) => <Failure error={why()} />}</Show>
      <p class="small">Or begin with an agent of your own: <Link to={{ screen: "new" }}>New conversation</Link>, or <code>rejoin run "…"</code> in a terminal; it appears here while it runs.</p>
    </div>
  );
}
