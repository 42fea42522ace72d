// The values of a flow's inputs as texts of a form, and back.

import type { FlowInput } from "./types";

/** As it would be given on a command line: a text as it is, anything else as JSON. */
function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** Whether the input takes a text as it stands; another one is read as JSON, as its default is. */
export function isText(input: FlowInput): boolean {
  return input.default === undefined || input.default === null || typeof input.default === "string";
}

/** What the field begins with. */
export function startText(input: FlowInput): string {
  return input.default === undefined || input.default === null ? "" : textOf(input.default);
}

/** The only texts it may have, if there are such. */
export function choices(input: FlowInput): string[] | null {
  if (input.one_of && input.one_of.length > 0) return input.one_of.map(textOf);
  return typeof input.default === "boolean" ? ["true", "false"] : null;
}

/** What is sent. A field that is empty and may be is left out, unless emptying it says something else than its default. */
export function valuesOf(inputs: FlowInput[], texts: Record<string, string>): Record<string, string> {
  const values: Record<string, string> = {};
  for (const input of inputs) {
    const text = texts[input.name] ?? "";
    const meansEmpty = typeof input.default === "string" && input.default !== "";
    if (text !== "" || meansEmpty) values[input.name] = text;
  }
  return values;
}
