// Whether another device reaches the daemon, and the way to make it so.

import { For, Show, type JSX } from "solid-js";
import { visible } from "../../ui/visible";

export function Reachable(props: { addresses: string[] }): JSX.Element {
  return (
    <section class="card stack devices-reach" aria-labelledby="devices-reach">
      <h2 id="devices-reach">From elsewhere</h2>
      <Show when={props.addresses.length > 0} fallback={<Unreachable />}>
        <p>Other devices reach rejoin here. Let a phone in with a token of its own.</p>
        <ul class="devices-addresses">
          <For each={props.addresses}>{(address) => <li><code>{visible(address)}</code></li>}</For>
        </ul>
      </Show>
    </section>
  );
}

function Unreachable(): JSX.Element {
  return (
    <>
      <p>rejoin answers on this machine alone: no phone reaches it. To change that, stop it and start it in one of these ways; then this screen shows a QR code for each token.</p>
      <dl class="devices-ways">
        <dt>With a certificate</dt>
        <dd><pre class="devices-command" tabindex="0">rejoin serve --listen 0.0.0.0:7717 --host box.example --tls-cert cert.pem --tls-key key.pem</pre></dd>
        <dt>Behind a proxy that encrypts</dt>
        <dd><pre class="devices-command" tabindex="0">rejoin serve --listen 127.0.0.1:7717 --behind-proxy --host box.example</pre></dd>
      </dl>
      <p class="small quiet">box.example is the name the phone uses; the proxy passes <code>Host</code> on as it came. Without encryption rejoin listens to no network.</p>
    </>
  );
}
