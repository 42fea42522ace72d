// What `/stats` counts, by day and agent, and the days that a plot has.

import { get } from "../../api/client";

/** Turns, counted. */
export interface Counts {
  conversations: number;
  turns: number;
  resumed: number;
  fresh: Record<string, number>;
  failed: number;
  cut: number;
  usage: { input: number; cached: number; output: number };
  cost: number;
  milliseconds: number;
  bytes_sent: number;
  bytes_saved: number;
}

export interface Day {
  /** As `2026-11-18`, in UTC. */
  day: string;
  counts: Counts;
  agents: Record<string, Counts>;
}

export interface Counted {
  all: Counts;
  /** One after the other, those without a turn, too. */
  days: Day[];
  /** Every agent that took a turn. */
  agents: string[];
}

interface Told {
  all: Counts;
  by?: Record<string, Counts & { by?: Record<string, Counts> }>;
}

const DAY = 86_400_000;
/** Fewer look like nothing. */
const FEWEST = 7;
/** More are thinner than a line. */
const MOST = 732;

/** How far back it is counted; `all` has no limit. */
export type Period = "7" | "30" | "90" | "365" | "all";

export async function readCounts(period: Period, project: string | undefined, signal: AbortSignal): Promise<Counted> {
  const now = Date.now();
  const today = Math.floor(now / DAY) * DAY;
  const first = period === "all" ? null : today - (Number(period) - 1) * DAY;
  // From midnight on: half a day would look like a bad one.
  const since = first === null ? undefined : `${Math.ceil((now - first) / 1000)}s`;
  const told = await get<Told>("/stats", { by: "day", then: "agent", project, since }, signal);
  return { all: told.all, days: daysOf(told.by ?? {}, first, today), agents: agentsOf(told) };
}

function agentsOf(told: Told): string[] {
  return [...new Set(Object.values(told.by ?? {}).flatMap((day) => Object.keys(day.by ?? {})))].sort();
}

/** Every day from the first to today; a turn without a day is in the sums alone. */
export function daysOf(by: NonNullable<Told["by"]>, first: number | null, today: number): Day[] {
  const known = Object.keys(by).filter((day) => !Number.isNaN(Date.parse(day))).map((day) => Date.parse(day));
  const last = Math.max(today, ...known);
  const from = Math.max(last - (MOST - 1) * DAY, Math.min(first ?? Infinity, last - (FEWEST - 1) * DAY, ...(first === null ? known : [])));
  return Array.from({ length: Math.round((last - from) / DAY) + 1 }, (_, index) => {
    const day = new Date(from + index * DAY).toISOString().slice(0, 10);
    const counted = by[day];
    return { day, counts: counted ?? NOTHING, agents: counted?.by ?? {} };
  });
}

export const NOTHING: Counts = {
  conversations: 0,
  turns: 0,
  resumed: 0,
  fresh: {},
  failed: 0,
  cut: 0,
  usage: { input: 0, cached: 0, output: 0 },
  cost: 0,
  milliseconds: 0,
  bytes_sent: 0,
  bytes_saved: 0,
};

export function freshOf(counts: Counts): number {
  return Object.values(counts.fresh).reduce((sum, many) => sum + many, 0);
}

/** What replays alone would have sent. */
export function replayOf(counts: Counts): number {
  return counts.bytes_sent + counts.bytes_saved;
}

export function perTurn(many: number, counts: Counts): number {
  return counts.turns === 0 ? 0 : Math.round(many / counts.turns);
}
