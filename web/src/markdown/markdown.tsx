import { createMemo, createRenderEffect, For, onMount, Show, type JSX } from "solid-js";
import { GrowingMarkdown, type Block, type GrowingBlock } from "./render";
import "./markdown.css";

/** Text of an agent. While it grows, only its last block is drawn anew. */
export function Markdown(props: { text: string; finished: boolean }): JSX.Element {
  const growing = new GrowingMarkdown();
  const read = createMemo(() => growing.read(props.text, props.finished));
  const copy = (event: MouseEvent) => {
    const button = event.target as HTMLElement;
    if (!button.classList.contains("md-copy")) return;
    const code = button.closest(".md-code")?.querySelector("code")?.textContent ?? "";
    void navigator.clipboard?.writeText(code.replace(/\n$/, "")).then(() => {
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 1500);
    });
  };
  return (
    <div class="markdown" onClick={copy}>
      <For each={read().stable}>{(block) => <Finished block={block} />}</For>
      <Show when={read().last}>{(last) => <Growing block={last()} />}</Show>
    </div>
  );
}

function Growing(props: { block: GrowingBlock }): JSX.Element {
  const element = (<div class="md-block" />) as HTMLDivElement;
  createRenderEffect(() => {
    const { words, html } = props.block;
    const end = words === null ? null : endOf(element);
    if (end === null) element.innerHTML = html();
    else if (words) end.appendData(words);
  });
  return element;
}

/** The text that words can be added to: what is drawn last, unless that is a link, code, or the like. */
function endOf(block: HTMLElement): Text | null {
  let node: Node | null = block;
  while (node instanceof Element) {
    let last: Node | null = node.lastChild;
    // Lines of the HTML end between elements, too.
    while (last instanceof Text && last.data.trim() === "") last = last.previousSibling;
    node = last;
  }
  return node instanceof Text && node.parentElement?.matches("p, li") ? node : null;
}

function Finished(props: { block: Block }): JSX.Element {
  let element!: HTMLDivElement;
  onMount(() => {
    const code = element.querySelector<HTMLElement>("code[data-language]");
    if (code && code.dataset["language"] !== "") void import("./highlight").then(({ highlight }) => highlight(code));
  });
  return <div class="md-block" ref={element} innerHTML={props.block.html} />;
}
