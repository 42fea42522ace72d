import type { JSX } from "solid-js";

const LETTERS: Record<string, string> = { claude: "C", codex: "X", gemini: "G", opencode: "O", pi: "π", qwen: "Q", openai: "A", demo: "D", demo2: "D₂" };

/** An agent as a coloured letter; its name is told to those who do not see it. */
export function AgentBadge(props: { agent: string; silent?: boolean }): JSX.Element {
  const letter = () => LETTERS[props.agent] ?? props.agent.slice(0, 1).toUpperCase();
  return (
    <span class="agent" data-agent={props.agent} title={props.agent} role={props.silent ? undefined : "img"} aria-label={props.silent ? undefined : props.agent} aria-hidden={props.silent ? "true" : undefined}>
      {letter()}
    </span>
  );
}
