import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually, parts, send, shows, world, type Daemon } from "./harness";

/** A conversation of turns that each have a mark. */
async function marked(daemon: Daemon, ...marks: string[]): Promise<string> {
  const conversation = await daemon.run(`say ${marks[0]}`);
  for (const mark of marks.slice(1)) await daemon.run(`say ${mark}`, "-r", conversation);
  return conversation;
}

/** Uses a button of a turn's toolbar. */
async function act(page: Page, number: number, name: string): Promise<void> {
  const turn = parts(page).turn(number);
  await turn.hover();
  await turn.getByRole("button", { name, exact: true }).click();
}

const marksOf = async (daemon: Daemon, conversation: string) => (await daemon.said(conversation)).map((said) => /marks=(\S+)/.exec(said)?.[1]);

test("an edited prompt shows both wordings, and the next turn begins fresh: history changed", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await marked(daemon, "MARK-one", "MARK-two");
  const page = await open(`/c/${conversation}`);
  const { forecast, turn } = parts(page);
  await shows(forecast, "would resume");
  await act(page, 1, "Edit the prompt");
  const wording = turn(1).getByRole("textbox", { name: "New wording" });
  await wording.fill("say MARK-other");
  await turn(1).getByRole("button", { name: "Save wording" }).click();
  await shows(turn(1), "say MARK-other");
  await turn(1).getByRole("button", { name: "edited" }).click();
  await shows(turn(1).locator("dd").first(), "say MARK-one");
  await shows(forecast, "would begin fresh: history changed");
  await send(page, "what now");
  await shows(turn(3), "fresh: history changed");
  await shows(turn(3), /marks=MARK-other,/);
  assert.equal((await daemon.turns(conversation)).at(2)?.receipt?.plan.reason, "history_changed");
  assert.deepEqual(complaints, []);
});

test("branch, switch, back: the same turns are there again, and what is sent goes on behind them", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await marked(daemon, "MARK-one", "MARK-two", "MARK-three");
  const page = await open(`/c/${conversation}`);
  const { turn, branches } = parts(page);
  await turn(3).waitFor();
  await act(page, 1, "Branch from here");
  const dialog = page.getByRole("dialog", { name: "Branch from here" });
  await dialog.getByRole("textbox").fill("aside");
  await dialog.getByRole("button", { name: "Branch", exact: true }).click();
  await eventually("the later turns to be gone", async () => (await turn(2).count()) === 0);
  await send(page, "say MARK-aside");
  await shows(turn(2), "marks=MARK-one,MARK-aside");
  assert.deepEqual((await daemon.turns(conversation)).length, 2);

  // Back, by the tree: a click previews, Enter switches.
  await page.getByRole("button", { name: "Branches", exact: true }).click();
  await branches.getByRole("treeitem").filter({ hasText: "say MARK-three" }).click();
  await page.getByRole("region", { name: "Preview" }).waitFor();
  await shows(turn(3), "MARK-three");
  assert.deepEqual((await daemon.turns(conversation)).length, 2, "a preview changed the head");
  await branches.press("Enter");
  await eventually("the head to move", async () => (await daemon.turns(conversation)).length === 3);
  await page.getByRole("region", { name: "Preview" }).waitFor({ state: "detached" });
  await send(page, "say MARK-four");
  await shows(turn(4), "marks=MARK-one,MARK-two,MARK-three,MARK-four");

  // And to the branch again.
  await branches.getByRole("treeitem").filter({ hasText: "say MARK-aside" }).click();
  await shows(turn(2), "MARK-aside");
  await branches.press("Enter");
  await eventually("the head to move", async () => (await daemon.turns(conversation)).length === 2);
  assert.deepEqual(await marksOf(daemon, conversation), ["MARK-one", "MARK-one,MARK-aside"]);
  assert.deepEqual(complaints, []);
});

test("[ and ] go to the turns beside this one", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await marked(daemon, "MARK-one", "MARK-two");
  const page = await open(`/c/${conversation}`);
  const { turn, turns } = parts(page);
  // Other words in the second turn's stead, which stays.
  await act(page, 2, "Edit the prompt");
  await turn(2).getByRole("textbox", { name: "New wording" }).fill("say MARK-instead");
  await turn(2).getByRole("button", { name: "Save and run from here" }).click();
  await shows(turn(2), "marks=MARK-one,MARK-instead");
  await shows(turn(2).getByRole("group", { name: "Branches of this turn" }), "2/2");
  await turns.press("[");
  await shows(turn(2), "marks=MARK-one,MARK-two");
  await shows(turn(2).getByRole("group", { name: "Branches of this turn" }), "1/2");
  await eventually("the head to move", async () => (await marksOf(daemon, conversation)).at(1) === "MARK-one,MARK-two");
  await turns.press("]");
  await shows(turn(2), "marks=MARK-one,MARK-instead");
  await eventually("the head to move", async () => (await marksOf(daemon, conversation)).at(1) === "MARK-one,MARK-instead");
  assert.deepEqual(complaints, []);
});
