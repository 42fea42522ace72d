// A turn as it is shown, made from what the daemon read of the journal.

import type { Attachment, Decision, Question, Receipt, TurnBody, TurnStatus } from "../api/types";

export type CallState = "running" | "done" | "failed" | "cancelled";

export interface TextItem {
  kind: "text" | "thinking";
  /** The message it belongs to. */
  message: string;
  text: string;
}

export interface CallItem {
  kind: "call";
  message: string;
  id: string;
  name: string;
  input: unknown;
  output: string | null;
  state: CallState;
  /** Calls of a subagent, inside of this one. */
  inside: CallItem[];
}

export interface NoticeItem {
  kind: "notice";
  message: string;
  text: string;
}

export type Item = TextItem | CallItem | NoticeItem;

export interface Turn {
  id: string;
  number: number;
  agent: string | null;
  status: TurnStatus;
  started: string;
  prompt: string;
  /** The first wording of the prompt, if that was edited. */
  original: string | null;
  revision: number;
  attachments: Attachment[];
  items: Item[];
  plan: Decision | null;
  /** Bytes sent, as soon as they are known. */
  sent: number | null;
  receipt: Receipt | null;
  questions: Question[];
  siblings: string[];
  /** Its texts are shown only in part. */
  cut: boolean;
  /** The messages in it, by which the next turn names it as its parent. */
  messages: string[];
}

export const isOver = (turn: Turn): boolean => turn.status !== "running" && turn.status !== "waiting";

/** Windows of turns cut texts behind so many bytes. */
const CUT = 16 << 10;

interface Part {
  text?: string;
  thought?: boolean;
  functionCall?: { id: string; name: string; args: unknown };
  functionResponse?: { id: string; name?: string; response: { output: string; error?: boolean } };
}

function callState(body: TurnBody, id: string, answered: boolean, failed: boolean): CallState {
  const note = body.tool_calls.find((call) => call.id === id);
  if (note?.status === "cancelled") return "cancelled";
  if (note?.status === "error" || failed) return "failed";
  if (answered || note?.status === "success") return "done";
  return body.status === "running" || body.status === "waiting" ? "running" : "cancelled";
}

/** Puts a call where it happened: into the call of the subagent that made it, or into the turn. */
export function placeCall(items: Item[], call: CallItem, parent: string | null | undefined): void {
  const above = parent ? findCall(items, parent) : undefined;
  const list: Item[] = above ? above.inside : items;
  if (!list.some((item) => item.kind === "call" && item.id === call.id)) list.push(call);
}

export function findCall(items: readonly Item[], id: string): CallItem | undefined {
  for (const item of items) {
    if (item.kind !== "call") continue;
    if (item.id === id) return item;
    const inside = findCall(item.inside, id);
    if (inside) return inside;
  }
  return undefined;
}

function noteOf(body: TurnBody, id: string): { parent?: string | null } | undefined {
  for (const call of body.tool_calls) {
    if (call.id === id) return call;
    const inside = call.inside?.find((one) => one.id === id);
    if (inside) return { parent: inside.parent ?? call.id };
  }
  return undefined;
}

export function fromBody(body: TurnBody): Turn {
  const items: Item[] = [];
  let prompt = "";
  let original: string | null = null;
  let longest = 0;
  for (const message of body.messages) {
    const before = (message as { original?: Part[] }).original;
    if (before && message.type === "user") original = before.map((part) => part.text ?? "").join("");
    for (const part of message.parts as Part[]) {
      if (part.text !== undefined) {
        longest = Math.max(longest, part.text.length);
        if (message.type === "user") {
          prompt += part.text;
          continue;
        }
        const kind = part.thought ? "thinking" : "text";
        const last = items.at(-1);
        if (last?.kind === kind && last.message === message.id) last.text += part.text;
        else if (part.text !== "") items.push({ kind, message: message.id, text: part.text });
      } else if (part.functionCall) {
        const { id, name, args } = part.functionCall;
        const call: CallItem = { kind: "call", message: message.id, id, name, input: args, output: null, state: callState(body, id, false, false), inside: [] };
        placeCall(items, call, noteOf(body, id)?.parent);
      } else if (part.functionResponse) {
        const { id, response } = part.functionResponse;
        longest = Math.max(longest, response.output.length);
        const call = findCall(items, id);
        if (call) {
          call.output = response.output;
          call.state = callState(body, id, true, response.error === true);
        }
      }
    }
  }
  return {
    id: body.id,
    number: body.number,
    agent: body.agent ?? null,
    status: body.status,
    started: body.started,
    prompt,
    original,
    revision: body.revision,
    attachments: body.receipt?.attachments ?? [],
    items,
    plan: body.receipt?.plan ?? null,
    sent: body.receipt?.bytes ?? null,
    receipt: body.receipt ?? null,
    questions: body.questions ?? [],
    siblings: body.siblings ?? [],
    // Characters are at most as many as bytes.
    cut: longest * 3 >= CUT && longest >= CUT / 4,
    messages: body.messages.map((message) => message.id),
  };
}
