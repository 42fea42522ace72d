// A flow to begin: what it is given, as a form.

import { createEffect, createSignal, createUniqueId, For, on, Show, type JSX } from "solid-js";
import { createStore } from "solid-js/store";
import { get, post } from "../../api/client";
import { go } from "../../router";
import { createLoaded } from "../../state/loaded";
import { Icon } from "../../ui/icon";
import { Link } from "../../ui/link";
import { Empty, Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import { FlowFailure, FlowProblems } from "./flow_problems";
import { choices, isText, startText, valuesOf } from "./input_values";
import type { FlowFile, FlowInput } from "./types";

export function StartPage(props: { project: string; file: string }): JSX.Element {
  const wanted = () => ({ project: props.project, file: props.file });
  const flow = createLoaded(wanted, async ({ project, file }, signal) => {
    const { flows } = await get<{ flows: FlowFile[] }>("/flows", { project }, signal);
    return { found: flows.find((one) => one.file === file) };
  });
  return (
    <section class="screen" aria-labelledby="flow-title">
      <div class="inner flows flow-start">
        <Link to={{ screen: "flows" }} class="flow-back small"><Icon name="back" size={14} />Flows</Link>
        <header>
          <h1 id="flow-title">{visible(flow.value()?.found?.name ?? props.file)}</h1>
          <p class="small quiet mono flow-wrap">{visible(`${props.project}/${props.file}`)}</p>
        </header>
        <Show when={flow.error()}>{(error) => <Failure error={error()} again={flow.again} label="The flow cannot be read" />}</Show>
        <Show when={flow.value()} fallback={<Show when={!flow.error()}><Loading lines={4} label="Loading the flow" /></Show>}>
          {(value) => (
            <Show when={value().found} fallback={<Empty title="There is no such flow file"><p>It may have been moved or renamed.</p></Empty>}>
              {(found) => (
                <Show when={found().problems} fallback={<StartForm project={props.project} flow={found()} />}>
                  {(problems) => (
                    <div class="stack">
                      <div class="notice bad" role="alert">This file cannot be run before it is put right.</div>
                      <FlowProblems problems={problems()} />
                      <div><button class="button" onClick={flow.again}>Read it again</button></div>
                    </div>
                  )}
                </Show>
              )}
            </Show>
          )}
        </Show>
      </div>
    </section>
  );
}

function StartForm(props: { project: string; flow: FlowFile }): JSX.Element {
  const inputs = () => props.flow.inputs ?? [];
  const [texts, setTexts] = createStore<Record<string, string>>({});
  createEffect(on(inputs, (list) => setTexts(Object.fromEntries(list.map((input) => [input.name, startText(input)])))));
  const [error, setError] = createSignal<unknown>();
  const [sending, setSending] = createSignal(false);
  const start = async (event: SubmitEvent) => {
    event.preventDefault();
    if (sending()) return;
    setSending(true);
    setError(undefined);
    try {
      const { run } = await post<{ run: string }>("/flows/runs", { project: props.project, file: props.flow.file, inputs: valuesOf(inputs(), texts) });
      go({ screen: "flows", run });
    } catch (problem) {
      setError(problem);
    } finally {
      setSending(false);
    }
  };
  return (
    <form class="stack flow-form" aria-label={`Start ${visible(props.flow.name ?? props.flow.file)}`} onSubmit={(event) => void start(event)}>
      <Show when={props.flow.description}>{(text) => <p>{visible(text())}</p>}</Show>
      <Show when={inputs().length > 0} fallback={<p class="quiet">It needs nothing to begin.</p>}>
        <For each={inputs()}>{(input) => <InputField input={input} value={texts[input.name] ?? ""} set={(text) => setTexts(input.name, text)} />}</For>
      </Show>
      <div>
        <p class="label" id="flow-steps-label">Steps</p>
        <ol class="flow-chips" aria-labelledby="flow-steps-label"><For each={props.flow.steps}>{(step) => <li class="tag mono">{visible(step)}</li>}</For></ol>
      </div>
      <Show when={error()}>{(problem) => <FlowFailure error={problem()} label="Not started" />}</Show>
      <div><button class="button primary" type="submit" aria-disabled={sending()}><Icon name="play" size={14} />Start flow</button></div>
    </form>
  );
}

function InputField(props: { input: FlowInput; value: string; set: (text: string) => void }): JSX.Element {
  const id = createUniqueId();
  const options = () => choices(props.input);
  const long = () => props.value.includes("\n") || props.value.length > 80;
  // What is begun with decides: a field does not become another one while somebody types in it.
  const several = startText(props.input).includes("\n") || startText(props.input).length > 80;
  const help = () => {
    const parts = [props.input.description ? visible(props.input.description) : "", isText(props.input) || options() ? "" : "Written as JSON."];
    return parts.filter(Boolean).join(" ");
  };
  const described = () => (help() === "" ? undefined : `${id}-help`);
  return (
    <div class="field">
      <label class="flow-label" for={id}>
        <span class="mono">{visible(props.input.name)}</span>
        <Show when={props.input.required}><span class="small quiet">required</span></Show>
      </label>
      <Show
        when={options()}
        fallback={
          <Show
            when={several}
            fallback={<input id={id} class="input" classList={{ mono: !isText(props.input) }} required={props.input.required} value={props.value} aria-describedby={described()} onInput={(event) => props.set(event.currentTarget.value)} autocomplete="off" />}
          >
            <textarea id={id} class="input flow-area" classList={{ mono: !isText(props.input) }} rows={long() ? 6 : 3} required={props.input.required} value={props.value} aria-describedby={described()} onInput={(event) => props.set(event.currentTarget.value)} />
          </Show>
        }
      >
        {(list) => (
          <select id={id} class="input" required={props.input.required} aria-describedby={described()} onChange={(event) => props.set(event.currentTarget.value)}>
            <Show when={props.value === ""}><option value="" selected>Choose…</option></Show>
            <For each={list()}>{(text) => <option value={text} selected={text === props.value}>{visible(text)}</option>}</For>
          </select>
        )}
      </Show>
      <Show when={help()}>{(text) => <p class="small quiet" id={`${id}-help`}>{text()}</p>}</Show>
    </div>
  );
}
