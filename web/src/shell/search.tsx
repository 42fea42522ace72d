// One box for everything: conversations, projects, what was ever said or done, commands.

import { createEffect, createMemo, createSignal, For, on, onCleanup, Show, type JSX } from "solid-js";
import { get, Problem } from "../api/client";
import { address, go, type Route } from "../router";
import { rows } from "../state/list";
import { AgentBadge } from "../ui/agent";
import { now } from "../ui/clock";
import { Failure } from "../ui/states";
import { visible } from "../ui/visible";
import { age, baseName } from "../ui/words";

interface Hit {
  conversation: string;
  title: string;
  name?: string | null;
  turn?: string | null;
  agent?: string | null;
  time_ms: number;
  snippet: string;
  marks: [number, number][];
}

interface Result {
  key: string;
  group: string;
  title: string;
  hint?: string;
  hit?: Hit;
  to?: Route;
  act?: () => void;
}

export interface Command {
  title: string;
  act: () => void;
}

const SETTLE = 120;
const MOST = 8;

export function Search(props: { commands: Command[]; query: string; onQuery: (query: string) => void; onDone: () => void }): JSX.Element {
  const [hits, setHits] = createSignal<Hit[]>([]);
  const [problem, setProblem] = createSignal<Problem | null>(null);
  const [at, setAt] = createSignal(0);
  let asking: AbortController | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const words = () => props.query.trim().toLowerCase();
  createEffect(on(words, (query) => {
    clearTimeout(timer);
    asking?.abort();
    setAt(0);
    if (query === "") return setHits([]);
    timer = setTimeout(async () => {
      const mine = (asking = new AbortController());
      try {
        const found = await get<{ hits: Hit[] }>("/search", { q: query, limit: 30 }, mine.signal);
        setHits(found.hits);
        setProblem(null);
      } catch (error) {
        if (!mine.signal.aborted) setProblem(Problem.of(error));
      }
    }, SETTLE);
  }));
  onCleanup(() => {
    clearTimeout(timer);
    asking?.abort();
  });
  const results = createMemo((): Result[] => {
    const query = words();
    if (query === "") return [];
    const has = (text: string) => text.toLowerCase().includes(query);
    const commands = props.commands.filter((one) => has(one.title)).map((one): Result => ({ key: `command ${one.title}`, group: "Commands", title: one.title, act: one.act }));
    const projects = [...new Set(rows.flatMap((row) => row.project ?? []))].filter(has).slice(0, MOST);
    const named = rows.filter((row) => has(row.name ?? row.title)).slice(0, MOST);
    return [
      ...commands.slice(0, MOST),
      ...projects.map((path): Result => ({ key: `project ${path}`, group: "Projects", title: baseName(path), hint: path, to: { screen: "new", project: path } })),
      ...named.map((row): Result => ({ key: `conversation ${row.id}`, group: "Conversations", title: row.name ?? row.title, hint: age(row.used_ms, now()), to: { screen: "conversation", id: row.id, view: "turns" } })),
      ...hits().map((hit): Result => ({ key: `hit ${hit.conversation} ${hit.turn} ${hit.time_ms}`, group: "Said and done", title: hit.name ?? hit.title, hit, to: { screen: "conversation", id: hit.conversation, view: "turns", turn: hit.turn ?? undefined } })),
    ];
  });
  const choose = (result: Result | undefined) => {
    if (!result) return;
    props.onQuery("");
    props.onDone();
    if (result.to) go(result.to);
    result.act?.();
  };
  const key = (event: KeyboardEvent) => {
    const many = results().length;
    if (event.key === "ArrowDown" && many > 0) setAt((at() + 1) % many);
    else if (event.key === "ArrowUp" && many > 0) setAt((at() + many - 1) % many);
    else if (event.key === "Enter") choose(results()[at()]);
    else if (event.key === "Escape") {
      props.onQuery("");
      (event.currentTarget as HTMLElement).blur();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  createEffect(on(at, (now) => document.getElementById(`result-${now}`)?.scrollIntoView({ block: "nearest" })));
  return (
    <>
      <div class="search-box">
        <input id="search" type="search" class="input" aria-label="Search" placeholder="Search everything (Ctrl K)" autocomplete="off" value={props.query} onInput={(event) => props.onQuery(event.currentTarget.value)} onKeyDown={key} aria-controls={words() === "" ? undefined : "results"} aria-activedescendant={results().length > 0 ? `result-${at()}` : undefined} />
      </div>
      <Show when={words() !== ""}>
        <div class="results">
          <Show when={problem()}>{(why) => <Failure error={why()} />}</Show>
          <Show when={results().length === 0 && !problem()}><p class="quiet results-none" role="status">Nothing found</p></Show>
          <ul id="results" role="listbox" aria-label="Results">
            <For each={results()}>
              {(result, index) => (
                <>
                  <Show when={results()[index() - 1]?.group !== result.group}><li role="presentation" class="results-group">{result.group}</li></Show>
                  <li id={`result-${index()}`} role="option" aria-selected={index() === at()} class="result" onClick={() => choose(result)} onMouseMove={() => setAt(index())} title={result.to ? address(result.to) : undefined}>
                    <span class="row">
                      <Show when={result.hit?.agent}>{(agent) => <AgentBadge agent={agent()} silent />}</Show>
                      <span class="cut grow">{visible(result.title)}</span>
                      <span class="quiet small cut result-hint">{visible(result.hint ?? (result.hit ? age(result.hit.time_ms, now()) : ""))}</span>
                    </span>
                    <Show when={result.hit}>{(hit) => <Snippet hit={hit()} />}</Show>
                  </li>
                </>
              )}
            </For>
          </ul>
        </div>
      </Show>
    </>
  );
}

/** Where the words were found; places count bytes. */
function Snippet(props: { hit: Hit }): JSX.Element {
  const pieces = () => {
    const bytes = new TextEncoder().encode(props.hit.snippet);
    const text = (from: number, to: number) => visible(new TextDecoder().decode(bytes.subarray(from, to)));
    const made: { text: string; marked: boolean }[] = [];
    let end = 0;
    for (const [from, to] of props.hit.marks) {
      made.push({ text: text(end, from), marked: false }, { text: text(from, to), marked: true });
      end = to;
    }
    made.push({ text: text(end, bytes.length), marked: false });
    return made;
  };
  return <span class="result-snippet small"><For each={pieces()}>{(piece) => (piece.marked ? <mark>{piece.text}</mark> : piece.text)}</For></span>;
}
