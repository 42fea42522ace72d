// An open conversation: pages of turns around what is looked at, and what happens now.

import { batch, createSignal } from "solid-js";
import { createStore, produce } from "solid-js/store";
import { ask, Problem } from "../api/client";
import type { Conversation, TurnBody, TurnsWindow } from "../api/types";
import { watch } from "../live/live";
import type { Envelope } from "../live/protocol";
import { apply, cutToKept, newTurn, textsOf, type Texts } from "./apply";
import { fromBody, isOver, type Turn } from "./turn";
import { isTyping } from "../ui/typing";

const PAGE = 50;
/** So many pages are kept; the one that was looked at longest ago goes first. */
const MOST_PAGES = 8;
/** Between two drawings of what an agent says while somebody types, in milliseconds. */
const WHILE_TYPING = 500;

type State = { state: "loading" } | { state: "ready" } | { state: "failed"; why: Problem } | { state: "gone" };

export class ConversationModel {
  readonly state: () => State;
  private readonly setState: (state: State) => void;
  readonly detail: () => Conversation | null;
  private readonly setDetail: (detail: Conversation | null) => void;
  /** How many turns the path has. */
  readonly count: () => number;
  private readonly setCount: (count: number) => void;
  /** Turns by their number, as far as they are here. */
  readonly turns: Record<number, Turn | undefined>;
  private readonly setTurns: ReturnType<typeof createStore<Record<number, Turn | undefined>>>[1];

  private readonly pages = new Map<number, number>();
  private readonly loading = new Map<number, Promise<void>>();
  private readonly texts = new Map<string, Texts>();
  private readonly numbers = new Map<string, number>();
  /** Turns whose prompt came, and not yet where they stand. */
  private readonly unplaced = new Map<string, { turn: Turn; parent: string | null }>();
  private waiting: Envelope[] = [];
  private frame: number | undefined;
  /** When what came was drawn last, and when the next may be. */
  private drawn = 0;
  private drawAgain = 0;
  private unwatch: (() => void) | null = null;
  private generation = 0;
  private clock = 0;
  /** The tag of what was seen last, for changes. */
  etag: string | null = null;
  /** Of an address that names a turn that is not on the path to the head. */
  private at: string | null = null;

  constructor(readonly id: string) {
    [this.state, this.setState] = createSignal<State>({ state: "loading" });
    [this.detail, this.setDetail] = createSignal<Conversation | null>(null);
    [this.count, this.setCount] = createSignal(0);
    [this.turns, this.setTurns] = createStore<Record<number, Turn | undefined>>({});
  }

  /** Reads the end of the path and begins to watch; again whenever the path went another way. */
  async open(): Promise<void> {
    const generation = ++this.generation;
    const stale = () => generation !== this.generation;
    try {
      const { value: detail, etag } = await ask<Conversation>(`/conversations/${this.id}`);
      if (stale()) return;
      // Events wait until what they build on is here.
      this.unwatch?.();
      this.waiting = [];
      this.cancelFrame();
      let ready = false;
      const early: Envelope[] = [];
      this.unwatch = watch(this.id, detail.cursor, (events) => {
        if (stale()) return;
        if (ready) this.heard(events);
        else early.push(...events);
      });
      const page = await this.window({ limit: PAGE });
      if (stale()) return;
      batch(() => {
        this.forget();
        this.etag = etag;
        this.setDetail(detail);
        this.take(page.turns);
        this.setCount(page.turns.at(-1)?.number ?? 0);
        this.setState({ state: "ready" });
      });
      ready = true;
      this.heard(early);
    } catch (error) {
      if (!stale()) this.setState({ state: "failed", why: Problem.of(error) });
    }
  }

  close(): void {
    this.generation += 1;
    this.unwatch?.();
    this.unwatch = null;
    this.cancelFrame();
  }

  /** Shows the path to another turn than the head's, without changing anything. */
  async preview(turn: string | null): Promise<void> {
    if (this.at === turn) return;
    this.at = turn;
    await this.open();
  }

  get previewed(): string | null {
    return this.at;
  }

  /** Reads what stands in the conversation anew: title, head, pins. */
  async refresh(): Promise<void> {
    try {
      const { value, etag } = await ask<Conversation>(`/conversations/${this.id}`);
      this.etag = etag;
      this.setDetail(value);
    } catch {
      // It is read again with the next change.
    }
  }

  /** Makes sure that these turns are here, and drops those that were not looked at for long. */
  need(first: number, last: number): void {
    const from = Math.floor((Math.max(1, first) - 1) / PAGE);
    const to = Math.floor((Math.min(this.count(), last) - 1) / PAGE);
    for (let page = from; page <= to; page += 1) {
      this.pages.set(page, ++this.clock);
      if (this.isWhole(page) || this.loading.has(page)) continue;
      this.loading.set(page, this.load(page).finally(() => this.loading.delete(page)));
    }
    this.drop();
  }

  /** The number of a turn on this path, if that is known. */
  numberOf(turn: string): number | undefined {
    return this.numbers.get(turn);
  }

  /** One turn with all of its texts. */
  async whole(turn: Turn): Promise<void> {
    const { value } = await ask<TurnBody>(`/conversations/${this.id}/turns/${turn.id}`);
    this.put({ ...fromBody(value), number: turn.number, cut: false });
  }

  private isWhole(page: number): boolean {
    for (let number = page * PAGE + 1; number <= Math.min((page + 1) * PAGE, this.count()); number += 1) {
      if (this.turns[number] === undefined) return false;
    }
    return true;
  }

  private async load(page: number): Promise<void> {
    const generation = this.generation;
    const end = Math.min((page + 1) * PAGE, this.count());
    const behind = this.turns[end + 1]?.id;
    try {
      const query = behind ? { before: behind, limit: end - page * PAGE } : { at: String(end), limit: end - page * PAGE };
      const window = await this.window(query);
      if (generation === this.generation) batch(() => this.take(window.turns));
    } catch {
      // Asked for again when it is looked at again.
    }
  }

  private async window(query: { limit: number; before?: string; at?: string }): Promise<TurnsWindow> {
    const at = query.at ?? this.at ?? undefined;
    const { value, etag } = await ask<TurnsWindow>(`/conversations/${this.id}/turns`, { query: { ...query, at: query.before ? (this.at ?? undefined) : at } });
    this.etag = etag ?? this.etag;
    return value;
  }

  private take(bodies: TurnBody[]): void {
    for (const body of bodies) {
      this.pages.set(Math.floor((body.number - 1) / PAGE), ++this.clock);
      // What is being written here is ahead of what was read.
      const known = this.turns[body.number];
      if (known && known.id === body.id && !isOver(known) && this.texts.has(body.id)) continue;
      this.put(fromBody(body));
    }
  }

  private put(turn: Turn): void {
    this.numbers.set(turn.id, turn.number);
    if (isOver(turn)) this.texts.delete(turn.id);
    else this.texts.set(turn.id, textsOf(turn));
    this.setTurns(turn.number, turn);
  }

  private forget(): void {
    this.pages.clear();
    this.texts.clear();
    this.numbers.clear();
    this.unplaced.clear();
    this.setTurns(produce((turns) => {
      for (const number of Object.keys(turns)) delete turns[Number(number)];
    }));
  }

  private drop(): void {
    const last = Math.floor((this.count() - 1) / PAGE);
    const old = [...this.pages].filter(([page]) => page !== last).sort((a, b) => a[1] - b[1]);
    while (this.pages.size > MOST_PAGES && old.length > 0) {
      const [page] = old.shift() as [number, number];
      this.pages.delete(page);
      this.setTurns(produce((turns) => {
        for (let number = page * PAGE + 1; number <= (page + 1) * PAGE; number += 1) {
          const turn = turns[number];
          if (turn) this.numbers.delete(turn.id);
          delete turns[number];
        }
      }));
    }
  }

  private heard(events: Envelope[]): void {
    this.waiting.push(...events);
    if (this.frame !== undefined || this.waiting.length === 0) return;
    // A page that is not seen gets no frames; one that takes long to draw leaves time in between, for keys above all.
    const again = isTyping() ? Math.max(this.drawAgain, this.drawn + WHILE_TYPING) : this.drawAgain;
    const wait = document.hidden ? 100 : again - performance.now();
    this.frame = wait > 16 ? window.setTimeout(() => this.flush(), wait) : requestAnimationFrame(() => this.flush());
  }

  private cancelFrame(): void {
    if (this.frame === undefined) return;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.frame);
    this.frame = undefined;
  }

  private flush(): void {
    this.frame = undefined;
    const events = this.waiting;
    this.waiting = [];
    const begun = performance.now();
    batch(() => {
      for (const event of events) {
        if (!this.one(event)) {
          // The path went another way: it is read anew, and what comes then is behind that.
          void this.open();
          return;
        }
      }
    });
    this.drawn = performance.now();
    this.drawAgain = this.drawn + 2 * (this.drawn - begun);
  }

  /** False if the path has to be read anew. */
  private one(event: Envelope): boolean {
    switch (event.type) {
      case "hello":
        if (event.data["reset"] !== undefined) return false;
        for (const [turn, texts] of this.texts) this.change(turn, (draft) => cutToKept(draft, texts));
        return true;
      case "ready":
        for (const turn of this.texts.keys()) void this.settle(turn).catch(() => {}); // It is asked again with the next stream.
        return true;
      case "gone":
        this.setState({ state: "gone" });
        return true;
      case "changed": {
        const what = event.data["what"];
        if (what === "head" || what === "amendment") return this.at !== null;
        void this.refresh();
        return true;
      }
      case "prompt": {
        const turn = newTurn(event);
        if (!this.numbers.has(turn.id)) this.unplaced.set(turn.id, { turn, parent: (event.data["parent"] as string | undefined) ?? null });
        return true;
      }
    }
    const turn = event.turn;
    if (turn === undefined) return true;
    if (event.type === "init" && !this.numbers.has(turn)) return this.place(turn, event.data["number"] as number, event);
    const texts = this.texts.get(turn);
    if (texts) this.change(turn, (draft) => apply(draft, texts, event));
    if (event.type === "result") {
      this.texts.delete(turn);
      void this.refresh();
    }
    return true;
  }

  /** A turn that a daemon was killed in ends without an event: who has a new stream asks whether it goes on. */
  private async settle(id: string): Promise<void> {
    const generation = this.generation;
    const { value } = await ask<TurnBody>(`/conversations/${this.id}/turns/${id}`);
    const number = this.numbers.get(id);
    if (generation !== this.generation || number === undefined || !this.texts.has(id)) return;
    const turn = { ...fromBody(value), number, cut: false };
    if (isOver(turn)) batch(() => this.put(turn));
  }

  private place(id: string, number: number, event: Envelope): boolean {
    const known = this.unplaced.get(id);
    this.unplaced.delete(id);
    // Somebody looks at another path: what happens on the head's is not on it.
    if (this.at !== null) return true;
    if (!known) return false;
    const before = this.turns[number - 1];
    const follows = number === 1 ? known.parent === null : known.parent !== null && before?.messages.includes(known.parent) === true;
    if (!follows) return false;
    for (let later = number; later <= this.count(); later += 1) {
      const turn = this.turns[later];
      if (turn) this.numbers.delete(turn.id);
      this.setTurns(later, undefined);
    }
    const texts: Texts = new Map();
    apply(known.turn, texts, event);
    this.put(known.turn);
    this.setCount(number);
    void this.refresh();
    return true;
  }

  private change(id: string, how: (draft: Turn) => void): void {
    const number = this.numbers.get(id);
    if (number === undefined || this.turns[number] === undefined) return;
    this.setTurns(number, produce((turn) => {
      if (turn) how(turn);
    }));
  }
}
