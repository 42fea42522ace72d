import { createMemo, For, onMount, Show, type JSX } from "solid-js";
import { GrowingMarkdown, type Block } from "./render";
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

function Growing(props: { block: Block }): JSX.Element {
  return <div class="md-block" innerHTML={props.block.html} />;
}

function Finished(props: { block: Block }): JSX.Element {
  let element!: HTMLDivElement;
  onMount(() => {
    const code = element.querySelector<HTMLElement>("code[data-language]");
    if (code && code.dataset["language"] !== "") void import("./highlight").then(({ highlight }) => highlight(code));
  });
  return <div class="md-block" ref={element} innerHTML={props.block.html} />;
}
