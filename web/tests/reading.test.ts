import assert from "node:assert/strict";
import { test } from "node:test";
import type { Locator } from "playwright-core";
import { eventually, parts, shows, world, type Daemon } from "./harness";
import { addTurns } from "./journal";

/** A conversation that is longer than what is seen of it. */
async function longer(daemon: Daemon): Promise<string> {
  const conversation = await daemon.run("hello");
  addTurns(daemon, conversation, Array.from({ length: 30 }, (_, at) => ({ prompt: `question ${at + 2}`, answer: `Answer ${at + 2}.\n\n- one\n- two` })));
  return conversation;
}

/** How much of it lies below what is seen. */
const below = (turns: Locator) => turns.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight);
const atEnd = (turns: Locator) => eventually("the end to be seen", async () => (await below(turns)) <= 1);

test("the end stays in sight while the composer grows, the window shrinks and text comes behind another tab", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await longer(daemon);
  const page = await open(`/c/${conversation}`);
  const { turn, turns, prompt } = parts(page);
  await shows(turn(31), "Answer 31.");
  await atEnd(turns);
  const heightOf = () => turns.evaluate((log) => log.clientHeight);
  const before = await heightOf();
  await page.locator("input[type=file]").setInputFiles({ name: "notes.txt", mimeType: "text/plain", buffer: Buffer.from("notes") });
  await shows(page.getByRole("list", { name: "Attachments" }), "notes.txt");
  await eventually("less room for the turns", async () => (await heightOf()) < before);
  await atEnd(turns);
  const attached = await heightOf();
  await prompt.fill(Array.from({ length: 8 }, (_, line) => `line ${line}`).join("\n"));
  await eventually("less room for the turns", async () => (await heightOf()) < attached - 50);
  await atEnd(turns);
  await page.setViewportSize({ width: 700, height: 600 });
  await atEnd(turns);
  await page.setViewportSize({ width: 1280, height: 860 });
  await atEnd(turns);

  const other = await open("/inbox");
  const { run } = await daemon.begun("SLOW 60", { conversation });
  assert.equal(await daemon.ended(run), "completed");
  await other.close();
  await page.bringToFront();
  await shows(turn(32), "piece 60 of 60");
  await atEnd(turns);
  assert.deepEqual(complaints, []);
});

test("who scrolls up while text streams is left there, and who comes back to the end reads along again", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await longer(daemon);
  const page = await open(`/c/${conversation}`);
  const { turn, turns } = parts(page);
  await shows(turn(31), "Answer 31.");
  const { run } = await daemon.begun("SLOW 1000", { conversation });
  await shows(turn(32), "piece 9 of");
  await atEnd(turns);
  await turns.hover();
  await page.mouse.wheel(0, -30);
  const newest = page.getByRole("button", { name: "Newest" });
  await newest.waitFor();
  const top = () => turns.evaluate((log) => log.scrollTop);
  const stood = await eventually("it to stand still", async () => {
    const before = await top();
    await new Promise((done) => setTimeout(done, 200));
    return before === (await top()) ? before : null;
  });
  await eventually("more text than fits", async () => (await below(turns)) > 60);
  assert.equal(await top(), stood);
  await newest.click();
  await eventually("the end", async () => (await below(turns)) <= 40);
  await turns.press("PageUp");
  await newest.waitFor();
  await turns.press("End");
  await newest.waitFor({ state: "detached" });
  await shows(turn(32), "piece 1000 of 1000");
  assert.equal(await daemon.ended(run), "completed");
  await atEnd(turns);
  assert.deepEqual(complaints, []);
});
