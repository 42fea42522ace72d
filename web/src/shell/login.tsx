// Who was not let in yet, and why.

import { Match, Show, Switch, type JSX } from "solid-js";
import { check, session } from "../state/session";
import { Failure } from "../ui/states";
import "./login.css";

export function Login(): JSX.Element {
  const now = session;
  return (
    <main class="login">
      <div class="login-card card">
        <h1>rejoin</h1>
        <Switch>
          <Match when={now().state === "checking"}><p class="quiet" role="status">Opening…</p></Match>
          <Match when={now().state === "unreachable" && now()}>
            {(state) => <Failure error={(state() as { why: unknown }).why} again={() => void check()} />}
          </Match>
          <Match when={now().state === "out" && now()}>
            {(state) => (
              <>
                <Show when={(state() as { why?: unknown }).why}>{(why) => <Failure error={why()} />}</Show>
                <p>This browser is not let in yet. On the machine where rejoin runs:</p>
                <pre class="login-command">rejoin serve --url</pre>
                <p class="quiet">It prints an address that is good once, for five minutes. Open it here, and this browser stays in until it logs out.</p>
              </>
            )}
          </Match>
        </Switch>
      </div>
    </main>
  );
}
