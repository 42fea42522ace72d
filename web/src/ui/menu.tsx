// A button with a menu. The menu is in the top layer, so no list it stands in cuts it off.

import { createSignal, For, Show, type JSX } from "solid-js";
import { Icon, type IconName } from "./icon";
import "./menu.css";

export interface MenuItem {
  name: string;
  icon: IconName;
  act: () => void;
  /** Why it cannot be done now. */
  not?: string | null;
}

export function Menu(props: { label: string; items: MenuItem[]; class?: string; tabindex?: number; ref?: (button: HTMLButtonElement) => void }): JSX.Element {
  const [open, setOpen] = createSignal(false);
  let button!: HTMLButtonElement;
  let list: HTMLElement | undefined;
  const place = (element: HTMLElement) => {
    list = element;
    queueMicrotask(() => {
      element.showPopover();
      const at = button.getBoundingClientRect();
      const size = element.getBoundingClientRect();
      const below = at.bottom + size.height + 8 <= innerHeight;
      element.style.left = `${Math.max(8, Math.min(at.right - size.width, innerWidth - size.width - 8))}px`;
      element.style.top = `${below ? at.bottom + 4 : Math.max(8, at.top - size.height - 4)}px`;
      element.querySelector<HTMLElement>("[role=menuitem]")?.focus();
    });
  };
  const close = (back: boolean) => {
    setOpen(false);
    if (back) button.focus();
  };
  const key = (event: KeyboardEvent) => {
    const items = [...(list?.querySelectorAll<HTMLElement>("[role=menuitem]") ?? [])];
    const at = items.indexOf(document.activeElement as HTMLElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + items.length, Home: 0, End: items.length - 1 }[event.key];
    if (event.key === "Escape" || event.key === "Tab") close(event.key === "Escape");
    else if (to !== undefined) items[to % items.length]?.focus();
    else {
      event.stopPropagation();
      return;
    }
    event.stopPropagation();
    if (event.key !== "Tab") event.preventDefault();
  };
  return (
    <>
      <button type="button" class={`icon-button ${props.class ?? ""}`} aria-label={props.label} title={props.label} aria-haspopup="menu" aria-expanded={open()} tabindex={props.tabindex} ref={(element) => { button = element; props.ref?.(element); }} onClick={(event) => { event.stopPropagation(); setOpen(!open()); }}>
        <Icon name="more" size={16} />
      </button>
      <Show when={open()}>
        <div class="menu" role="menu" aria-label={props.label} popover="auto" ref={place} onKeyDown={key} onClick={(event) => event.stopPropagation()} on:toggle={(event: Event) => { if ((event as ToggleEvent).newState === "closed") setOpen(false); }}>
          <For each={props.items}>
            {(item) => (
              <button type="button" role="menuitem" tabindex="-1" class="menu-item" aria-disabled={item.not ? "true" : undefined} title={item.not ?? undefined} onClick={() => { if (item.not) return; close(true); item.act(); }}>
                <Icon name={item.icon} size={16} />
                <span class="grow">{item.name}<Show when={item.not}><span class="menu-not">{item.not}</span></Show></span>
              </button>
            )}
          </For>
        </div>
      </Show>
    </>
  );
}
