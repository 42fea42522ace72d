import { For, onMount, type JSX } from "solid-js";

const KEYS: [string, string][] = [
  ["Ctrl K", "Search: conversations, projects, what was said, commands"],
  ["N", "New conversation"],
  ["J / K", "Next and previous conversation"],
  ["P", "Write the next prompt"],
  ["Enter", "Send (Shift Enter: a new line)"],
  ["T", "The tree of branches"],
  ["I", "Inspector: receipt and guards"],
  ["[ and ]", "The branch before and behind, where a turn has siblings"],
  ["G then I, F, S, A, D", "Inbox, Flows, Stats, Agents, Devices"],
  ["Escape", "Close what is open"],
  ["?", "This list"],
];

export function Help(props: { onClose: () => void }): JSX.Element {
  let dialog!: HTMLDialogElement;
  onMount(() => dialog.showModal());
  return (
    <dialog ref={dialog} aria-label="Keyboard" onClose={() => props.onClose()} onClick={(event) => event.target === dialog && dialog.close()}>
      <div class="stack">
        <div class="row"><h2 class="grow">Keyboard</h2><button class="button" onClick={() => dialog.close()}>Close</button></div>
        <dl class="keys"><For each={KEYS}>{([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>}</For></dl>
      </div>
    </dialog>
  );
}
