// A code that lets one phone in: as a picture for its camera, and as an address.

import { createSignal, For, onCleanup, onMount, Show, type JSX } from "solid-js";
import { post } from "../../api/client";
import { copy } from "../../ui/clipboard";
import { Dialog } from "../../ui/dialog";
import { Icon } from "../../ui/icon";
import { Failure, Loading } from "../../ui/states";
import { visible } from "../../ui/visible";
import type { Token } from "../devices";
import { QrCode } from "./qr_code";

export function PhoneCode(props: { token: Token; addresses: string[]; onClose: () => void }): JSX.Element {
  const [code, setCode] = createSignal<string | null>(null);
  const [left, setLeft] = createSignal(0);
  const [error, setError] = createSignal<unknown>();
  const [address, setAddress] = createSignal(props.addresses[0] ?? "");
  const [copied, setCopied] = createSignal(false);
  let until = 0;
  const make = async () => {
    setError(undefined);
    setCopied(false);
    try {
      const made = await post<{ code: string; expiresIn: number }>(`/tokens/${props.token.id}/login-code`);
      until = Date.now() + made.expiresIn * 1000;
      setLeft(made.expiresIn);
      setCode(made.code);
    } catch (problem) {
      setCode(null);
      setError(problem);
    }
  };
  const timer = setInterval(() => setLeft(Math.max(0, Math.ceil((until - Date.now()) / 1000))), 1000);
  onCleanup(() => clearInterval(timer));
  onMount(() => void make());
  const url = () => `${address()}/#k=${code() ?? ""}`;
  const clock = () => `${Math.floor(left() / 60)}:${String(left() % 60).padStart(2, "0")}`;
  return (
    <Dialog label={`Let a phone in with ${visible(props.token.name)}`} onClose={props.onClose}>
      <div class="stack phone">
        <h2 class="devices-heading">Let a phone in with {visible(props.token.name)}</h2>
        <Show when={error()}>{(why) => <Failure error={why()} again={() => void make()} label="There is no code" />}</Show>
        <Show when={code()} fallback={<Show when={!error()}><Loading label="Making a code" /></Show>}>
          <Show
            when={left() > 0}
            fallback={<div class="notice"><div class="grow">This code is too old now.</div><button class="button primary" onClick={() => void make()}>Make another</button></div>}
          >
            <p>Point the phone's camera at it. It is good once, for <span class="number" role="timer">{clock()}</span>.</p>
            <div class="phone-qr"><QrCode text={url()} label="QR code with the address for the phone" /></div>
            <Show when={props.addresses.length > 1}>
              <label class="field">
                <span>Address</span>
                <select class="input" value={address()} onChange={(event) => setAddress(event.currentTarget.value)}>
                  <For each={props.addresses}>{(one) => <option value={one}>{visible(one)}</option>}</For>
                </select>
              </label>
            </Show>
            <div class="row devices-secret">
              <code class="grow">{visible(url())}</code>
              <button class="button" aria-label="Copy the address" onClick={async () => setCopied(await copy(url()))}><Icon name={copied() ? "check" : "copy"} size={16} />{copied() ? "Copied" : "Copy"}</button>
            </div>
          </Show>
        </Show>
        <div class="row devices-end"><button class="button" onClick={() => props.onClose()}>Close</button></div>
      </div>
    </Dialog>
  );
}
