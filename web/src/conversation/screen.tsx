// A conversation: its turns, the composer, and beside them the tree or the inspector.

import { createEffect, createSignal, Match, on, onCleanup, Show, Switch, untrack, type JSX } from "solid-js";
import { ask } from "../api/client";
import { Composer } from "../composer/composer";
import { go } from "../router";
import { refreshSoon } from "../state/list";
import { Icon } from "../ui/icon";
import { Link } from "../ui/link";
import { Empty, Failure, Loading } from "../ui/states";
import { visible } from "../ui/visible";
import { baseName, count } from "../ui/words";
import { ByBeginning, Unknown, WHOLE } from "./by_beginning";
import { retry } from "./changes";
import { Inspector } from "./inspector/inspector";
import { ConversationModel } from "./model";
import { siblingKey } from "./siblings";
import { PreviewBar, TreePanel } from "./tree/tree_panel";
import { isOver, type Turn } from "./turn";
import { Turns } from "./turns";
import "./screen.css";

type Side = { shows: "nothing" } | { shows: "tree" } | { shows: "inspector"; turn: string | null };

export function ConversationScreen(props: { id: string; turn?: string; view: "turns" | "tree" }): JSX.Element {
  return <Show when={props.id} keyed>{(id) => <Show when={WHOLE.test(id)} fallback={<ByBeginning id={id} turn={props.turn} view={props.view} />}><Opened id={id} turn={props.turn} view={props.view} /></Show>}</Show>;
}

function Opened(props: { id: string; turn?: string; view: "turns" | "tree" }): JSX.Element {
  const model = new ConversationModel(untrack(() => props.id));
  const [side, setSide] = createSignal<Side>({ shows: "nothing" });
  const [problem, setProblem] = createSignal<unknown>(null);
  onCleanup(() => model.close());
  void model.open();

  // An address may name a turn of another branch: then that path is shown.
  createEffect(on(() => [props.turn, model.state().state] as const, ([turn, state]) => {
    if (turn !== undefined && state === "ready" && model.previewed === null && model.numberOf(turn) === undefined) void model.preview(turn);
  }));
  // What is looked at is read; and again when something ends in it while it is looked at.
  const lastTurn = () => model.turns[model.count()];
  createEffect(on(() => [model.state().state, lastTurn()?.id, lastTurn()?.status] as const, ([state]) => {
    const turn = lastTurn();
    if (state !== "ready" || !turn || !isOver(turn) || document.hidden) return;
    void ask(`/conversations/${model.id}`, { method: "PATCH", body: { read: true } }).then(refreshSoon, () => {});
  }));

  const inspected = (): Turn | null => {
    const now = side();
    if (now.shows !== "inspector" || now.turn === null) return null;
    const number = model.numberOf(now.turn);
    return (number === undefined ? undefined : model.turns[number]) ?? null;
  };
  const toggle = (shows: "tree" | "inspector") => setSide((now) => (now.shows === shows ? { shows: "nothing" } : shows === "tree" ? { shows } : { shows, turn: null }));
  const key = (event: KeyboardEvent) => {
    const target = event.target as HTMLElement;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest("dialog")) return;
    if (event.key === "t") toggle("tree");
    else if (event.key === "i") toggle("inspector");
    else if (event.key === "Escape" && side().shows !== "nothing") setSide({ shows: "nothing" });
    else if (event.key === "[" || event.key === "]") {
      const near = target.closest<HTMLElement>(".turn")?.id.slice("turn-".length);
      const number = near ? model.numberOf(near) : undefined;
      const turn = number !== undefined ? model.turns[number] : lastWithSiblings(model);
      if (turn) siblingKey(model, turn, event);
      return;
    } else return;
    event.preventDefault();
  };
  document.addEventListener("keydown", key);
  onCleanup(() => document.removeEventListener("keydown", key));

  const again = async (turn: Turn) => {
    try {
      await retry(model, turn);
      setProblem(null);
    } catch (error) {
      setProblem(error);
    }
  };
  const unknown = () => {
    const now = model.state();
    return now.state === "failed" && now.why.status === 404;
  };
  const title = () => visible(model.detail()?.name ?? model.detail()?.title ?? "");
  return (
    <Switch>
      <Match when={model.state().state === "loading"}><div class="screen"><Loading lines={5} label="Loading the conversation" /></div></Match>
      <Match when={unknown()}>
        <Unknown id={props.id} />
      </Match>
      <Match when={model.state().state === "failed" && model.state()}>
        {(state) => <div class="screen"><Failure error={(state() as { why: unknown }).why} again={() => void model.open()} /></div>}
      </Match>
      <Match when={model.state().state === "gone"}>
        <Empty title="This conversation was removed"><Link to={{ screen: "home" }} class="button">To the others</Link></Empty>
      </Match>
      <Match when={model.state().state === "ready"}>
        <div class="conversation" data-side={props.view === "tree" ? "nothing" : side().shows}>
          <div class="conversation-main">
            <header class="conversation-head">
              <div class="grow">
                <h1 class="cut">{title()}</h1>
                <div class="small quiet cut">
                  {visible(baseName(model.detail()?.project ?? ""))} · {count(model.count(), "turn")}
                  <Show when={(model.detail()?.branches ?? 1) > 1}> · {count(model.detail()?.branches ?? 1, "branch", "branches")}</Show>
                </div>
              </div>
              <Show when={props.view === "turns"} fallback={<Link to={{ screen: "conversation", id: model.id, view: "turns" }} class="button"><Icon name="back" size={16} />Turns</Link>}>
                <button class="button" aria-pressed={side().shows === "tree"} onClick={() => toggle("tree")} title="Branches (T)"><Icon name="tree" size={16} /><span class="wide-only">Branches</span></button>
                <button class="button" aria-pressed={side().shows === "inspector"} onClick={() => toggle("inspector")} title="Inspector (I)"><Icon name="info" size={16} /><span class="wide-only">Details</span></button>
              </Show>
            </header>
            <Show when={problem()}>{(why) => <Failure error={why()} />}</Show>
            <Show when={props.view === "turns"} fallback={<TreePanel model={model} full />}>
              <PreviewBar model={model} />
              <Show when={model.count() > 0} fallback={<Empty title="No turns yet" />}>
                <Turns model={model} current={props.turn} onInspect={(turn) => setSide({ shows: "inspector", turn: turn.id })} onRetry={(turn) => void again(turn)} />
              </Show>
              <Composer model={model} onSent={() => { if (props.turn) go({ screen: "conversation", id: model.id, view: "turns" }); if (model.previewed !== null) void model.preview(null); }} />
            </Show>
          </div>
          <Show when={props.view === "turns" && side().shows !== "nothing"}>
            <aside class="conversation-side" aria-label={side().shows === "tree" ? "Tree" : "Inspector"}>
              <Show when={side().shows === "tree"} fallback={<Inspector model={model} turn={inspected()} onClose={() => setSide({ shows: "nothing" })} />}>
                <TreePanel model={model} full={false} onClose={() => setSide({ shows: "nothing" })} />
              </Show>
            </aside>
          </Show>
        </div>
      </Match>
    </Switch>
  );
}

function lastWithSiblings(model: ConversationModel): Turn | undefined {
  for (let number = model.count(); number > 0; number -= 1) {
    const turn = model.turns[number];
    if (turn === undefined) return undefined;
    if (turn.siblings.length > 1) return turn;
  }
  return undefined;
}
