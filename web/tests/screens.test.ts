import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { eventually, parts, shows, world } from "./harness";

test("what a plot shows stands in its table and in its file, too", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  await daemon.run("again", "-r", conversation);
  const page = await open("/stats");
  await page.getByRole("button", { name: "Table: Bytes per turn" }).click();
  const table = page.getByRole("region", { name: "Bytes per turn, as a table" });
  const today = new Date().toISOString().slice(0, 10);
  const cells = await table.getByRole("row").filter({ hasText: today }).getByRole("cell").allTextContents();
  assert.equal(cells[1] ?? cells[0], "2");
  const [file] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Download as CSV: Bytes per turn" }).click()]);
  const lines = readFileSync(await file.path(), "utf8").trimEnd().split("\r\n");
  assert.match(lines[0] ?? "", /^day,turns,bytes sent/);
  assert.match(lines.find((line) => line.startsWith(today)) ?? "", /^[0-9-]{10},2,[0-9]+,[0-9]+,/);
  assert.deepEqual(complaints, []);
});

test("a token that is made is good, seen once, and good for nothing when it was revoked", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const page = await open("/devices");
  const form = page.getByRole("form", { name: "New token" });
  await form.getByRole("textbox", { name: "Name" }).fill("phone");
  await form.getByRole("button").last().click();
  const revoke = page.getByRole("button", { name: "Revoke phone" });
  await revoke.waitFor();
  const secret = /rejoin_[\w-]{20,}|[\w-]{40,}/.exec(await page.getByRole("main").innerText())?.[0];
  assert.ok(secret, "no secret is shown");
  const asked = async () => (await fetch(`${daemon.origin}/api/v1/conversations`, { headers: { Authorization: `Bearer ${secret}` } })).status;
  assert.equal(await asked(), 200);
  await page.reload();
  await revoke.waitFor();
  assert.ok(!(await page.getByRole("main").innerText()).includes(secret));
  await revoke.click();
  await page.getByRole("dialog").getByRole("button", { name: "Revoke", exact: true }).click();
  await revoke.waitFor({ state: "detached" });
  assert.equal(await asked(), 401);
  assert.deepEqual(complaints, []);
});

test("back leads to where one was, turn, screen and conversation", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const one = await daemon.run("first words");
  const two = await daemon.run("second words");
  const page = await open(`/c/${one}`);
  const { turn, conversations } = parts(page);
  await shows(turn(1), "first words");
  await conversations.getByRole("link").filter({ hasText: "second words" }).click();
  await shows(turn(1), "second words");
  await page.getByRole("link", { name: "Stats" }).click();
  await page.getByRole("heading", { name: "Stats" }).waitFor();
  await page.goBack();
  await shows(turn(1), "second words");
  await eventually("its address", () => page.url().endsWith(`/c/${two}`));
  await page.goBack();
  await shows(turn(1), "first words");
  await page.goForward();
  await shows(turn(1), "second words");
  assert.deepEqual(complaints, []);
});

test("a path that was rewound ends there, and the next turn begins fresh", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("say MARK-one");
  await daemon.run("say MARK-two", "-r", conversation);
  const page = await open(`/c/${conversation}`);
  const { turn, forecast } = parts(page);
  await turn(2).waitFor();
  await turn(1).hover();
  await turn(1).getByRole("button", { name: "Rewind to here", exact: true }).click();
  await turn(2).waitFor({ state: "detached" });
  await shows(forecast, "would begin fresh: history changed");
  assert.equal((await daemon.turns(conversation)).length, 1);
  assert.deepEqual(complaints, []);
});
