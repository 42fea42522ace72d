// Numbers, sizes, times and decisions in words. One wording for each, on every screen.

import type { Decision } from "../api/types";

export function bytes(count: number): string {
  if (count < 1000) return `${count} bytes`;
  const units = ["KB", "MB", "GB", "TB"];
  let value = count;
  let unit = -1;
  while (value >= 1000 && unit < units.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function count(many: number, one: string, several = `${one}s`): string {
  return `${many.toLocaleString("en")} ${many === 1 ? one : several}`;
}

export function tokens(many: number): string {
  if (many < 10_000) return many.toLocaleString("en");
  return many < 1_000_000 ? `${(many / 1000).toFixed(many < 100_000 ? 1 : 0)}k` : `${(many / 1_000_000).toFixed(1)}M`;
}

export function cost(dollars: number): string {
  return dollars < 0.01 && dollars > 0 ? `$${dollars.toFixed(4)}` : `$${dollars.toFixed(2)}`;
}

export function seconds(milliseconds: number): string {
  if (milliseconds < 1000) return `${(milliseconds / 1000).toFixed(2)} s`;
  if (milliseconds < 60_000) return `${(milliseconds / 1000).toFixed(1)} s`;
  const minutes = Math.floor(milliseconds / 60_000);
  return `${minutes} min ${Math.round((milliseconds % 60_000) / 1000)} s`;
}

export function age(ms: number, now: number): string {
  const past = Math.max(0, now - ms);
  const steps: [number, string][] = [
    [60_000, "now"],
    [3_600_000, `${Math.floor(past / 60_000)}m`],
    [86_400_000, `${Math.floor(past / 3_600_000)}h`],
    [604_800_000, `${Math.floor(past / 86_400_000)}d`],
    [31_536_000_000, `${Math.floor(past / 604_800_000)}w`],
  ];
  return steps.find(([limit]) => past < limit)?.[1] ?? `${Math.floor(past / 31_536_000_000)}y`;
}

export function when(time: string | number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}

export function short(id: string): string {
  return id.slice(0, 8);
}

/** The last part of a path, which is what people call a project. */
export function baseName(path: string): string {
  return path.split("/").filter(Boolean).at(-1) ?? path;
}

const REASONS: Record<string, string> = {
  first_turn: "first turn",
  forced: "forced",
  ephemeral: "ephemeral",
  disabled: "resuming is turned off",
  no_session: "no session of this agent here yet",
  unsupported: "this agent cannot resume",
  history_changed: "history changed",
  workdir_changed: "working directory changed",
  runtime_changed: "another program",
  store_changed: "its sessions are kept elsewhere now",
  host_changed: "another machine",
  scope_changed: "scope changed",
  session_missing: "its session is gone",
  session_unconfirmed: "its session was never confirmed",
  session_retired: "its session was retired",
  session_rejected: "the agent refused its session",
};

export function reason(name: string): string {
  return REASONS[name] ?? name.replaceAll("_", " ");
}

/** The sign of a decision: it remembered, it was told, it was on its own. */
export function decisionMark(plan: Decision): string {
  return { resume: "●", fresh: "○", adopted: "◇" }[plan.decision];
}

/** What was decided, in a line; `tense` says whether it is still to come. */
export function decision(plan: Decision, tense: "done" | "running" | "would" = "done"): string {
  if (plan.decision === "resume") {
    const verb = { done: "resumed", running: "resuming", would: "would resume" }[tense];
    const told = plan.catch_up > 0 ? `, told ${count(plan.catch_up, "turn")}` : "";
    return `${verb} ${plan.session.slice(0, 8)}${told}`;
  }
  if (plan.decision === "adopted") {
    return `in its own session ${plan.session.slice(0, 8)}`;
  }
  return `${tense === "would" ? "would begin fresh" : "fresh"}: ${reason(plan.reason)}`;
}

const GUARDS: Record<string, string> = {
  in_use: "Session in use",
  same_program: "Same program",
  same_home: "Same home",
  same_store: "Same session store",
  same_directory: "Same directory",
  same_scope: "Same scope",
  history_unchanged: "History unchanged",
  still_stored: "Still stored",
};

export function guard(name: string): string {
  return GUARDS[name] ?? name.replaceAll("_", " ");
}
