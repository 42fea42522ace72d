import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually, parts, shows, world } from "./harness";
import { addTurns } from "./journal";

/** A host that must never be asked. Whoever asks is seen by the harness. */
const EVIL = "http://evil.invalid";
/** Turns what follows around, hides, rings, moves the cursor. */
const TRICKS = "abc\u202egnp.exe\u2066x\u200by\u0007\u001b[31mz\u009b";
const WORDS = [
  `<script>window.owned=1; fetch("${EVIL}/script")</script>`,
  `<img src="${EVIL}/img.png" onerror="window.owned=1">`,
  `<svg onload="window.owned=1"><style>@import "${EVIL}/x.css"</style></svg>`,
  `<iframe src="${EVIL}/frame"></iframe><base href="${EVIL}/"><form action="${EVIL}"><input name=a></form>`,
  `<a href="javascript:window.owned=1">raw link</a>`,
];
const MARKDOWN = [
  "# A heading <script>window.owned=1</script>",
  "",
  ...WORDS.flatMap((words) => [words, ""]),
  `![picture](${EVIL}/markdown.png) ![data](data:image/svg+xml,<svg/onload=alert(1)>)`,
  "",
  "[script](javascript:window.owned=1) [data](data:text/html,<script>alert(1)</script>) [space](  java\tscript:alert(1))",
  `[good](https://example.invalid/page) <javascript:alert(1)> [ref]`,
  "",
  `[ref]: javascript:alert(1) "x" onclick=alert(1)`,
  "",
  "```html\" onmouseover=\"window.owned=1",
  `</code></pre><script>window.owned=1</script>`,
  "```",
  "",
  `| <img src=x onerror=alert(1)> | b |\n|---|---|\n| <b onmouseover=alert(1)>c</b> | [x](vbscript:x) |`,
  "",
  `${TRICKS}`,
  "",
].join("\n");

/** Nothing that the text asked for became part of the page. */
async function harmless(page: Page): Promise<void> {
  const found = await page.evaluate(() => {
    const wrong: string[] = [];
    for (const element of document.querySelectorAll("body *")) {
      for (const { name, value } of element.attributes) {
        if (name.startsWith("on")) wrong.push(`${element.tagName} ${name}`);
        if (["href", "src", "action", "formaction", "xlink:href"].includes(name) && /^\s*(javascript|data|vbscript):/i.test(value.replace(/[\u0000-\u0020]/g, ""))) wrong.push(`${element.tagName} ${name}=${value}`);
      }
    }
    for (const element of document.querySelectorAll("#content :is(script, iframe, object, embed, base, meta, link, style), #content img[src*='evil'], .markdown :is(form, input, svg, img)")) wrong.push(element.outerHTML);
    // eslint-disable-next-line no-control-regex
    const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b]/.exec(document.body.innerText);
    if (hidden) wrong.push(`U+${hidden[0].charCodeAt(0).toString(16)} in ${JSON.stringify(document.body.innerText.slice(hidden.index - 40, hidden.index + 40))}`);
    for (const element of document.querySelectorAll("[title], [aria-label]")) {
      const words = `${element.getAttribute("title")}${element.getAttribute("aria-label")}`;
      if (/[\u202a-\u202e\u2066-\u2069]/.test(words)) wrong.push(`${element.tagName} is named ${JSON.stringify(words)}`);
    }
    if ("owned" in window) wrong.push("a script ran");
    if (/[\u202a-\u202e]/.test(document.title)) wrong.push("the title is turned around");
    return wrong;
  });
  assert.deepEqual(found, []);
}

test("Markdown, tool output, titles and questions of a hostile agent show as text, and nothing is asked for", async (t) => {
  const { daemon, open, complaints } = await world(t);
  writeFileSync(join(daemon.project, "evil.md"), MARKDOWN);
  const title = `${WORDS[0]} ${TRICKS}`;
  const conversation = await daemon.run(title);
  await daemon.run("TOOL-RUN [cat evil.md] THINK", "-r", conversation);
  // The demo agent repeats one line at most.
  addTurns(daemon, conversation, [{ prompt: MARKDOWN, answer: MARKDOWN }]);
  const page = await open(`/c/${conversation}`);
  page.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  const { turn, turns, conversations, search, branches } = parts(page);
  // The page begins at the end; only what is near is drawn.
  await shows(turn(3).locator(".markdown"), "⟨202E⟩");
  await turns.hover();
  await eventually("the first turn", async () => {
    await page.mouse.wheel(0, -1500);
    return (await turns.evaluate((log) => log.scrollTop)) === 0;
  });
  await shows(turn(1), "<script>window.owned");
  await shows(turn(2), "<script>window.owned");
  await shows(conversations, "<script>window.owned");
  await eventually("the call to be shown", async () => (await turn(2).locator("details.call").count()) > 0);
  for (const call of await turn(2).locator("details > summary").all()) await call.click();
  await shows(turn(2).locator("details.call pre").last(), "onerror");
  await shows(turn(3).locator(".markdown"), "<iframe");
  await shows(turn(3).locator(".markdown"), "⟨202E⟩");
  await harmless(page);

  const links = await turn(3).locator(".markdown a").all();
  assert.ok(links.length > 0, "the good link is none");
  for (const link of links) {
    assert.match((await link.getAttribute("href")) ?? "", /^https?:/);
    assert.match((await link.getAttribute("rel")) ?? "", /noopener/);
  }

  await page.getByRole("button", { name: "Branches", exact: true }).click();
  await shows(branches, "<script>window.owned");
  await harmless(page);
  await search.fill("owned");
  await shows(page.getByRole("listbox", { name: "Results" }), "Said and done");
  await harmless(page);
  await search.fill("");

  const question = { text: `${WORDS[1]} ${TRICKS}`, choices: [WORDS[2], `${TRICKS}<b>`] };
  // Whoever reads elsewhere is left there.
  const newest = page.getByRole("button", { name: "Newest" });
  if (await newest.isVisible()) await newest.click();
  const { run } = await daemon.begun(`ASK ${JSON.stringify(question)}`, { conversation, interactive: true });
  await shows(turn(4), "<img src=");
  await harmless(page);
  const inbox = await open("/inbox");
  inbox.on("dialog", (dialog) => complaints.push(`dialog: ${dialog.message()}`));
  await shows(parts(inbox).inbox, "<img src=");
  await harmless(inbox);
  await parts(inbox).inbox.getByRole("button", { name: "<svg onload" }).click();
  assert.equal(await daemon.ended(run), "completed");
  // Behind another tab nothing is drawn.
  await page.bringToFront();
  await shows(turn(4), "Asked and answered");
  await harmless(page);
  assert.deepEqual(complaints, []);
});
