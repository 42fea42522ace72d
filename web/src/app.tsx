// The page: a list, what is looked at, and, in a conversation, an inspector. On a phone, one of them at a time.

import { createEffect, createSignal, ErrorBoundary, lazy, Match, on, onCleanup, Show, Suspense, Switch, type JSX } from "solid-js";
import { ConversationScreen } from "./conversation/screen";
import { ConversationList } from "./list/conversation_list";
import { go, route, type Route } from "./router";
import { Agents } from "./screens/agents";
import { Devices } from "./screens/devices";
import { Flows } from "./screens/flows/flows";
import { Home } from "./screens/home";
import { Inbox } from "./screens/inbox/inbox";
import { NewConversation } from "./screens/new";
import { ConnectionBar } from "./shell/connection_bar";
import { Help } from "./shell/help";
import { handleKey } from "./shell/keys";
import { Login } from "./shell/login";
import { Search, type Command } from "./shell/search";
import { beginInbox, inboxCount } from "./state/inbox";
import { beginList, listState, rows } from "./state/list";
import { session } from "./state/session";
import { setTheme } from "./state/theme";
import { Icon, type IconName } from "./ui/icon";
import { Link } from "./ui/link";
import { Empty, Failure, Loading } from "./ui/states";
import { visible } from "./ui/visible";
import "./shell/shell.css";

const Stats = lazy(() => import("./screens/stats/stats").then(({ Stats }) => ({ default: Stats })));

const PLACES: { route: Route; name: string; icon: IconName }[] = [
  { route: { screen: "inbox" }, name: "Inbox", icon: "inbox" },
  { route: { screen: "flows" }, name: "Flows", icon: "flow" },
  { route: { screen: "stats" }, name: "Stats", icon: "stats" },
  { route: { screen: "agents" }, name: "Agents", icon: "agents" },
  { route: { screen: "devices" }, name: "Devices", icon: "devices" },
];

export function App(): JSX.Element {
  return (
    <Show when={session().state === "in"} fallback={<Login />}>
      <Shell />
    </Show>
  );
}

function titleOf(here: Route): string {
  switch (here.screen) {
    case "conversation": {
      const row = rows.find((one) => one.id === here.id);
      return row ? visible(row.name ?? row.title) : "Conversation";
    }
    case "home":
      return "Conversations";
    case "missing":
      return "Not found";
    case "new":
      return "New conversation";
    default:
      return PLACES.find((place) => place.route.screen === here.screen)?.name ?? "";
  }
}

function Shell(): JSX.Element {
  beginList();
  beginInbox();
  const [helps, setHelps] = createSignal(false);
  const [query, setQuery] = createSignal("");
  // On a phone the list is what one begins with.
  const [listShown, setListShown] = createSignal(route().screen === "home");
  createEffect(on(route, (here) => setListShown(here.screen === "home"), { defer: true }));
  // In an empty installation the first steps are, for a list of nothing leads nowhere.
  createEffect(() => {
    if (route().screen === "home" && listState() === "ready" && rows.length === 0) setListShown(false);
  });
  createEffect(() => {
    const waiting = inboxCount();
    document.title = `${waiting > 0 ? `(${waiting}) ` : ""}${titleOf(route())} · rejoin`;
  });
  const commands: Command[] = [
    { title: "New conversation", act: () => go({ screen: "new" }) },
    ...PLACES.map((place) => ({ title: `Open ${place.name}`, act: () => go(place.route) })),
    { title: "Light theme", act: () => setTheme("light") },
    { title: "Dark theme", act: () => setTheme("dark") },
    { title: "Theme of the system", act: () => setTheme("system") },
    { title: "Keyboard", act: () => setHelps(true) },
  ];
  const search = () => {
    setListShown(true);
    queueMicrotask(() => document.getElementById("search")?.focus());
  };
  const key = (event: KeyboardEvent) => handleKey(event, { help: () => setHelps(true), search });
  document.addEventListener("keydown", key);
  onCleanup(() => document.removeEventListener("keydown", key));
  return (
    <div class="shell" data-list={listShown()}>
      <a class="skip" href="#content">To the content</a>
      <nav class="sidebar" aria-label="Conversations and screens">
        <div class="sidebar-head">
          <Link to={{ screen: "home" }} class="brand">rejoin</Link>
          <span class="grow" />
          <button class="icon-button" aria-label="Keyboard help" title="Keyboard (?)" onClick={() => setHelps(true)}>?</button>
          <Link to={{ screen: "new" }} class="button" label="New conversation"><Icon name="plus" size={16} />New</Link>
        </div>
        <Search commands={commands} query={query()} onQuery={setQuery} onDone={() => setListShown(false)} />
        <Show when={query().trim() === ""}><ConversationList /></Show>
        <ul class="places">
          {PLACES.map((place) => (
            <li>
              <Link to={place.route} class="place" current={route().screen === place.route.screen}>
                <Icon name={place.icon} />
                <span class="place-name">{place.name}</span>
                <Show when={place.name === "Inbox" && inboxCount() > 0}><span class="badge number">{inboxCount()}</span></Show>
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <main id="content" class="content" tabindex="-1">
        <ConnectionBar />
        <div class="content-top">
          <button class="icon-button" aria-label="Show the list" onClick={() => setListShown(true)}><Icon name="menu" /></button>
          <span class="cut grow">{titleOf(route())}</span>
        </div>
        <ErrorBoundary fallback={(error, reset) => <div class="screen"><Failure error={error} again={reset} label="This screen broke" /></div>}>
          <Suspense fallback={<div class="screen"><Loading /></div>}>
            <Screens />
          </Suspense>
        </ErrorBoundary>
      </main>
      <Show when={helps()}><Help onClose={() => setHelps(false)} /></Show>
    </div>
  );
}

function Screens(): JSX.Element {
  const conversation = () => {
    const here = route();
    return here.screen === "conversation" ? here : null;
  };
  const begun = () => {
    const here = route();
    return here.screen === "new" ? here : null;
  };
  return (
    <Switch>
      <Match when={conversation()}>{(here) => <ConversationScreen id={here().id} turn={here().turn} view={here().view} />}</Match>
      <Match when={begun()}>{(here) => <NewConversation project={here().project} agent={here().agent} />}</Match>
      <Match when={route().screen === "home"}><Home /></Match>
      <Match when={route().screen === "inbox"}><Inbox /></Match>
      <Match when={route().screen === "flows"}><Flows /></Match>
      <Match when={route().screen === "stats"}><Stats /></Match>
      <Match when={route().screen === "agents"}><Agents /></Match>
      <Match when={route().screen === "devices"}><Devices /></Match>
      <Match when={route().screen === "missing"}>
        <Empty title="There is nothing at this address"><Link to={{ screen: "home" }} class="button">To the conversations</Link></Empty>
      </Match>
    </Switch>
  );
}
