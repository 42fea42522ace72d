// What an event does to the turn it is about. Everything may come twice; nothing is drawn twice.

import type { Attachment, Decision, Question, Receipt } from "../api/types";
import { DrawnText } from "../live/drawn_text";
import type { Envelope } from "../live/protocol";
import { findCall, placeCall, type Item, type TextItem, type Turn } from "./turn";

/** The texts of a turn that is being written, by kind and message. */
export type Texts = Map<string, DrawnText>;

export function newTurn(event: Envelope): Turn {
  const data = event.data as { turn: string; text: string; attachments?: Attachment[] };
  return {
    id: data.turn,
    number: 0,
    agent: null,
    status: "running",
    started: event.time,
    prompt: data.text,
    original: null,
    revision: 0,
    attachments: data.attachments ?? [],
    items: [],
    plan: null,
    sent: null,
    receipt: null,
    questions: [],
    siblings: [],
    cut: false,
    messages: [data.turn],
  };
}

/** The texts of a turn that was read from the journal, to be written on. */
export function textsOf(turn: Turn): Texts {
  const texts: Texts = new Map();
  for (const item of turn.items) if (item.kind === "text") texts.set(item.message, DrawnText.of(item.text));
  return texts;
}

function textItem(items: Item[], kind: TextItem["kind"], message: string): TextItem {
  const known = items.find((item): item is TextItem => item.kind === kind && item.message === message);
  if (known) return known;
  items.push({ kind, message, text: "" });
  // A store hands out another object than was put into it.
  return items[items.length - 1] as TextItem;
}

/** Changes `turn` (a draft of a store). */
export function apply(turn: Turn, texts: Texts, event: Envelope): void {
  const durable = event.seq !== undefined;
  const data = event.data;
  const message = typeof data["message"] === "string" ? data["message"] : "";
  if (message !== "" && !turn.messages.includes(message)) turn.messages.push(message);
  switch (event.type) {
    case "init":
      turn.number = data["number"] as number;
      turn.agent = data["agent"] as string;
      turn.plan = data["plan"] as Decision;
      turn.sent = data["bytes"] as number;
      break;
    case "text_delta":
    case "message":
    case "partial": {
      const text = data["text"] as string;
      const drawn = texts.get(message) ?? new DrawnText();
      texts.set(message, drawn);
      if (event.type === "text_delta") drawn.put(data["offset"] as number, text, durable);
      else drawn.set(data["offset"] as number, text, durable);
      if (drawn.text !== "" || turn.items.some((item) => item.kind === "text" && item.message === message)) {
        textItem(turn.items, "text", message).text = drawn.text;
      }
      break;
    }
    case "thinking": {
      // Thinking has no offsets: what was read from the journal already is not written again.
      const item = textItem(turn.items, "thinking", message);
      const text = data["text"] as string;
      const seen = texts.get(`thinking ${message}`);
      if (seen === undefined && item.text !== "" && item.text.includes(text)) break;
      texts.set(`thinking ${message}`, seen ?? new DrawnText());
      item.text += text;
      break;
    }
    case "tool_use":
      placeCall(
        turn.items,
        { kind: "call", message, id: data["id"] as string, name: data["name"] as string, input: data["input"], output: null, state: "running", inside: [] },
        data["parent"] as string | undefined,
      );
      break;
    case "tool_result": {
      const call = findCall(turn.items, data["id"] as string);
      if (call) {
        call.output = data["output"] as string;
        call.state = data["error"] ? "failed" : "done";
      }
      break;
    }
    case "question": {
      const question = { ...data, state: "open" } as unknown as Question;
      if (!turn.questions.some((known) => known.id === question.id)) turn.questions.push(question);
      turn.status = "waiting";
      break;
    }
    case "question_answered":
    case "question_withdrawn": {
      const question = turn.questions.find((known) => known.id === data["question"]);
      if (question) {
        question.state = event.type === "question_answered" ? "answered" : "withdrawn";
        if (event.type === "question_answered") question.answer = data as unknown as Question["answer"];
      }
      if (turn.status === "waiting" && !turn.questions.some((known) => known.state === "open")) turn.status = "running";
      break;
    }
    case "warning":
    case "compaction":
    case "resume_rejected":
      notice(turn, event);
      break;
    case "result": {
      const receipt = data as unknown as Receipt;
      turn.receipt = receipt;
      turn.plan = receipt.plan;
      turn.sent = receipt.bytes;
      turn.agent = receipt.agent;
      turn.status = receipt.outcome;
      closeCalls(turn.items);
      for (const question of turn.questions) if (question.state === "open") question.state = "lost";
      break;
    }
  }
}

function notice(turn: Turn, event: Envelope): void {
  const id = `${event.type} ${event.seq ?? event.time}`;
  if (turn.items.some((item) => item.kind === "notice" && item.message === id)) return;
  const text = event.data["text"] as string;
  const words = event.type === "resume_rejected" ? `The agent would not resume its session: ${text}` : text;
  turn.items.push({ kind: "notice", message: id, text: words });
}

function closeCalls(items: Item[]): void {
  for (const item of items) {
    if (item.kind !== "call") continue;
    if (item.state === "running") item.state = "cancelled";
    closeCalls(item.inside);
  }
}

/** `hello`: what nobody kept may be gone. */
export function cutToKept(turn: Turn, texts: Texts): void {
  for (const [message, drawn] of texts) {
    drawn.cutToKept();
    const item = turn.items.find((known): known is TextItem => known.kind === "text" && known.message === message);
    if (item) item.text = drawn.text;
  }
}
