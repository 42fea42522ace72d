// What changes what the next turn builds on. Each change names what was seen (If-Match); whoever is too late is told.

import { createSignal } from "solid-js";
import { ask, post, Problem } from "../api/client";
import type { TakenRun } from "../api/types";
import type { ConversationModel } from "./model";

/** A turn, as far as a change has to know it. */
export interface Place {
  id: string;
}

interface MovedHead {
  head?: string | null;
  turns: number;
  branch?: string | null;
}

/** What came of a change, in words, until the next one. */
export interface Said {
  text: string;
  hint?: string | null;
  bad: boolean;
  /** Takes it back. */
  undo?: () => Promise<unknown>;
}

const notes = new WeakMap<ConversationModel, ReturnType<typeof createSignal<Said | null>>>();

function noteOf(model: ConversationModel): ReturnType<typeof createSignal<Said | null>> {
  const known = notes.get(model) ?? createSignal<Said | null>(null);
  notes.set(model, known);
  return known;
}

export const said = (model: ConversationModel): Said | null => noteOf(model)[0]();
export const say = (model: ConversationModel, what: Said | null): void => void noteOf(model)[1](what);

/** Does something and says what came of it; false if it failed. */
export async function attempt(model: ConversationModel, change: () => Promise<Omit<Said, "bad"> | null>): Promise<boolean> {
  try {
    const done = await change();
    say(model, done && { ...done, bad: false });
    return true;
  } catch (error) {
    const problem = Problem.of(error);
    say(model, { text: problem.detail, hint: problem.hint, bad: true });
    return false;
  }
}

/** The same refusal in words that fit a page. */
async function inWords(model: ConversationModel, error: unknown): Promise<Problem> {
  const problem = Problem.of(error);
  if (problem.status === 412) {
    await model.open();
    return new Problem(412, problem.code, "Somebody was faster: the conversation changed meanwhile, and nothing was done.", "It was read anew: have a look, then do it again.", problem.body);
  }
  if (problem.status === 409 && problem.code === "busy") {
    return new Problem(409, problem.code, "A turn is running in this conversation, so nothing was changed.", "Wait for its end, or stop it first.", problem.body);
  }
  return problem;
}

async function change<T>(model: ConversationModel, path: "branch" | "rewind" | "edit", body: unknown): Promise<T> {
  try {
    const headers = model.etag === null ? undefined : { "If-Match": model.etag };
    const { value, etag } = await ask<T>(`/conversations/${model.id}/${path}`, { method: "POST", body, headers });
    model.etag = etag ?? model.etag;
    return value;
  } catch (error) {
    throw await inWords(model, error);
  }
}

/** Shows the path to the head, as it is now. */
async function toHead(model: ConversationModel): Promise<void> {
  if (model.previewed !== null) await model.preview(null);
  else await model.open();
}

/** Another wording of a prompt; false if it said that already. Later turns stay. */
export async function edit(model: ConversationModel, turn: Place, text: string): Promise<boolean> {
  const { changed } = await change<{ changed: boolean }>(model, "edit", { message: turn.id, text });
  await model.open();
  return changed;
}

/** Takes the head back to the end of a turn. Nothing is deleted. */
export async function rewind(model: ConversationModel, turn: Place): Promise<MovedHead> {
  const moved = await change<MovedHead>(model, "rewind", { to: turn.id });
  await toHead(model);
  return moved;
}

/** The next turn goes on behind a turn, on a branch that may have a name. */
export async function branch(model: ConversationModel, turn: Place, name?: string): Promise<MovedHead> {
  const moved = await change<MovedHead>(model, "branch", { at: turn.id, name: name || null });
  await toHead(model);
  return moved;
}

/** Moves the head to a turn; a named branch that ends there goes on under its name. */
export async function switchTo(model: ConversationModel, turn: Place): Promise<MovedHead> {
  const named = Object.entries(model.detail()?.named_branches ?? {}).find(([, end]) => end === turn.id)?.[0];
  const moved = named === undefined ? await change<MovedHead>(model, "rewind", { to: turn.id }) : await change<MovedHead>(model, "branch", { at: named });
  await toHead(model);
  return moved;
}

/** Has a turn again: one that failed goes on in its session, a completed one gets a sibling. */
export async function retry(model: ConversationModel, turn: Place, key: string = crypto.randomUUID()): Promise<TakenRun> {
  try {
    const taken = await post<TakenRun>(`/runs/${turn.id}/retry`, { conversation: model.id, interactive: true }, { "Idempotency-Key": key });
    if (model.previewed !== null) await model.preview(null);
    return taken;
  } catch (error) {
    throw await inWords(model, error);
  }
}

/** Runs other words in a turn's stead, on a branch beside it; the turn stays as it is. */
export async function runInstead(model: ConversationModel, turn: Place & { agent: string | null }, text: string, key: string): Promise<TakenRun> {
  try {
    const wanted = { conversation: model.id, prompt: text, agent: turn.agent ?? undefined, insteadOf: turn.id, interactive: true };
    const taken = await post<TakenRun>("/runs", wanted, { "Idempotency-Key": key });
    await toHead(model);
    return taken;
  } catch (error) {
    throw await inWords(model, error);
  }
}

/** Where the head stands, to take a change back to it. */
export function undoTo(model: ConversationModel): (() => Promise<unknown>) | undefined {
  const head = model.detail()?.head;
  return head ? () => switchTo(model, { id: head }) : undefined;
}
