// A canvas knows no custom properties: the colours of the theme as they are now.

export function colour(place: HTMLElement, token: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${token})`;
  place.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}

/** Calls when the system goes from light to dark, or back. */
export function onSchemeChange(call: () => void): () => void {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", call);
  return () => dark.removeEventListener("change", call);
}

const AGENTS = ["claude", "codex", "gemini", "opencode", "pi", "qwen", "openai", "demo", "demo2"];

/** The token of an agent's colour. */
export function agentColour(agent: string): string {
  return `--agent-${AGENTS.includes(agent) ? agent : "openai"}`;
}
