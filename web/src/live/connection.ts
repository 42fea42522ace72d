// The one stream of this browser: holds what its tabs watch, and begins anew behind the last record when it breaks.

import { SseParser } from "./sse";
import type { Connection, Envelope, FromTab, ToTab } from "./protocol";

const SILENCE = 25_000;
const FIRST_PAUSE = 300;
const LONGEST_PAUSE = 10_000;
/** Tabs come and go in bursts; the stream is begun anew once for all of them. */
const SETTLE = 20;

/** The daemon tells no changes of what is watched: lists in all tabs are told them from here. */
const CHANGES: Record<string, string> = {
  prompt: "running",
  question: "asks",
  question_answered: "running",
  question_withdrawn: "running",
  result: "idle",
  changed: "written",
  gone: "removed",
};

export interface Port {
  send(message: ToTab): void;
}

interface Watched {
  cursor: string;
  ports: Set<Port>;
}

export class StreamConnection {
  private secret: string | null = null;
  private readonly ports = new Set<Port>();
  private readonly watched = new Map<string, Watched>();
  private connection: Connection = { state: "connecting" };
  private running: AbortController | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private tries = 0;

  /** What a tab says. */
  heard(port: Port, message: FromTab): void {
    switch (message.say) {
      case "hello":
        this.ports.add(port);
        port.send({ say: "connection", connection: this.connection });
        if (message.secret !== this.secret || this.running === null) {
          this.secret = message.secret;
          this.restart();
        }
        break;
      case "watch": {
        const known = this.watched.get(message.conversation);
        if (known) known.ports.add(port);
        else this.watched.set(message.conversation, { cursor: message.cursor, ports: new Set([port]) });
        // Also for a conversation that is watched already: who comes late has not seen what is being written.
        this.restart();
        break;
      }
      case "leave":
        this.leave(port, message.conversation);
        break;
      case "retry":
        if (this.connection.state !== "open") {
          this.tries = 0;
          this.restart();
        }
        break;
    }
  }

  /** A tab is gone. */
  gone(port: Port): void {
    this.ports.delete(port);
    for (const conversation of [...this.watched.keys()]) this.leave(port, conversation);
    if (this.ports.size === 0) this.stop();
  }

  private leave(port: Port, conversation: string): void {
    const known = this.watched.get(conversation);
    known?.ports.delete(port);
    if (known && known.ports.size === 0) {
      this.watched.delete(conversation);
      // Of what is not asked for any more the stream should tell changes again.
      if (this.ports.size > 0) this.restart();
    }
  }

  private stop(): void {
    clearTimeout(this.timer);
    this.running?.abort();
    this.running = null;
  }

  private restart(pause = SETTLE): void {
    this.stop();
    this.timer = setTimeout(() => void this.run(), pause);
  }

  private tell(connection: Connection): void {
    this.connection = connection;
    for (const port of this.ports) port.send({ say: "connection", connection });
  }

  private async run(): Promise<void> {
    const abort = new AbortController();
    this.running = abort;
    if (this.connection.state !== "open") this.tell({ state: "connecting" });
    let silence: ReturnType<typeof setTimeout> | undefined;
    const heard = () => {
      clearTimeout(silence);
      silence = setTimeout(() => abort.abort(), SILENCE);
    };
    try {
      heard();
      const subs = [...this.watched].map(([id, { cursor }]) => `sub=${encodeURIComponent(`${id}@${cursor}`)}`);
      const response = await fetch(`/api/v1/stream?${subs.join("&")}`, {
        headers: this.secret === null ? {} : { "X-Rejoin-Secret": this.secret },
        signal: abort.signal,
        cache: "no-store",
      });
      if (response.status === 401 || response.status === 403) {
        this.tell({ state: "refused" });
        return;
      }
      if (!response.ok || response.body === null) throw new Error(String(response.status));
      this.tries = 0;
      this.tell({ state: "open" });
      const parser = new SseParser();
      const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        heard();
        this.deliver(parser.push(value));
      }
    } catch {
      // Told below: a broken stream is begun anew, whatever broke it.
    } finally {
      clearTimeout(silence);
    }
    // Somebody began another one meanwhile.
    if (this.running !== abort) return;
    this.tries += 1;
    const pause = Math.min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** (this.tries - 1));
    this.tell({ state: "waiting", until: Date.now() + pause, tries: this.tries });
    this.restart(pause);
  }

  private deliver(events: { id: string | null; data: string }[]): void {
    const batches = new Map<Port, Envelope[]>();
    const add = (port: Port, event: Envelope) => {
      const batch = batches.get(port);
      if (batch) batch.push(event);
      else batches.set(port, [event]);
    };
    for (const { id, data } of events) {
      let event: Envelope;
      try {
        event = JSON.parse(data) as Envelope;
      } catch {
        continue;
      }
      if (event.type === "ping") continue;
      const watched = event.conversation === undefined ? undefined : this.watched.get(event.conversation);
      if (watched && id !== null) watched.cursor = id.slice(id.indexOf("@") + 1);
      if (event.type === "change" || event.conversation === undefined) {
        for (const port of this.ports) add(port, event);
      } else {
        for (const port of watched?.ports ?? []) add(port, event);
        const what = CHANGES[event.type];
        if (what) {
          const change = { ...event, seq: undefined, type: "change", data: { what: [what] } };
          for (const port of this.ports) add(port, change);
        }
      }
    }
    for (const [port, batch] of batches) port.send({ say: "events", events: batch });
  }
}
