// Devices: tokens with names, what each may do, new ones, and how a phone gets in.

import { createSignal, For, Match, Show, Switch, type JSX } from "solid-js";
import { ask, get, Problem } from "../api/client";
import type { components } from "../api/schema";
import { createLoaded } from "../state/loaded";
import { logOut } from "../state/session";
import { Dialog } from "../ui/dialog";
import { Empty, Failure, Loading } from "../ui/states";
import { visible } from "../ui/visible";
import { baseName, when } from "../ui/words";
import { NewToken } from "./devices/new_token";
import { PhoneCode } from "./devices/phone_code";
import { Reachable } from "./devices/reachable";
import "./devices.css";

export type Token = components["schemas"]["NamedToken"];

export function Devices(): JSX.Element {
  const tokens = createLoaded(() => "tokens", async (_, signal) => (await get<{ tokens: Token[] }>("/tokens", undefined, signal)).tokens);
  const overview = createLoaded(() => "overview", (_, signal) => get<{ addresses?: string[] }>("", undefined, signal));
  const addresses = () => overview.value()?.addresses ?? [];
  const [letIn, setLetIn] = createSignal<Token | null>(null);
  const [revoking, setRevoking] = createSignal<Token | null>(null);
  const refused = () => {
    const error = tokens.error();
    return error instanceof Problem && error.status === 403;
  };
  return (
    <section class="screen" aria-labelledby="devices-title">
      <div class="inner devices">
        <header class="row">
          <h1 class="grow" id="devices-title">Devices</h1>
          <button class="button" onClick={() => void logOut()}>Log this browser out</button>
        </header>
        <Switch fallback={<Loading lines={4} label="Loading the tokens" />}>
          <Match when={refused()}>
            <div class="notice"><div>This browser may not manage tokens. One that was let in with <code>rejoin serve --url</code> may.</div></div>
          </Match>
          <Match when={tokens.error()}>{(error) => <Failure error={error()} again={tokens.again} label="The tokens cannot be listed" />}</Match>
          <Match when={tokens.value()}>
            {(list) => (
              <>
                <section class="stack" aria-labelledby="devices-tokens">
                  <h2 id="devices-tokens">Tokens <span class="devices-count number">{list().length}</span></h2>
                  <Show when={list().length > 0} fallback={<Empty title="No device has a token of its own yet"><p>Give each phone and each script one: what gets lost is revoked alone.</p></Empty>}>
                    <ul class="devices-list" aria-label="Tokens">
                      <For each={list()}>{(token) => <Row token={token} reachable={addresses().length > 0} letIn={() => setLetIn(token)} revoke={() => setRevoking(token)} />}</For>
                    </ul>
                  </Show>
                </section>
                <NewToken reachable={addresses().length > 0} onMade={tokens.again} letIn={setLetIn} />
              </>
            )}
          </Match>
        </Switch>
        <Show when={overview.value() && tokens.value()}><Reachable addresses={addresses()} /></Show>
      </div>
      <Show when={letIn()} keyed>{(token) => <PhoneCode token={token} addresses={addresses()} onClose={() => setLetIn(null)} />}</Show>
      <Show when={revoking()} keyed>{(token) => <Revoke token={token} onClose={() => setRevoking(null)} onDone={tokens.again} />}</Show>
    </section>
  );
}

function Row(props: { token: Token; reachable: boolean; letIn: () => void; revoke: () => void }): JSX.Element {
  const name = () => visible(props.token.name);
  // A browser passes `admin` on to nobody.
  const canLetIn = () => props.reachable && !props.token.scopes.includes("admin");
  return (
    <li class="devices-row">
      <div class="grow">
        <div class="row devices-name">
          <strong class="cut" title={name()}>{name()}</strong>
          <For each={props.token.scopes}>{(scope) => <span class={`tag ${scope === "admin" ? "warn" : ""}`}>{scope}</span>}</For>
        </div>
        <div class="small quiet devices-facts">
          <span>{props.token.ceiling ? `turns up to ${props.token.ceiling}` : "no ceiling"}</span>
          <Show when={props.token.projects} fallback={<span>all projects</span>}>
            {(projects) => <span title={projects().map(visible).join("\n")}>{projects().map((path) => visible(baseName(path))).join(", ")}</span>}
          </Show>
          <time class="number" datetime={props.token.created}>made {when(props.token.created)}</time>
        </div>
      </div>
      <div class="row devices-acts">
        <Show when={canLetIn()}><button class="button" aria-label={`Let a phone in with ${name()}`} onClick={() => props.letIn()}>Let a phone in</button></Show>
        <button class="button plain devices-revoke" aria-label={`Revoke ${name()}`} onClick={() => props.revoke()}>Revoke</button>
      </div>
    </li>
  );
}

function Revoke(props: { token: Token; onClose: () => void; onDone: () => void }): JSX.Element {
  const [error, setError] = createSignal<unknown>();
  const revoke = async () => {
    try {
      await ask(`/tokens/${props.token.id}`, { method: "DELETE" });
    } catch (problem) {
      // What is gone already was revoked elsewhere.
      if (Problem.of(problem).status !== 404) {
        setError(problem);
        return;
      }
    }
    props.onClose();
    props.onDone();
  };
  return (
    <Dialog label={`Revoke ${visible(props.token.name)}`} onClose={props.onClose}>
      <div class="stack">
        <h2 class="devices-heading">Revoke {visible(props.token.name)}?</h2>
        <p>It is good for nothing at once, nor are the browsers it let in. What it had queued does not run.</p>
        <Show when={error()}>{(why) => <Failure error={why()} label="Not revoked" />}</Show>
        <div class="row devices-end">
          <button class="button" onClick={() => props.onClose()}>Keep it</button>
          <button class="button danger" onClick={() => void revoke()}>Revoke</button>
        </div>
      </div>
    </Dialog>
  );
}
