// The agents that can be asked here: asked for when somebody first wants to know.

import { createSignal } from "solid-js";
import { get } from "../api/client";

export interface KnownAgent {
  agent: string;
  title: string;
  installed: boolean;
}

const [agents, setAgents] = createSignal<KnownAgent[]>([]);
let asked = false;

export function installedAgents(): KnownAgent[] {
  if (!asked) {
    asked = true;
    get<{ agents: KnownAgent[] }>("/agents").then(
      (told) => setAgents(told.agents),
      () => (asked = false),
    );
  }
  return agents().filter((agent) => agent.installed);
}
