// What tabs and the one who holds the stream for all of them say to each other.

/** An event of a conversation, as docs/events.md has it. */
export interface Envelope {
  v: number;
  conversation?: string;
  /** Where its record ends in the journal; absent on what is not (yet) there. */
  seq?: number;
  run?: string;
  turn?: string;
  time: string;
  type: string;
  data: Record<string, unknown>;
}

/** How the connection stands. */
export type Connection =
  | { state: "connecting" }
  | { state: "open" }
  | { state: "waiting"; until: number; tries: number }
  | { state: "refused" };

export type FromTab =
  | { say: "hello"; tab: string; secret: string | null }
  | { say: "watch"; conversation: string; cursor: string }
  | { say: "leave"; conversation: string }
  | { say: "retry" };

export type ToTab =
  | { say: "connection"; connection: Connection }
  | { say: "events"; events: Envelope[] };
