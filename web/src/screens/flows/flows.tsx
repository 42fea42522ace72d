// Flows: the files of the projects and their runs; one file to begin; one run as it goes.

import { createMemo, Match, Switch, type JSX } from "solid-js";
import { route } from "../../router";
import { FlowsOverview } from "./overview";
import { RunPage } from "./run_page";
import { StartPage } from "./start_page";
import "./flows.css";

export function Flows(): JSX.Element {
  const here = createMemo(() => {
    const now = route();
    return now.screen === "flows" ? now : null;
  });
  const run = createMemo(() => here()?.run);
  const project = createMemo(() => here()?.project);
  const file = createMemo(() => here()?.file);
  return (
    <Switch fallback={<FlowsOverview project={project()} />}>
      <Match when={run()} keyed>{(id) => <RunPage id={id} />}</Match>
      <Match when={project() !== undefined && file() !== undefined}><StartPage project={project()!} file={file()!} /></Match>
    </Switch>
  );
}
