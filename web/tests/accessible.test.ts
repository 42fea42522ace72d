import assert from "node:assert/strict";
import { test } from "node:test";
import axe from "axe-core/axe.min.js?raw";
import type { Page } from "playwright-core";
import { eventually, parts, shows, world, type Daemon } from "./harness";
import { addTurns } from "./journal";

const MARKDOWN = "# Heading\n\nA [link](https://example.invalid/) and `code`.\n\n```rust\nfn main() { /* words */ }\n```\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n> quoted\n\n- [x] done\n- one\n";

/** Where each fault was seen. */
type Seen = Map<string, string[]>;

/** What axe holds for serious on a page, as it is now. */
async function faults(page: Page): Promise<string[]> {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  // What moves has other colours than what stands.
  await page.evaluate(() => Promise.all(document.getAnimations().map((one) => one.effect?.getComputedTiming().iterations === Infinity ? null : one.finished.catch(() => null))));
  return await page.evaluate(async () => {
    const { axe } = window as unknown as { axe: { run(on: Document, options: object): Promise<{ violations: { id: string; impact: string; nodes: { html: string; failureSummary: string }[] }[] }> } };
    const found = await axe.run(document, { resultTypes: ["violations"] });
    return found.violations
      .filter(({ impact }) => impact === "serious" || impact === "critical")
      .flatMap(({ id, nodes }) => nodes.slice(0, 3).map(({ html, failureSummary }) => `${id}: ${html.slice(0, 200)} ${failureSummary.replaceAll("\n", " ")}`));
  });
}

async function looked(page: Page, where: string, seen: Seen): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    for (const fault of await faults(page)) seen.set(fault, [...(seen.get(fault) ?? []), `${where} (${colorScheme})`]);
  }
}

/** A conversation with everything that a turn can show. */
async function everything(daemon: Daemon): Promise<string> {
  const conversation = await daemon.run("THINK TOOL-RUN [seq 5] TOOL-RUN [cat nowhere] MARK-a");
  addTurns(daemon, conversation, [{ prompt: "more", answer: MARKDOWN }]);
  await daemon.rejoin("run", "--agent", "demo", "-r", conversation, "FAIL rate_limit come again later");
  const { run } = await daemon.begun("ASK", { conversation, interactive: true });
  await eventually("the question", async () => (await daemon.api<{ status: string }>("GET", `/runs/${run}`)).status === "waiting");
  return conversation;
}

/** Each screen, and how it is seen that it is there. */
const SCREENS: [name: string, path: string, there: (page: Page) => Promise<void>][] = [
  ["home", "/", (page) => parts(page).conversations.waitFor()],
  ["new", "/new?agent=demo", (page) => parts(page).prompt.waitFor()],
  ["inbox", "/inbox", (page) => shows(parts(page).inbox, "Tea or coffee?")],
  ["flows", "/flows", (page) => page.locator("main h1, main h2").first().waitFor()],
  ["stats", "/stats", (page) => page.locator("main h1, main h2").first().waitFor()],
  ["agents", "/agents", (page) => page.locator("main h1, main h2").first().waitFor()],
  ["devices", "/devices", (page) => page.locator("main h1, main h2").first().waitFor()],
  ["nothing", "/nowhere", (page) => page.getByText("nothing at this address").waitFor()],
];

async function loaded(page: Page): Promise<void> {
  await eventually("everything to be loaded", async () => (await page.locator(".loading").count()) === 0);
}

for (const width of [1280, 360]) {
  test(`axe finds nothing serious on any screen, light or dark, ${width} wide`, async (t) => {
    const { daemon, open, context, complaints } = await world(t, { width });
    const seen: Seen = new Map();
    const page = await open();
    await page.getByRole("button", { name: "Try the demo agent" }).waitFor();
    await looked(page, "an empty installation", seen);
    const conversation = await everything(daemon);
    for (const [name, path, there] of SCREENS) {
      await page.goto(daemon.origin + path);
      await there(page);
      await loaded(page);
      await looked(page, name, seen);
    }

    await page.goto(`${daemon.origin}/c/${conversation}`);
    await shows(parts(page).turn(4), "Tea or coffee?");
    await looked(page, "the end of a conversation", seen);
    await parts(page).turns.press("Home");
    for (const fold of await parts(page).turn(1).locator("summary").all()) await fold.click();
    await looked(page, "the first turns, unfolded", seen);
    await page.keyboard.press("i");
    await page.getByRole("complementary", { name: "Inspector" }).waitFor();
    await loaded(page);
    await looked(page, "the inspector", seen);
    await page.keyboard.press("i");
    await page.keyboard.press("t");
    await parts(page).branches.getByRole("treeitem").first().waitFor();
    await looked(page, "the branches", seen);
    await page.goto(`${daemon.origin}/c/${conversation}/tree`);
    await parts(page).branches.getByRole("treeitem").first().waitFor();
    await looked(page, "all branches", seen);
    await page.keyboard.press("?");
    await page.getByRole("dialog").waitFor();
    await looked(page, "the keys", seen);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("MARK");
    await page.getByRole("option").first().waitFor();
    await looked(page, "the search", seen);

    const stranger = await (await context.browser()?.newContext({ viewport: { width, height: 800 } }))?.newPage();
    assert.ok(stranger);
    await stranger.goto(daemon.origin);
    await stranger.getByText("rejoin serve --url").waitFor();
    await looked(stranger, "the login", seen);
    assert.equal([...seen].map(([fault, where]) => `${fault}\n    on ${where.join(", ")}\n`).join(""), "");
    assert.deepEqual(complaints, []);
  });
}
