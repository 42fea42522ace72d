import type { JSX } from "solid-js";
import "./toggle.css";

/** Something that is on or off, at once. */
export function Toggle(props: { label: string; on: boolean; disabled?: boolean; change: (on: boolean) => void }): JSX.Element {
  return (
    <label class="toggle">
      <input type="checkbox" role="switch" checked={props.on} disabled={props.disabled} onChange={(event) => props.change(event.currentTarget.checked)} />
      <span>{props.label}</span>
    </label>
  );
}
