// The flow files of every project, and the runs of flows whoever began them.

import { createEffect, createSignal, For, on, Show, type JSX } from "solid-js";
import { get } from "../../api/client";
import type { Project } from "../../api/types";
import { go } from "../../router";
import { createLoaded } from "../../state/loaded";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { Empty, Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { baseName, count } from "../../ui/words";
import { FlowProblems } from "./flow_problems";
import { RunList } from "./run_list";
import type { FlowFile } from "./types";

/** So many projects are looked through at once; the others one by one, by their directory. */
const PROJECTS = 30;

interface ProjectFlows {
  path: string;
  flows: FlowFile[];
  more: boolean;
  error?: unknown;
}

interface Found {
  projects: ProjectFlows[];
  known: string[];
  /** There are more projects than were looked through. */
  more: boolean;
}

async function readProject(path: string, signal: AbortSignal): Promise<ProjectFlows> {
  try {
    return { path, ...(await get<{ flows: FlowFile[]; more: boolean }>("/flows", { project: path }, signal)) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { path, flows: [], more: false, error };
  }
}

async function find(only: string, signal: AbortSignal): Promise<Found> {
  const [{ projects }, { directory }] = await Promise.all([
    get<{ projects: Project[] }>("/projects", { limit: 100 }, signal),
    get<{ directory?: string | null }>("", undefined, signal),
  ]);
  const known = projects.map((project) => project.path);
  // A project may have flows before it has conversations.
  if (directory && !known.includes(directory)) known.push(directory);
  const wanted = only === "" ? known.slice(0, PROJECTS) : [only];
  const read = await Promise.all(wanted.map((path) => readProject(path, signal)));
  return { projects: read, known, more: only === "" && known.length > PROJECTS };
}

export function FlowsOverview(props: { project?: string }): JSX.Element {
  const found = createLoaded(() => props.project ?? "", find);
  return (
    <section class="screen" aria-labelledby="flows-title">
      <div class="inner flows">
        <header class="flows-head">
          <h1 class="grow" id="flows-title">Flows</h1>
          <ProjectField project={props.project} known={found.value()?.known ?? []} />
        </header>
        <section class="stack flow-section" aria-labelledby="flow-files-title">
          <h2 id="flow-files-title">Files</h2>
          <Show when={found.error()}>{(error) => <Failure error={error()} again={found.again} label="The projects cannot be read" />}</Show>
          <Show when={found.value()} fallback={<Show when={!found.error()}><Loading lines={3} label="Looking for flows" /></Show>}>
            {(value) => <Files found={value()} only={props.project} />}
          </Show>
        </section>
        {/* A project that cannot be read has said so already. */}
        <Show when={props.project === undefined || found.value()?.projects[0]?.error === undefined}><RunList project={props.project} /></Show>
      </div>
    </section>
  );
}

/** Any directory, also one that has no conversations yet. */
function ProjectField(props: { project?: string; known: string[] }): JSX.Element {
  const [typed, setTyped] = createSignal("");
  createEffect(on(() => props.project, (project) => setTyped(project ?? "")));
  const look = (event: SubmitEvent) => {
    event.preventDefault();
    const project = typed().trim();
    go({ screen: "flows", project: project === "" ? undefined : project });
  };
  return (
    <form class="row flows-project" onSubmit={look}>
      <input class="input mono small" aria-label="Project directory" list="flow-projects" placeholder="All projects" value={typed()} onInput={(event) => setTyped(event.currentTarget.value)} spellcheck={false} autocomplete="off" />
      <datalist id="flow-projects"><For each={props.known}>{(path) => <option value={path} />}</For></datalist>
      <button class="button" type="submit">Show</button>
      <Show when={props.project !== undefined}><Link to={{ screen: "flows" }} class="button plain">All projects</Link></Show>
    </form>
  );
}

function Files(props: { found: Found; only?: string }): JSX.Element {
  const shown = () => props.found.projects.filter((one) => one.flows.length > 0 || one.more || (one.error !== undefined && props.only !== undefined));
  // A project whose directory is gone is no news on the page of all of them; how many there are is.
  const unread = () => (props.only === undefined ? props.found.projects.filter((one) => one.error !== undefined) : []);
  return (
    <>
      <Show when={shown().length > 0} fallback={<NoFiles only={props.only} />}>
        <For each={shown()}>{(one) => <ProjectFiles of={one} />}</For>
      </Show>
      <Show when={unread().length > 0}>
        <details class="small quiet">
          <summary>{count(unread().length, "project")} could not be looked through</summary>
          <ul class="flow-unread"><For each={unread()}>{(one) => <li><span class="mono">{visible(one.path)}</span></li>}</For></ul>
        </details>
      </Show>
      <Show when={props.found.more}><p class="small quiet">The {PROJECTS} projects used last were looked through. Name another one's directory above.</p></Show>
    </>
  );
}

function NoFiles(props: { only?: string }): JSX.Element {
  return (
    <Empty title={props.only === undefined ? "No flow files yet" : "No flow files in this project"}>
      <p>A flow is a file of steps: agents and commands, where each step knows what the one before it did. Save this as <code>review.flow.yaml</code> in a project:</p>
      <pre class="flow-example small" tabindex="0" aria-label="An example of a flow">{"steps:\n  look:\n    agent: demo\n    prompt: Find the bug.\n  fix:\n    continue_from: look\n    prompt: Fix it."}</pre>
    </Empty>
  );
}

function ProjectFiles(props: { of: ProjectFlows }): JSX.Element {
  return (
    <div class="flow-project">
      <h3 class="row flow-project-head">
        <span class="cut">{visible(baseName(props.of.path))}</span>
        <span class="cut small quiet mono flow-path" title={visible(props.of.path)}>{visible(props.of.path)}</span>
      </h3>
      <Show when={props.of.error}>{(error) => <Failure error={error()} label="This project cannot be looked through" />}</Show>
      <Show when={props.of.flows.length > 0}>
        <ul class="flow-rows" aria-label={`Flow files of ${visible(baseName(props.of.path))}`}>
          <For each={props.of.flows}>{(flow) => <FileRow project={props.of.path} flow={flow} />}</For>
        </ul>
      </Show>
      <Show when={props.of.more}><p class="small quiet">The project is so large that not all of it was looked through.</p></Show>
    </div>
  );
}

function FileRow(props: { project: string; flow: FlowFile }): JSX.Element {
  const name = () => visible(props.flow.name ?? props.flow.file);
  const facts = () => {
    const inputs = props.flow.inputs?.length ?? 0;
    return [count(props.flow.steps?.length ?? 0, "step"), ...(inputs > 0 ? [count(inputs, "input")] : [])].join(", ");
  };
  return (
    <li class="flow-row">
      <Show
        when={props.flow.problems}
        fallback={
          <>
            <div class="grow">
              <Link to={{ screen: "flows", project: props.project, file: props.flow.file }} class="flow-name">{name()}</Link>
              <Show when={props.flow.description}>{(text) => <p class="small">{visible(text())}</p>}</Show>
              <p class="small quiet flow-facts"><span class="mono">{visible(props.flow.file)}</span><span class="number">{facts()}</span></p>
            </div>
            <Link to={{ screen: "flows", project: props.project, file: props.flow.file }} class="button" label={`Start ${name()}`}><Icon name="play" size={14} />Start</Link>
          </>
        }
      >
        {(problems) => (
          <div class="grow">
            <p class="row"><span class="mono cut">{visible(props.flow.file)}</span><span class="tag bad">cannot be run</span></p>
            <FlowProblems problems={problems()} />
          </div>
        )}
      </Show>
    </li>
  );
}
