// How the connection stands, when it does not.

import { createSignal, onCleanup, Show, type JSX } from "solid-js";
import { caughtUp, connection, retryNow } from "../live/live";
import { count } from "../ui/words";

/** A moment without connection is nothing to tell. */
const GRACE = 800;
/** So long it is told that it stands again. */
const TOLD = 6_000;

export function ConnectionBar(): JSX.Element {
  const [now, setNow] = createSignal(Date.now());
  const [since, setSince] = createSignal<number | null>(null);
  const [stands, setStands] = createSignal<number | null>(null);
  const timer = setInterval(() => {
    setNow(Date.now());
    const open = connection().state === "open";
    if (open && shown()) setStands(Date.now());
    if (open && since() !== null) setSince(null);
    if (!open && since() === null) setSince(Date.now());
  }, 250);
  onCleanup(() => clearInterval(timer));
  const waits = () => {
    const state = connection();
    return state.state === "waiting" ? Math.max(0, Math.ceil((state.until - now()) / 1000)) : null;
  };
  const shown = () => since() !== null && now() - (since() ?? 0) > GRACE;
  // How far this page was behind is known when the stream has told it.
  const came = () => {
    const [again, news] = [stands(), caughtUp()];
    return again !== null && news !== null && news.records > 0 && news.at > again - TOLD && now() - again < TOLD ? news.records : null;
  };
  return (
    <div class="connection" role="status">
      <Show when={!shown() && came()}>
        {(records) => <div class="notice connection-bar"><span class="grow">Connected again: {count(records(), "record")} behind, all here now; nothing was lost.</span></div>}
      </Show>
      <Show when={shown()}>
        <div class="notice warn connection-bar">
          <span class="spinner" aria-hidden="true" />
          <span class="grow">
            {connection().state === "refused" ? "The daemon refused this browser. " : "Reconnecting: rejoin cannot be reached. "}
            What happens meanwhile is kept in the journal; nothing is lost.
            <Show when={(waits() ?? 0) > 0}> Next try in {waits()} s.</Show>
          </span>
          <button class="button" onClick={() => retryNow()}>Try now</button>
        </div>
      </Show>
    </div>
  );
}
