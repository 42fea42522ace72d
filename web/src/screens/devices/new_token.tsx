// Making a token; its secret is seen this once.

import { createSignal, createUniqueId, For, Show, type JSX } from "solid-js";
import { get, post } from "../../api/client";
import type { components } from "../../api/schema";
import type { Project } from "../../api/types";
import { createLoaded } from "../../state/loaded";
import { copy } from "../../ui/clipboard";
import { Icon } from "../../ui/icon";
import { Failure } from "../../ui/states";
import { visible } from "../../ui/visible";
import type { Token } from "../devices";

type Scope = components["schemas"]["TokenScope"];
type Ceiling = components["schemas"]["Ceiling"];
type Created = components["schemas"]["CreatedToken"];

// A browser makes none with `admin`: the daemon refuses that.
const SCOPES: { scope: Scope; name: string; lets: string }[] = [
  { scope: "read", name: "Read", lets: "look at everything" },
  { scope: "answer", name: "Answer", lets: "answer what agents ask" },
  { scope: "prompt", name: "Prompt", lets: "begin, queue and cancel runs; edit conversations" },
];

export function NewToken(props: { reachable: boolean; onMade: () => void; letIn: (token: Token) => void }): JSX.Element {
  const [name, setName] = createSignal("");
  const [scopes, setScopes] = createSignal<Scope[]>(["read", "answer"]);
  const [ceiling, setCeiling] = createSignal<Ceiling | "">("edit");
  const [project, setProject] = createSignal("");
  const [made, setMade] = createSignal<Created | null>(null);
  const [error, setError] = createSignal<unknown>();
  const [busy, setBusy] = createSignal(false);
  const projects = createLoaded(() => "projects", async (_, signal) => (await get<{ projects: Project[] }>("/projects", { limit: 100 }, signal)).projects);
  const toggle = (scope: Scope, on: boolean) => setScopes((known) => (on ? [...known, scope] : known.filter((one) => one !== scope)));
  const ready = () => name().trim() !== "" && scopes().length > 0 && !busy();
  const make = async (event: SubmitEvent) => {
    event.preventDefault();
    if (!ready()) return;
    setBusy(true);
    setError(undefined);
    try {
      setMade(
        await post<Created>("/tokens", {
          name: name().trim(),
          scopes: scopes(),
          ...(ceiling() === "" ? {} : { ceiling: ceiling() }),
          ...(project() === "" ? {} : { projects: [project()] }),
        }),
      );
      setName("");
      props.onMade();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <section class="stack" aria-labelledby="devices-new">
      <h2 id="devices-new">New token</h2>
      <Show when={made()} keyed>
        {(created) => <Secret made={created} reachable={props.reachable} letIn={() => props.letIn(created.token)} done={() => setMade(null)} />}
      </Show>
      <form class="card stack" aria-label="New token" onSubmit={(event) => void make(event)}>
        <div class="devices-form">
          <label class="field">
            <span>Name</span>
            <input class="input" name="name" autocomplete="off" spellcheck={false} maxlength={64} placeholder="phone" value={name()} onInput={(event) => setName(event.currentTarget.value)} />
          </label>
          <label class="field">
            <span>Ceiling: the most its turns may do</span>
            <select class="input" value={ceiling()} onChange={(event) => setCeiling(event.currentTarget.value as Ceiling | "")}>
              <option value="read">read</option>
              <option value="edit">edit</option>
              <option value="full">full</option>
              <option value="">none</option>
            </select>
          </label>
          <label class="field">
            <span>Sees</span>
            <select class="input" value={project()} onChange={(event) => setProject(event.currentTarget.value)}>
              <option value="">all projects</option>
              <For each={projects.value()}>{({ path }) => <option value={path}>{visible(path)}</option>}</For>
            </select>
          </label>
        </div>
        <fieldset class="devices-scopes">
          <legend class="label">Scopes</legend>
          <For each={SCOPES}>{(one) => <ScopeBox {...one} on={scopes().includes(one.scope)} change={(on) => toggle(one.scope, on)} />}</For>
        </fieldset>
        <Show when={error()}>{(why) => <Failure error={why()} label="Not made" />}</Show>
        <div class="row devices-end">
          <button class="button primary" type="submit" aria-disabled={!ready()}>Make the token</button>
        </div>
      </form>
    </section>
  );
}

function ScopeBox(props: { scope: Scope; name: string; lets: string; on: boolean; change: (on: boolean) => void }): JSX.Element {
  const lets = createUniqueId();
  return (
    <label class="devices-scope">
      <input type="checkbox" checked={props.on} aria-label={props.name} aria-describedby={lets} onChange={(event) => props.change(event.currentTarget.checked)} />
      <span><span class="devices-scope-name">{props.name}</span> <span class="small quiet" id={lets}>{props.lets}</span></span>
    </label>
  );
}

function Secret(props: { made: Created; reachable: boolean; letIn: () => void; done: () => void }): JSX.Element {
  const [copied, setCopied] = createSignal(false);
  const take = async () => setCopied(await copy(props.made.secret));
  return (
    <div class="notice devices-made" role="status" aria-label="The token was made">
      <div class="grow stack">
        <p><strong>{visible(props.made.token.name)}</strong> was made. This is its secret, shown this once:</p>
        <div class="row devices-secret">
          <code class="grow" aria-label="Secret">{props.made.secret}</code>
          <button class="button" aria-label="Copy the secret" onClick={() => void take()}><Icon name={copied() ? "check" : "copy"} size={16} />{copied() ? "Copied" : "Copy"}</button>
        </div>
        <p class="small quiet">Scripts send it in a header, <code>Authorization: Bearer …</code>; a phone does not need it.</p>
        <div class="row devices-end">
          <Show when={props.reachable}><button class="button primary" onClick={() => props.letIn()}>Let a phone in</button></Show>
          <button class="button" onClick={() => props.done()}>I have it</button>
        </div>
      </div>
    </div>
  );
}
