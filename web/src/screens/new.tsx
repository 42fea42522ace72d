// A new conversation: where, with whom, about what.

import { createResource, createSignal, For, Show, type JSX } from "solid-js";
import { get } from "../api/client";
import type { Project } from "../api/types";
import { Composer } from "../composer/composer";
import { go } from "../router";
import "./new.css";

export function NewConversation(props: { project?: string; agent?: string }): JSX.Element {
  const [projects] = createResource(async () => (await get<{ projects: Project[] }>("/projects", { limit: 100 })).projects);
  const [typed, setTyped] = createSignal<string | null>(null);
  const project = () => typed() ?? props.project ?? (projects.error ? "" : projects()?.[0]?.path) ?? "";
  return (
    <div class="new">
      <div class="screen">
        <div class="inner new-inner">
          <h1>New conversation</h1>
          <label class="field">
            <span>Project directory</span>
            <input class="input mono" list="projects" value={project()} placeholder="/home/me/app" onInput={(event) => setTyped(event.currentTarget.value)} spellcheck={false} />
          </label>
          <datalist id="projects"><For each={projects.error ? [] : projects()}>{(one) => <option value={one.path}>{one.name}</option>}</For></datalist>
          <p class="quiet">The agent works in this directory and keeps its session there. Whatever agent goes on later is told what was said, or resumed where that is safe.</p>
        </div>
      </div>
      <Show when={project()} keyed>
        {(dir) => <Composer model={null} project={dir} agent={props.agent} onSent={(run) => run.conversation && go({ screen: "conversation", id: run.conversation, view: "turns" })} />}
      </Show>
    </div>
  );
}
