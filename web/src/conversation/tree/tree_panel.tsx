// All branches of a conversation as a graph: beside the turns, or as a view of its own.

import { createEffect, createMemo, createSignal, Match, on, onCleanup, Show, Switch, type JSX } from "solid-js";
import { VList, type VListHandle } from "virtua/solid";
import { ask } from "../../api/client";
import type { TurnBody } from "../../api/types";
import { go } from "../../router";
import { debounced } from "../../state/loaded";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { Empty, Failure, Loading } from "../../ui/states";
import { count } from "../../ui/words";
import { BranchDialog } from "../branch_dialog";
import { attempt } from "../changes";
import { EditPrompt } from "../edit_prompt";
import type { ConversationModel } from "../model";
import { fromBody, type Turn } from "../turn";
import { retryTurn, rewindTo, switchHead, copyLink } from "../turn_acts";
import { ChangeNote, PreviewBar, previewedTurn } from "./preview_bar";
import { keepRows, railsOf, readTree, type Row } from "./rows";
import { TreeRow } from "./tree_row";
import "./tree.css";

export { PreviewBar };

/** Changes come in bursts; keys may be held down. */
const SETTLE = 250;
const BROWSE = 160;

export function TreePanel(props: { model: ConversationModel; full: boolean; onClose?: () => void }): JSX.Element {
  const [rows, setRows] = createSignal<Row[] | null>(null);
  const [failure, setFailure] = createSignal<unknown>(null);
  const [active, setActive] = createSignal<string | null>(null);
  const [edited, setEdited] = createSignal<Turn | null>(null);
  const [branched, setBranched] = createSignal<string | null>(null);
  let list: VListHandle | undefined;
  let reading: AbortController | undefined;
  let box: HTMLElement | undefined;

  const read = async () => {
    reading?.abort();
    const mine = (reading = new AbortController());
    try {
      const now = await readTree(props.model.id, mine.signal);
      if (mine.signal.aborted) return;
      const first = rows() === null;
      setRows(keepRows(rows() ?? [], now));
      setFailure(null);
      if (first) queueMicrotask(() => show(selected(), "center"));
    } catch (error) {
      if (!mine.signal.aborted) setFailure(error);
    }
  };
  const soon = debounced(() => void read(), SETTLE);
  void read();
  // Whatever changes the tree changes one of these.
  createEffect(on(() => [props.model.count(), props.model.detail()?.etag, props.model.detail()?.turns, lastStatus()], soon, { defer: true }));
  onCleanup(() => {
    soon.cancel();
    clearTimeout(browsing);
    reading?.abort();
  });

  function lastStatus(): string | undefined {
    return props.model.turns[props.model.count()]?.status;
  }
  const places = createMemo(() => new Map((rows() ?? []).map((row, at) => [row.turn, at])));
  const rails = createMemo(() => railsOf(rows() ?? [], props.full ? 16 : 7));
  const columns = createMemo(() => rails().reduce((most, one) => Math.max(most, one.column + 1), 1));
  const head = () => rows()?.find((row) => row.is_head)?.turn ?? null;
  const selected = () => previewedTurn(props.model) ?? head();
  const activeTurn = () => active() ?? selected();
  const activeAt = () => places().get(activeTurn() ?? "") ?? -1;

  const show = (turn: string | null, align: "nearest" | "center" = "nearest") => {
    const at = places().get(turn ?? "");
    if (at !== undefined) list?.scrollToIndex(at, { align });
  };
  let browsing: ReturnType<typeof setTimeout> | undefined;
  const preview = (turn: string) => void props.model.preview(turn === head() ? null : turn);
  const move = (at: number) => {
    const all = rows() ?? [];
    const row = all[Math.max(0, Math.min(all.length - 1, at))];
    if (!row) return;
    setActive(row.turn);
    show(row.turn);
    clearTimeout(browsing);
    browsing = setTimeout(() => preview(row.turn), BROWSE);
  };
  const enter = async (turn: string) => {
    clearTimeout(browsing);
    if (turn !== head()) {
      if (await switchHead(props.model, { id: turn })) setActive(null);
    } else await props.model.preview(null);
  };
  const edit = (row: Row) => attempt(props.model, async () => {
    const { value } = await ask<TurnBody>(`/conversations/${props.model.id}/turns/${row.turn}`);
    setEdited(fromBody(value));
    return null;
  });
  const acts = {
    switch: (row: Row) => void enter(row.turn),
    edit: (row: Row) => void edit(row),
    retry: (row: Row) => void retryTurn(props.model, { id: row.turn }),
    branch: (row: Row) => setBranched(row.turn),
    rewind: (row: Row) => void rewindTo(props.model, { id: row.turn }),
    link: (row: Row) => void copyLink(props.model, { id: row.turn }),
    open: (row: Row) => {
      preview(row.turn);
      go({ screen: "conversation", id: props.model.id, view: "turns", turn: row.turn });
    },
  };
  const key = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target !== box) return;
    const all = rows() ?? [];
    const at = activeAt();
    const row = all[at];
    const page = Math.max(1, Math.floor((list?.viewportSize ?? 400) / 36) - 1);
    switch (event.key) {
      case "ArrowDown": move(at + 1); break;
      case "ArrowUp": move(at - 1); break;
      case "PageDown": move(at + page); break;
      case "PageUp": move(at - page); break;
      case "Home": move(0); break;
      case "End": move(all.length - 1); break;
      case "ArrowLeft": if (row?.parent) move(places().get(row.parent) ?? at); break;
      case "ArrowRight": {
        const child = all.findIndex((one) => one.parent === row?.turn);
        if (child >= 0) move(child);
        break;
      }
      case "Enter": if (row) void enter(row.turn); break;
      case "ContextMenu":
      case "m": document.getElementById(`branch-${row?.turn}`)?.querySelector<HTMLElement>("[aria-haspopup]")?.click(); break;
      case "Escape":
        if (previewedTurn(props.model) === null) return;
        clearTimeout(browsing);
        setActive(null);
        void props.model.preview(null);
        break;
      default: return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <section class="tree" data-full={props.full} aria-label="All branches">
      <header class="tree-head">
        <h2 class="grow">Branches</h2>
        <Show when={rows()}>{(all) => <span class="small quiet number">{count(all().length, "turn")}</span>}</Show>
        <Show when={!props.full}>
          <Link to={{ screen: "conversation", id: props.model.id, view: "tree" }} class="button plain small">Full view</Link>
        </Show>
        <Show when={props.onClose}>{(close) => <button class="icon-button" aria-label="Close the branches" onClick={() => close()()}><Icon name="close" /></button>}</Show>
      </header>
      <div class="tree-notes" data-full={props.full}>
        <Show when={props.full} fallback={<ChangeNote model={props.model} />}><PreviewBar model={props.model} link /></Show>
      </div>
      <Show when={failure() && rows() !== null}><Failure error={failure()} again={() => void read()} label="The tree could not be read anew" /></Show>
      <Switch>
        <Match when={rows() === null && failure()}>{(error) => <Failure error={error()} again={() => void read()} />}</Match>
        <Match when={rows() === null}><div class="tree-loading"><Loading lines={6} label="Loading the branches" /></div></Match>
        <Match when={rows()?.length === 0}><Empty title="No turns yet">The first one begins the tree.</Empty></Match>
        <Match when={rows()}>
          {(all) => (
            <>
              <Show when={props.full}><ColumnNames columns={columns()} /></Show>
              <div class="tree-box" role="tree" aria-label="Branches" tabindex="0" aria-activedescendant={activeAt() >= 0 ? `branch-${activeTurn()}` : undefined} ref={(element) => (box = element)} onKeyDown={key} style={{ "--columns": columns() }}>
                <VList class="tree-list" data={all()} itemSize={36} bufferSize={360} keepMounted={activeAt() >= 0 ? [activeAt()] : []} ref={(handle) => (list = handle)}>
                  {(row, at) => (
                    <TreeRow
                      row={row}
                      rails={rails()[at()]}
                      full={props.full}
                      at={at()}
                      of={all().length}
                      active={activeTurn() === row.turn}
                      selected={selected() === row.turn}
                      onPreview={() => { setActive(row.turn); clearTimeout(browsing); preview(row.turn); box?.focus({ preventScroll: true }); }}
                      acts={acts}
                    />
                  )}
                </VList>
              </div>
              <p class="tree-help small quiet"><kbd>↑</kbd> <kbd>↓</kbd> preview · <kbd>Enter</kbd> switch · <kbd>M</kbd> more</p>
            </>
          )}
        </Match>
      </Switch>
      <Show when={edited()}>
        {(turn) => <Dialog label="Edit the prompt" onClose={() => setEdited(null)}><EditPrompt model={props.model} turn={turn()} onClose={() => setEdited(null)} /></Dialog>}
      </Show>
      <Show when={branched()}>{(turn) => <BranchDialog model={props.model} turn={{ id: turn() }} onClose={() => setBranched(null)} />}</Show>
    </section>
  );
}

function ColumnNames(props: { columns: number }): JSX.Element {
  return (
    <div class="tree-row tree-names small quiet" aria-hidden="true" style={{ "--columns": props.columns }}>
      <span class="tree-rails" />
      <span class="tree-title">Turn</span>
      <span class="tree-decision">Decision</span>
      <span class="tree-tokens number">Tokens</span>
      <span class="tree-time">Started</span>
      <span class="tree-more" />
    </div>
  );
}
