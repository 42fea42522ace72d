// Text of agents as Markdown, never as HTML: tags show as they were written, and only plain links are links.

import DOMPurify from "dompurify";
import { Marked, type Token, type Tokens } from "marked";
import { visible } from "../ui/visible";

const escape = (text: string) =>
  text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** Only addresses that a person would follow; everything else (a path, `javascript:`) stays text. */
function safeAddress(href: string): string | null {
  try {
    const url = new URL(href);
    return ["http:", "https:", "mailto:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}

const marked = new Marked({ gfm: true, breaks: false, async: false });
marked.use({
  renderer: {
    html: (token: Tokens.HTML | Tokens.Tag) => escape(token.text),
    link(token: Tokens.Link) {
      const inner = this.parser.parseInline(token.tokens);
      const href = safeAddress(token.href);
      if (href === null) return token.text === token.href ? inner : `${inner} (<code>${escape(visible(token.href))}</code>)`;
      return `<a href="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow">${inner}</a>`;
    },
    image(token: Tokens.Image) {
      // Loading it would tell its host that, when and where this was read.
      const href = safeAddress(token.href);
      const name = escape(visible(token.text || token.href));
      return href === null
        ? `<span class="md-image">${name}</span>`
        : `<a class="md-image" href="${escape(href)}" target="_blank" rel="noopener noreferrer nofollow">${name} (image at ${escape(new URL(href).host)})</a>`;
    },
    code(token: Tokens.Code) {
      const language = /^[\w+#.-]{1,24}/.exec(token.lang ?? "")?.[0] ?? "";
      return `<div class="md-code"><div class="md-code-head"><span>${escape(language)}</span><button type="button" class="md-copy">Copy</button></div><pre tabindex="0"><code data-language="${escape(language)}">${escape(token.text)}\n</code></pre></div>`;
    },
    checkbox: ({ checked }: Tokens.Checkbox) => (checked ? "☑ " : "☐ "),
    table(token: Tokens.Table) {
      const cell = (one: Tokens.TableCell, tag: string) =>
        `<${tag}${one.align ? ` class="md-${one.align}"` : ""}>${this.parser.parseInline(one.tokens)}</${tag}>`;
      const head = token.header.map((one) => cell(one, "th")).join("");
      const rows = token.rows.map((row) => `<tr>${row.map((one) => cell(one, "td")).join("")}</tr>`).join("");
      return `<div class="md-table" tabindex="0"><table><thead><tr>${head}</tr></thead><tbody>${rows}</tbody></table></div>`;
    },
  },
});

const ALLOWED = {
  ALLOWED_TAGS: ["p", "br", "hr", "strong", "em", "del", "code", "pre", "a", "ul", "ol", "li", "blockquote", "h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td", "div", "span", "button"],
  ALLOWED_ATTR: ["href", "target", "rel", "class", "data-language", "start", "type", "tabindex"],
  ALLOW_DATA_ATTR: false,
  ADD_ATTR: ["target"],
};

export interface Block {
  raw: string;
  html: string;
}

function block(token: Token): Block {
  return { raw: token.raw, html: DOMPurify.sanitize(marked.parser([token]), ALLOWED) };
}

/** The block that is being written. */
export interface GrowingBlock {
  /** All of it, drawn anew. */
  html: () => string;
  /** What it has more than when it was read last, where that is but words: they need no reading, only to be added. */
  words: string | null;
}

/** Blocks that end in running text, to which words can be added. In a paragraph a line may end, too. */
const WORDS: Record<string, RegExp> = {
  paragraph: /^(?:[\p{L}\p{M}\p{N} ,.:;?!'"()…–—-]|(?<! )\n(?=\p{L}))*$/u,
  list: /^[\p{L}\p{M}\p{N} ,.:;?!'"()…–—-]*$/u,
};

/** White space at the end is not drawn until something follows it. */
const trimmedEnd = (text: string) => text.replace(/[ \n]+$/, "");

/** Reads a growing text as blocks; only its last one is read again when more comes, and not even that for words. */
export class GrowingMarkdown {
  private stable: Block[] = [];
  private stableText = "";
  /** The last block, as far as it was read. */
  private growing = { type: "", raw: "" };

  /** Blocks that stay, and the one that may still change. */
  read(text: string, finished: boolean): { stable: Block[]; last: GrowingBlock | null } {
    const shown = visible(text.replaceAll("\r\n", "\n"));
    if (!shown.startsWith(this.stableText)) {
      this.stable = [];
      this.stableText = "";
      this.growing = { type: "", raw: "" };
    }
    const rest = shown.slice(this.stableText.length);
    const words = finished ? null : this.addedWords(rest);
    if (words !== null) {
      this.growing.raw += words;
      return { stable: this.stable, last: { html: () => marked.lexer(rest).map((token) => block(token).html).join(""), words } };
    }
    const tokens = marked.lexer(rest);
    const keep = finished ? tokens.length : tokens.length - 1;
    const fresh = tokens.slice(0, Math.max(0, keep));
    if (fresh.length > 0) {
      this.stable = [...this.stable, ...fresh.filter((token) => token.type !== "space").map(block)];
      this.stableText += fresh.map((token) => token.raw).join("");
    }
    const last = finished ? undefined : tokens.at(-1);
    this.growing = { type: last?.type ?? "", raw: trimmedEnd(last?.raw ?? "") };
    return { stable: this.stable, last: last && last.type !== "space" ? { html: () => block(last).html, words: null } : null };
  }

  /** What the last block has more than when it was read; null if that has to be read as Markdown. */
  private addedWords(rest: string): string | null {
    const words = WORDS[this.growing.type];
    if (words === undefined || !rest.startsWith(this.growing.raw)) return null;
    const added = trimmedEnd(rest.slice(this.growing.raw.length));
    return words.test(added) ? added : null;
  }
}
