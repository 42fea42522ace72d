import type { JSX } from "solid-js";
import { address, go, type Route } from "../router";

/** A link to another screen. With Ctrl, Shift or another button it is the browser's own. */
export function Link(props: { to: Route; class?: string; children: JSX.Element; label?: string; current?: boolean; title?: string }): JSX.Element {
  const follow = (event: MouseEvent) => {
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(props.to);
  };
  return (
    <a href={address(props.to)} class={props.class} aria-label={props.label} title={props.title} aria-current={props.current ? "page" : undefined} onClick={follow}>
      {props.children}
    </a>
  );
}
