// Addresses: every screen, conversation and turn has one that survives reload, back and sharing.

import { createSignal } from "solid-js";

export type Route =
  | { screen: "home" }
  | { screen: "conversation"; id: string; turn?: string; view: "turns" | "tree" }
  | { screen: "new"; project?: string; agent?: string }
  | { screen: "inbox" }
  | { screen: "flows"; run?: string; project?: string; file?: string }
  | { screen: "stats"; project?: string }
  | { screen: "agents" }
  | { screen: "devices" }
  | { screen: "missing"; path: string };

export function parse(path: string, query: URLSearchParams): Route {
  const parts = path.split("/").filter(Boolean).map(decodeURIComponent);
  const [screen, id, what, turn] = parts;
  const project = query.get("project") ?? undefined;
  switch (screen) {
    case undefined:
      return { screen: "home" };
    case "c":
      if (id === undefined) break;
      if (what === undefined) return { screen: "conversation", id, view: "turns" };
      if (what === "tree") return { screen: "conversation", id, view: "tree", turn };
      if (what === "t" && turn !== undefined) return { screen: "conversation", id, view: "turns", turn };
      break;
    case "new":
      return { screen: "new", project, agent: query.get("agent") ?? undefined };
    case "flows":
      return { screen: "flows", run: id, project, file: query.get("file") ?? undefined };
    case "stats":
      return { screen: "stats", project };
    case "inbox":
    case "agents":
    case "devices":
      return { screen };
  }
  return { screen: "missing", path };
}

export function address(route: Route): string {
  const query = (entries: Record<string, string | undefined>) => {
    const set = Object.entries(entries).filter((entry): entry is [string, string] => entry[1] !== undefined);
    return set.length === 0 ? "" : `?${new URLSearchParams(set)}`;
  };
  switch (route.screen) {
    case "home":
      return "/";
    case "conversation": {
      const base = `/c/${route.id}`;
      if (route.view === "tree") return route.turn ? `${base}/tree/${route.turn}` : `${base}/tree`;
      return route.turn ? `${base}/t/${route.turn}` : base;
    }
    case "new":
      return `/new${query({ project: route.project, agent: route.agent })}`;
    case "flows":
      return `/flows${route.run ? `/${route.run}` : ""}${query({ project: route.project, file: route.file })}`;
    case "stats":
      return `/stats${query({ project: route.project })}`;
    case "missing":
      return route.path;
    default:
      return `/${route.screen}`;
  }
}

const here = () => parse(location.pathname, new URLSearchParams(location.search));
const [route, setRoute] = createSignal<Route>(here());
/** What is shown now. */
export { route };

addEventListener("popstate", () => setRoute(here()));

/** Goes somewhere; back leads to where one was. */
export function go(to: Route, replace = false): void {
  const path = address(to);
  if (path === location.pathname + location.search) return;
  if (replace) history.replaceState(null, "", path);
  else history.pushState(null, "", path);
  setRoute(to);
}
