// Whether this browser was let in.

import { createSignal } from "solid-js";
import { ask, keepSecret, post, Problem, secret, whenLoggedOut } from "../api/client";
import { listen } from "../live/live";

export type Session = { state: "checking" } | { state: "in" } | { state: "out"; why?: Problem } | { state: "unreachable"; why: Problem };

const [session, setSession] = createSignal<Session>({ state: "checking" });
export { session };

whenLoggedOut(() => {
  keepSecret(null);
  setSession({ state: "out" });
});

/** Takes the code out of the address if there is one, and finds out whether the daemon knows us. */
export async function begin(): Promise<void> {
  const code = /^#k=(.+)$/.exec(location.hash)?.[1];
  if (code !== undefined) {
    history.replaceState(null, "", location.pathname + location.search);
    try {
      const { secret } = await post<{ secret: string }>("/login", { code: decodeURIComponent(code) });
      keepSecret(secret);
    } catch (error) {
      // A used address that was opened again: who is in already stays in.
      if (secret() === null) {
        setSession({ state: "out", why: Problem.of(error) });
        return;
      }
    }
  }
  await check();
}

export async function check(): Promise<void> {
  if (secret() === null) {
    setSession({ state: "out" });
    return;
  }
  try {
    await ask("");
    listen();
    setSession({ state: "in" });
  } catch (error) {
    const problem = Problem.of(error);
    if (problem.status === 401) setSession({ state: "out" });
    else setSession({ state: "unreachable", why: problem });
  }
}

export async function logOut(): Promise<void> {
  try {
    await ask("/logout", { method: "POST", body: {} });
  } finally {
    keepSecret(null);
    setSession({ state: "out" });
  }
}
