// What a conversation is: its name, where it lives, which sessions it knows.

import { createEffect, createSignal, For, on, Show, type JSX } from "solid-js";
import { ask } from "../../api/client";
import { refreshSoon } from "../../state/list";
import { AgentBadge } from "../../ui/agent";
import { Failure } from "../../ui/states";
import { visible } from "../../ui/visible";
import { cost, when } from "../../ui/words";
import type { ConversationModel } from "../model";
import { Fact } from "./fact";

export function ConversationFacts(props: { model: ConversationModel }): JSX.Element {
  const detail = () => props.model.detail();
  const [name, setName] = createSignal("");
  const [problem, setProblem] = createSignal<unknown>(null);
  createEffect(on(() => detail()?.name, (now) => setName(now ?? "")));
  const rename = async (event: SubmitEvent) => {
    event.preventDefault();
    try {
      await ask(`/conversations/${props.model.id}`, { method: "PATCH", body: { name: name().trim() } });
      setProblem(null);
      await props.model.refresh();
      refreshSoon();
    } catch (error) {
      setProblem(error);
    }
  };
  return (
    <section class="inspector-part" aria-label="Facts">
      <form class="row" onSubmit={(event) => void rename(event)}>
        <input class="input grow" aria-label="Name" placeholder="Name of this conversation" value={name()} onInput={(event) => setName(event.currentTarget.value)} />
        <button class="button" disabled={name().trim() === "" || name().trim() === (detail()?.name ?? "")}>Rename</button>
      </form>
      <Show when={problem()}>{(error) => <Failure error={error()} />}</Show>
      <Show when={detail()}>
        {(known) => (
          <>
            <dl class="facts">
              <Fact name="Project" code>{visible(known().project ?? "unknown")}</Fact>
              <Show when={known().dir && known().dir !== known().project}><Fact name="Directory" code>{visible(known().dir ?? "")}</Fact></Show>
              <Fact name="Turns" number>{known().turns.toLocaleString("en")}</Fact>
              <Fact name="Branches" number>{known().branches.toLocaleString("en")}</Fact>
              <Fact name="Tokens in" number>{known().usage.input.toLocaleString("en")}</Fact>
              <Fact name="Tokens cached" number>{(known().usage.cached ?? 0).toLocaleString("en")}</Fact>
              <Fact name="Tokens out" number>{known().usage.output.toLocaleString("en")}</Fact>
              <Show when={(known().cost ?? 0) > 0}><Fact name="Cost" number>{cost(known().cost ?? 0)}</Fact></Show>
              <Fact name="Began">{when(known().started_ms ?? 0)}</Fact>
              <Fact name="Last used">{when(known().used_ms)}</Fact>
              <Fact name="Id" code>{known().id}</Fact>
              <Fact name="Journal" code>{visible(known().file ?? "")}</Fact>
            </dl>
            <Show when={known().pins.length > 0}>
              <h3>Sessions it knows</h3>
              <ul class="sessions">
                <For each={known().pins}>
                  {(pin) => <li class="row"><AgentBadge agent={pin.agent} /><code class="cut" title={pin.session}>{pin.session}</code></li>}
                </For>
              </ul>
            </Show>
            <For each={known().problems ?? []}>{(one) => <p class="notice warn small">{visible(one)}</p>}</For>
          </>
        )}
      </Show>
    </section>
  );
}
