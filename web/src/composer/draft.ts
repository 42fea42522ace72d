// What was typed lives until the daemon has it: over reloads, failures and other conversations.

export interface Draft {
  text: string;
  /** Given to the first attempt and every one after it, so that a prompt never becomes two turns. */
  key: string;
}

const name = (place: string) => `rejoin.draft.${place}`;

export function loadDraft(place: string): Draft {
  try {
    const kept = JSON.parse(localStorage.getItem(name(place)) ?? "null") as Draft | null;
    if (kept && typeof kept.text === "string" && typeof kept.key === "string") return kept;
  } catch {
    // Not ours, or cut: a new one.
  }
  return { text: "", key: newKey() };
}

export function keepDraft(place: string, draft: Draft): void {
  if (draft.text === "") localStorage.removeItem(name(place));
  else localStorage.setItem(name(place), JSON.stringify(draft));
}

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
