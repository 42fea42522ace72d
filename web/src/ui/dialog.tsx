import { onCleanup, onMount, type JSX } from "solid-js";
import { Portal } from "solid-js/web";

/** A dialog over everything; closed, the focus is where it was. */
export function Dialog(props: { label: string; onClose: () => void; children: JSX.Element }): JSX.Element {
  let dialog!: HTMLDialogElement;
  const before = document.activeElement;
  onMount(() => dialog.showModal());
  onCleanup(() => {
    if (before instanceof HTMLElement && before.isConnected) before.focus();
  });
  return (
    <Portal>
      <dialog ref={(element) => (dialog = element)} aria-label={props.label} onClose={() => props.onClose()} onClick={(event) => { if (event.target === dialog) dialog.close(); }}>
        {props.children}
      </dialog>
    </Portal>
  );
}
