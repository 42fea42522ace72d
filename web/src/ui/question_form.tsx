// What an agent asks in the middle of a turn, as a form: its own options in its own words.

import { createSignal, createUniqueId, For, Show, type JSX } from "solid-js";
import { post, Problem } from "../api/client";
import type { Question } from "../api/types";
import { Failure } from "./states";
import { visible } from "./visible";
import "./question_form.css";

export type Answer = NonNullable<Question["answer"]>;
type Option = NonNullable<Question["options"]>[number];

export interface QuestionFormProps {
  /** As the API names it: that of `AskedHere`. */
  id: string;
  question: Question;
  /** Something became of it, here or elsewhere. */
  onDone?: (answer: Answer | null) => void;
}

interface Outcome {
  answer: Answer | null;
  /** Somebody else was faster, or nobody waits any more. */
  elsewhere: boolean;
  detail?: string;
}

export function QuestionForm(props: QuestionFormProps): JSX.Element {
  const [chosen, setChosen] = createSignal<string[]>([]);
  const [text, setText] = createSignal("");
  const [busy, setBusy] = createSignal(false);
  const [error, setError] = createSignal<unknown>();
  const [outcome, setOutcome] = createSignal<Outcome>();
  const heading = createUniqueId();

  const options = () => props.question.options ?? [];
  const name = (option: Option) => option.id ?? option.label;
  const takesText = () => props.question.free_text === true || options().length === 0;
  const settled = (): Outcome | undefined => {
    const here = outcome();
    if (here !== undefined) return here;
    const { state, answer } = props.question;
    if (state === "open") return undefined;
    const words: Record<string, string> = { withdrawn: "The agent took the question back.", lost: "The turn is over: nobody waits for an answer any more." };
    return { answer: answer ?? null, elsewhere: true, detail: words[state] };
  };

  const send = async (body: { options?: string[]; text?: string }) => {
    if (busy()) return;
    setBusy(true);
    setError(undefined);
    try {
      const { answer } = await post<{ answer: Answer }>(`/questions/${props.id}/answer`, body);
      setOutcome({ answer, elsewhere: false });
      props.onDone?.(answer);
    } catch (failure) {
      const problem = Problem.of(failure);
      if (problem.code !== "not_open") {
        setError(problem);
        return;
      }
      const answer = (problem.body.answer as Answer | undefined) ?? null;
      setOutcome({ answer, elsewhere: true, detail: answer ? undefined : problem.detail });
      props.onDone?.(answer);
    } finally {
      setBusy(false);
    }
  };
  const sendChosen = () => void send({ options: chosen(), ...(text().trim() === "" ? {} : { text: text() }) });
  const sendText = () => void send({ text: text() });
  const toggle = (id: string, on: boolean) => setChosen((ids) => (on ? [...ids, id] : ids.filter((known) => known !== id)));

  return (
    <form
      class="question"
      aria-labelledby={heading}
      onSubmit={(event) => {
        event.preventDefault();
        if (chosen().length > 0) sendChosen();
        else if (text().trim() !== "") sendText();
      }}
    >
      <p class="question-text" id={heading}>
        <Show when={props.question.tool}>{(tool) => <span class="question-tool">asks leave for <code>{visible(tool())}</code></span>}</Show>
        {visible(props.question.text)}
      </p>
      <Show when={settled()} fallback={<Fields />}>
        {(known) => <OutcomeLine outcome={known()} options={options()} />}
      </Show>
      <Show when={error()}>{(failure) => <Failure error={failure()} label="Not sent" />}</Show>
    </form>
  );

  function Fields(): JSX.Element {
    return (
      <div class="question-fields" aria-busy={busy()}>
        <Show when={options().length > 0}>
          <div class="question-options" role="group" aria-label="Options">
            <For each={options()}>
              {(option) => (
                <Show
                  when={props.question.multiple}
                  fallback={
                    <button type="button" class="question-option" disabled={busy()} onClick={() => void send({ options: [name(option)] })}>
                      <OptionWords option={option} />
                    </button>
                  }
                >
                  <label class="question-option">
                    <input type="checkbox" checked={chosen().includes(name(option))} disabled={busy()} onChange={(event) => toggle(name(option), event.currentTarget.checked)} />
                    <OptionWords option={option} />
                  </label>
                </Show>
              )}
            </For>
          </div>
        </Show>
        <Show when={takesText()}>
          <label class="field">
            <span>{textLabel()}</span>
            <textarea class="input question-words" rows="2" value={text()} disabled={busy()} onInput={(event) => setText(event.currentTarget.value)} onKeyDown={submitOnKey} />
          </label>
        </Show>
        <div class="row question-ends">
          <Show when={props.question.multiple && options().length > 0}>
            <button type="button" class="button primary" disabled={busy() || chosen().length === 0} onClick={sendChosen}>Answer</button>
          </Show>
          <Show when={takesText()}>
            <button type="button" class="button" classList={{ primary: options().length === 0 }} disabled={busy() || text().trim() === ""} onClick={sendText}>
              {options().length === 0 ? "Answer" : "Send these words"}
            </button>
          </Show>
          <button type="button" class="button plain" disabled={busy()} onClick={() => void send({})}>Decline</button>
          <Show when={busy()}><span class="spinner" role="status" aria-label="Sending" /></Show>
        </div>
      </div>
    );
  }

  function textLabel(): string {
    if (props.question.tool) return "Refuse, and say why";
    return options().length > 0 ? "Or in your own words" : "Answer";
  }

  function submitOnKey(event: KeyboardEvent & { currentTarget: HTMLTextAreaElement }): void {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      event.currentTarget.form?.requestSubmit();
    }
  }
}

function OptionWords(props: { option: Option }): JSX.Element {
  return (
    <span class="grow">
      <span class="question-label">{visible(props.option.label)}</span>
      <Show when={props.option.description}>{(words) => <span class="question-description">{visible(words())}</span>}</Show>
    </span>
  );
}

function OutcomeLine(props: { outcome: Outcome; options: Option[] }): JSX.Element {
  const words = () => {
    const { answer } = props.outcome;
    if (answer === null) return "";
    const ids = answer.options?.length ? answer.options : answer.option ? [answer.option] : [];
    const labels = ids.map((id) => props.options.find((option) => (option.id ?? option.label) === id)?.label ?? id);
    if (answer.text) labels.push(`“${answer.text}”`);
    return labels.map(visible).join(", ");
  };
  const verb = () => {
    const { answer, elsewhere } = props.outcome;
    const declined = answer !== null && words() === "";
    const who = answer?.by === "nobody" ? " by nobody in time" : elsewhere && answer?.who ? ` elsewhere (${visible(answer.who)})` : elsewhere ? " elsewhere" : "";
    return `${declined ? "Declined" : "Answered"}${who}`;
  };
  return (
    <p class="question-outcome" role="status">
      <Show when={props.outcome.answer} fallback={props.outcome.detail}>
        {verb()}<Show when={words() !== ""}>: <strong>{words()}</strong></Show>
      </Show>
    </p>
  );
}
