import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, parts, send, shows, world } from "./harness";

test("two turns from the page: the second one is resumed, and the forecast said so", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const page = await open(`/new?project=${encodeURIComponent(daemon.project)}&agent=demo`);
  const { forecast, turn } = parts(page);
  await shows(forecast, "first turn");
  await send(page, "remember MARK-one");
  await shows(turn(1), "SEEN n=1 marks=MARK-one");
  await shows(turn(1), "fresh: first turn");
  await shows(forecast, "would resume");
  await send(page, "and MARK-two");
  await shows(turn(2), "SEEN n=2 marks=MARK-one,MARK-two");
  await shows(turn(2), /● resumed [0-9a-f]{4}.* · 12 bytes sent/);
  assert.match(new URL(page.url()).pathname, /^\/c\//);
  assert.deepEqual(complaints, []);
});

test("the switch Fresh session: the forecast says what it costs, and the turn begins fresh, once", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("remember MARK-one");
  const page = await open(`/c/${conversation}`);
  const { forecast, fresh, turn } = parts(page);
  await shows(forecast, "would resume");
  await fresh.click();
  await shows(forecast, "would begin fresh: forced");
  assert.equal(await fresh.getAttribute("aria-checked"), "true");
  await send(page, "and MARK-two");
  await shows(turn(2), "fresh: forced");
  await shows(turn(2), "1 turn replayed");
  // It was wished for one turn.
  await eventually("the switch to be off", async () => (await fresh.getAttribute("aria-checked")) === "false");
  await shows(forecast, "would resume");
  await send(page, "and MARK-three");
  await shows(turn(3), "resumed");
  const plans = (await daemon.turns(conversation)).map((one) => one.receipt?.plan.reason ?? one.receipt?.plan.decision);
  assert.deepEqual(plans, ["first_turn", "forced", "resume"]);
  assert.deepEqual(complaints, []);
});

test("an empty installation shows what resuming is in two clicks", async (t) => {
  const { open, complaints } = await world(t);
  const page = await open();
  await page.getByRole("button", { name: "Try the demo agent" }).click();
  await page.getByRole("button", { name: "Sent", exact: true }).waitFor();
  await page.getByRole("button", { name: "Send the second prompt" }).click();
  const { turn } = parts(page);
  await shows(turn(2), "resumed");
  await shows(turn(2), "10 bytes sent");
  assert.deepEqual(complaints, []);
});

test("a draft outlives reload and a daemon that is gone; sent again it becomes one turn", async (t) => {
  const { daemon, open } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { prompt, send: button, turn } = parts(page);
  await prompt.fill("do not lose me");
  await page.reload();
  await eventually("the draft to be there", async () => (await prompt.inputValue()) === "do not lose me");
  await daemon.kill();
  await button.click();
  await page.getByRole("alert").filter({ hasText: "Not sent" }).waitFor();
  assert.equal(await prompt.inputValue(), "do not lose me");
  await daemon.begin();
  await page.getByRole("alert").getByRole("button", { name: "Try again" }).click();
  await shows(turn(2), "do not lose me");
  await eventually("the turn to end", async () => (await daemon.turns(conversation)).at(1)?.state === "completed");
  assert.equal((await daemon.turns(conversation)).length, 2);
  assert.equal(await prompt.inputValue(), "");
});
