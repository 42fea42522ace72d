// Turns written into a journal as rejoin would have: thousands of them, or with words that no agent of the tests says.

import { appendFileSync, readFileSync } from "node:fs";
import { randomUUID } from "node:crypto";
import type { Daemon } from "./daemon";

interface JournalRecord {
  uuid: string;
  parentUuid: string | null;
  type: string;
  subtype?: string;
  message?: { role: string; parts: { text: string }[] };
  systemPayload?: Record<string, unknown>;
}

/** Adds turns behind the last one, each like the first of that journal but for what was asked and answered. */
export function addTurns(daemon: Daemon, conversation: string, turns: { prompt: string; answer: string }[]): void {
  const file = daemon.journal(conversation);
  const records = readFileSync(file, "utf8").trimEnd().split("\n").map((line) => JSON.parse(line) as JournalRecord);
  const first = (is: (record: JournalRecord) => boolean): JournalRecord => {
    const found = records.find(is);
    if (!found) throw new Error("the journal has no whole turn to copy");
    return found;
  };
  const user = first((record) => record.type === "user");
  const assistant = first((record) => record.type === "assistant");
  const receipt = first((record) => record.subtype === "receipt");
  let parent = records.findLast((record) => record.type === "assistant")?.uuid ?? null;
  const lines: string[] = [];
  for (const { prompt, answer } of turns) {
    const turn = randomUUID();
    const said = randomUUID();
    lines.push(
      JSON.stringify({ ...user, uuid: turn, parentUuid: parent, message: { role: "user", parts: [{ text: prompt }] } }),
      JSON.stringify({ ...assistant, uuid: said, parentUuid: turn, message: { role: "model", parts: [{ text: answer }] } }),
      JSON.stringify({ ...receipt, uuid: randomUUID(), parentUuid: turn, systemPayload: { ...receipt.systemPayload, turn } }),
    );
    parent = said;
  }
  appendFileSync(file, `${lines.join("\n")}\n`);
}
