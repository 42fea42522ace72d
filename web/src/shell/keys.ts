// Keys that work wherever nobody is typing.

import { go, route } from "../router";
import { rows } from "../state/list";

let after = "";
let afterTimer: ReturnType<typeof setTimeout> | undefined;

function typing(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName) || target.closest("dialog") !== null;
}

function step(by: number): void {
  const here = route();
  const order = [...document.querySelectorAll<HTMLAnchorElement>(".list-link")].map((link) => link.pathname.split("/")[2] ?? "");
  const ids = order.length > 0 ? order : rows.map((row) => row.id);
  const at = here.screen === "conversation" ? ids.indexOf(here.id) : -1;
  const id = ids[Math.max(0, Math.min(ids.length - 1, at + by))];
  if (id !== undefined) go({ screen: "conversation", id, view: "turns" });
}

export function handleKey(event: KeyboardEvent, acts: { help: () => void; search: () => void }): void {
  if (event.defaultPrevented) return;
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    acts.search();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
  const key = event.key.toLowerCase();
  if (after === "g") {
    after = "";
    const screens = { i: "inbox", f: "flows", s: "stats", a: "agents", d: "devices" } as const;
    const screen = screens[key as keyof typeof screens];
    if (screen) {
      event.preventDefault();
      go({ screen });
      return;
    }
  }
  const act = {
    "?": acts.help,
    "/": acts.search,
    n: () => go({ screen: "new" }),
    j: () => step(1),
    k: () => step(-1),
    p: () => document.querySelector<HTMLElement>('[aria-label="Prompt"]')?.focus(),
    g: () => {
      after = "g";
      clearTimeout(afterTimer);
      afterTimer = setTimeout(() => (after = ""), 1200);
    },
  }[key];
  if (!act) return;
  event.preventDefault();
  act();
}
