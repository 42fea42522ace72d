// What was typed lives until the daemon has it: over reloads, failures and other conversations.

export interface Draft {
  text: string;
  /** Given to the first attempt and every one after it, so that a prompt never becomes two turns. */
  key: string;
}

const name = (place: string) => `rejoin.draft.${place}`;

export function loadDraft(place: string): Draft {
  writeDrafts();
  try {
    const kept = JSON.parse(localStorage.getItem(name(place)) ?? "null") as Draft | null;
    if (kept && typeof kept.text === "string" && typeof kept.key === "string") return kept;
  } catch {
    // Not ours, or cut: a new one.
  }
  return { text: "", key: newKey() };
}

/** Keys come faster than a disk has to know of them: milliseconds until what was typed is written down. */
const SETTLE = 250;
const unwritten = new Map<string, Draft>();
let timer: ReturnType<typeof setTimeout> | undefined;

/** Writes down what was typed just now. */
export function writeDrafts(): void {
  clearTimeout(timer);
  timer = undefined;
  for (const [place, draft] of unwritten) {
    if (draft.text === "") localStorage.removeItem(name(place));
    else localStorage.setItem(name(place), JSON.stringify(draft));
  }
  unwritten.clear();
}
// Who leaves, reloads or looks at another tab may not come back to this one.
addEventListener("pagehide", writeDrafts);
document.addEventListener("visibilitychange", writeDrafts);

export function keepDraft(place: string, draft: Draft): void {
  unwritten.set(place, draft);
  // What was sent must not be there again, whatever happens next.
  if (draft.text === "") writeDrafts();
  else timer ??= setTimeout(writeDrafts, SETTLE);
}

export function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
