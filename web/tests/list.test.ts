import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { eventually, parts, shows, world } from "./harness";

test("the list says which conversation asks, for as long as it asks", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { conversations, turn } = parts(page);
  const row = conversations.getByRole("listitem").filter({ hasText: "hello" });
  await row.getByText("1 turn").waitFor();
  const { run } = await daemon.begun("ASK", { conversation, interactive: true });
  await row.getByText("asks", { exact: true }).waitFor();
  await turn(2).getByRole("form", { name: "Tea or coffee?" }).getByRole("button", { name: "coffee" }).click();
  await row.getByText("asks", { exact: true }).waitFor({ state: "detached" });
  assert.equal(await daemon.ended(run), "completed");
  assert.deepEqual(complaints, []);
});

test("the beginning of an id leads to its conversation, and an unknown one is told and leads home", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation.slice(0, 8)}`);
  await shows(parts(page).turn(1), "hello");
  await eventually("the whole id", () => page.url().endsWith(`/c/${conversation}`));
  await page.goto(`${daemon.origin}/c/00000000-0000-4000-8000-000000000000`);
  await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
  await page.getByRole("link", { name: "To the conversations" }).click();
  await eventually("home", () => new URL(page.url()).pathname === "/");
  await page.goto(`${daemon.origin}/c/0000000`);
  await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
  await page.goBack();
  await eventually("home again", () => new URL(page.url()).pathname === "/");
  await page.goBack();
  await page.getByRole("heading", { name: "There is no such conversation" }).waitFor();
  assert.deepEqual(complaints.filter((complaint) => !complaint.includes("404")), []);
});

test("a run with a skipped step is told as the list of runs tells it, and its conversations are marked", async (t) => {
  const { daemon, open, complaints } = await world(t);
  writeFileSync(join(daemon.project, "skips.flow.yaml"), "name: skips\nsteps:\n  say: { agent: demo, prompt: hello }\n  never: { needs: [say], when: \"false\", run: \"echo no\" }\n");
  const { id } = JSON.parse(await daemon.done("flow", "run", "skips.flow.yaml", "-o", "json")) as { id: string };
  const page = await open(`/flows/${id}`);
  await page.getByText("1 step done, 1 skipped").waitFor();
  await parts(page).conversations.getByRole("img", { name: "of a flow" }).waitFor();
  await page.goto(`${daemon.origin}/flows`);
  await page.getByText("1 step done", { exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});
