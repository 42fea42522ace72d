// One turn: what was asked, why the agent remembered, what it did and said, what that cost.

import { createSignal, For, Match, Show, Switch, type JSX } from "solid-js";
import { Markdown } from "../markdown/markdown";
import { AgentBadge } from "../ui/agent";
import { DecisionLine } from "../ui/decision";
import { Icon } from "../ui/icon";
import { visible } from "../ui/visible";
import { bytes, cost, seconds, tokens, when } from "../ui/words";
import { AskedInline } from "./asked_inline";
import { Call } from "./call";
import { EditPrompt } from "./edit_prompt";
import { isUnfolded, rememberFold } from "./folds";
import type { ConversationModel } from "./model";
import { Siblings } from "./siblings";
import { isOver, type Item, type Turn } from "./turn";
import { TurnActions } from "./turn_actions";
import { Wordings } from "./wordings";
import "./turn_card.css";

export function TurnCard(props: { model: ConversationModel; turn: Turn; current: boolean; onInspect: () => void; onRetry: () => void }): JSX.Element {
  const [editing, setEditing] = createSignal(false);
  const over = () => isOver(props.turn);
  const saved = (): number | undefined => {
    const whole = props.turn.receipt?.replay_bytes;
    return whole != null && props.turn.sent != null ? whole - props.turn.sent : undefined;
  };
  return (
    <article class="turn" id={`turn-${props.turn.id}`} aria-label={`Turn ${props.turn.number}`} data-status={props.turn.status} data-current={props.current}>
      <header class="turn-head">
        <span class="quiet number small">{props.turn.number}</span>
        <time class="quiet small" datetime={props.turn.started}>{when(props.turn.started)}</time>
        <Siblings model={props.model} turn={props.turn} />
        <span class="grow" />
        <TurnActions model={props.model} turn={props.turn} onEdit={() => setEditing(true)} />
      </header>
      <Show when={!editing()} fallback={<EditPrompt model={props.model} turn={props.turn} onClose={() => setEditing(false)} />}>
        <div class="prompt">
          <div class="prompt-text">{visible(props.turn.prompt)}</div>
          <Show when={props.turn.attachments.length > 0}>
            <ul class="prompt-files">
              <For each={props.turn.attachments}>{(file) => <li class="tag"><Icon name="attach" size={12} />{visible(file.name)} · {bytes(file.size)}</li>}</For>
            </ul>
          </Show>
          <Wordings turn={props.turn} />
        </div>
      </Show>
      <div class="answer">
        <div class="answer-head">
          <Show when={props.turn.agent}>{(agent) => <><AgentBadge agent={agent()} silent /><span class="answer-agent">{agent()}</span></>}</Show>
          <Show when={props.turn.plan} fallback={<Show when={!over()}><span class="quiet small">starting…</span></Show>}>
            {(plan) => (
              <button class="decision-button" onClick={() => props.onInspect()} title="Receipt and guards">
                <DecisionLine plan={plan()} tense={over() ? "done" : "running"} sent={props.turn.sent ?? undefined} saved={saved()} />
              </button>
            )}
          </Show>
        </div>
        <For each={props.turn.items}>{(item) => <Piece turn={props.turn.id} item={item} finished={over()} />}</For>
        <For each={props.turn.questions}>
          {(question) => (
            <Switch>
              <Match when={question.state === "open"}><AskedInline model={props.model} turn={props.turn} question={question} /></Match>
              <Match when={question.state !== "open"}>
                <p class="asked small"><span class="quiet">{question.state === "answered" ? "Asked and answered" : question.state === "lost" ? "Asked, never answered" : "Asked, taken back"}:</span> {visible(question.text)}
                  <Show when={question.answer}>{(answer) => <strong> {visible(words(question, answer()))}</strong>}</Show>
                </p>
              </Match>
            </Switch>
          )}
        </For>
        <Footer turn={props.turn} onRetry={props.onRetry} onWhole={() => void props.model.whole(props.turn)} onInspect={props.onInspect} />
      </div>
    </article>
  );
}

function words(question: Turn["questions"][number], answer: NonNullable<Turn["questions"][number]["answer"]>): string {
  const chosen = [...(answer.options ?? []), ...(answer.option ? [answer.option] : [])];
  const labels = chosen.map((id) => question.options?.find((option) => option.id === id)?.label ?? id);
  return [...new Set(labels), answer.text ?? ""].filter(Boolean).join(", ") || "declined";
}

function Piece(props: { turn: string; item: Item; finished: boolean }): JSX.Element {
  const fold = () => `${props.turn} thinking ${props.item.message}`;
  return (
    <Switch>
      <Match when={props.item.kind === "text" && props.item}>{(item) => <Markdown text={item().text} finished={props.finished} />}</Match>
      <Match when={props.item.kind === "thinking" && props.item}>
        {(item) => (
          <details class="thinking" open={isUnfolded(fold())} onToggle={(event) => rememberFold(fold(), event.currentTarget.open)}>
            <summary>Thinking <span class="thinking-line cut">{visible(item().text).replaceAll("\n", " ")}</span></summary>
            <div class="thinking-text">{visible(item().text)}</div>
          </details>
        )}
      </Match>
      <Match when={props.item.kind === "call" && props.item}>{(item) => <Call turn={props.turn} call={item()} />}</Match>
      <Match when={props.item.kind === "notice" && props.item}>{(item) => <p class="turn-notice small">{visible(item().text)}</p>}</Match>
    </Switch>
  );
}

const ENDS: Partial<Record<Turn["status"], string>> = {
  failed: "Failed",
  timeout: "Out of time",
  cancelled: "Cancelled",
  interrupted: "Interrupted: rejoin was stopped in the middle of it",
};

function Footer(props: { turn: Turn; onRetry: () => void; onWhole: () => void; onInspect: () => void }): JSX.Element {
  const error = () => (props.turn.receipt && "error" in props.turn.receipt ? props.turn.receipt.error : null);
  const usage = () => props.turn.receipt?.usage;
  return (
    <footer class="turn-foot small">
      <Show when={props.turn.cut}><button class="button plain" onClick={() => props.onWhole()}>Show all of it</button></Show>
      <Show when={props.turn.status === "running"}><span class="row quiet"><span class="spinner" />working…</span></Show>
      <Show when={props.turn.status === "waiting"}><span class="tag warn">waits for your answer</span></Show>
      <Show when={ENDS[props.turn.status]}>
        {(end) => (
          <span class="turn-end">
            <span class={`tag ${props.turn.status === "cancelled" ? "" : "bad"}`}>{end()}</span>
            <Show when={error()}>{(text) => <span class="turn-error">{visible(text())}</span>}</Show>
            <button class="button plain" onClick={() => props.onRetry()}><Icon name="retry" size={14} />Retry</button>
          </span>
        )}
      </Show>
      <Show when={props.turn.receipt}>
        {(receipt) => (
          <button class="receipt-line number" onClick={() => props.onInspect()} title="Receipt and guards">
            {seconds(receipt().milliseconds)}
            <Show when={usage()}>{(used) => <> · {tokens(used().input)} in{(used().cached ?? 0) > 0 ? ` (${tokens(used().cached ?? 0)} cached)` : ""} · {tokens(used().output)} out</>}</Show>
            <Show when={receipt().cost != null}> · {cost(receipt().cost ?? 0)}</Show>
          </button>
        )}
      </Show>
    </footer>
  );
}
