import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, parts, send, shows, world } from "./harness";

test("Stop ends a turn in the middle; what it had said stays, and Retry is offered", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { turn, stop } = parts(page);
  await send(page, "SLOW 3000");
  await shows(turn(2), "piece 5 of 3000");
  await stop.click();
  await shows(turn(2), "Cancelled");
  await turn(2).getByRole("button", { name: "Retry" }).first().waitFor();
  await stop.waitFor({ state: "detached" });
  await shows(turn(2), "piece 5 of 3000");
  await eventually("the journal to say so", async () => (await daemon.turns(conversation)).at(1)?.receipt?.outcome === "cancelled");
  assert.deepEqual(complaints, []);
});

test("what is sent while a turn runs waits as a chip that can be edited, moved and deleted, then runs", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { turn, turns, stop, forecast, fresh } = parts(page);
  await shows(forecast, /would resume [0-9a-f]{8}/);
  const session = /resume ([0-9a-f]{8})/.exec(await forecast.innerText())?.[1];
  await send(page, "SLEEP 600");
  await stop.waitFor();
  // What would hold now does not hold when its turn comes.
  await shows(forecast, `after this turn: resumes ${session} if it ends well`);
  await fresh.click();
  await shows(forecast, "after this turn: begins fresh: forced");
  await fresh.click();
  await send(page, "first MARK-a");
  await shows(forecast, `after this turn and 1 that waits: resumes ${session} if they end well`);
  await send(page, "second MARK-b");
  await send(page, "third MARK-c");
  const queue = page.getByRole("region", { name: "Queue" });
  const chips = queue.getByRole("listitem");
  const order = async (...wanted: string[]) =>
    await eventually(`the queue to be ${wanted}`, async () => {
      const texts = await chips.locator(".queue-text").allTextContents();
      return texts.length === wanted.length && wanted.every((words, at) => texts[at] === words);
    });
  await order("first MARK-a", "second MARK-b", "third MARK-c");

  await chips.nth(0).getByRole("button", { name: "first MARK-a" }).click();
  await queue.getByRole("textbox", { name: "Queued prompt" }).fill("edited MARK-d");
  await queue.getByRole("button", { name: "Save" }).click();
  await order("edited MARK-d", "second MARK-b", "third MARK-c");
  await chips.nth(1).getByRole("button", { name: "Delete from queue" }).click();
  await order("edited MARK-d", "third MARK-c");
  await chips.nth(1).getByRole("button", { name: "Move up" }).click();
  await order("third MARK-c", "edited MARK-d");
  assert.equal((await daemon.turns(conversation)).length, 2, "something began before its time");

  await stop.click();
  await shows(turn(2), "Cancelled");
  // A turn that was stopped holds what waits behind it until somebody says so.
  const goOn = queue.getByRole("button", { name: "Go on" });
  await eventually("the queue to go on", async () => {
    if (await goOn.isVisible()) await goOn.click({ timeout: 1000 });
    return (await turn(4).count()) > 0;
  });
  await shows(turn(3), "third MARK-c");
  await shows(turn(4), "SEEN n=2 marks=MARK-c,MARK-d");
  await queue.waitFor({ state: "detached" });
  assert.equal(await turns.getByText("second MARK-b").count(), 0);
  assert.deepEqual(complaints, []);
});

test("a turn that `rejoin run` begins in a terminal streams into the open page, and into the list", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { turn, conversations } = parts(page);
  await turn(1).waitFor();
  const other = daemon.run("another SLOW 100");
  await shows(conversations, "another SLOW 100");
  const ran = daemon.run("SLOW 400", "-r", conversation);
  let over = false;
  void ran.finally(() => (over = true));
  await shows(turn(2), "piece 3 of 400");
  assert.ok(!over, "it was shown at its end only");
  await shows(turn(2), "resumed");
  await Promise.all([ran, other]);
  await shows(turn(2), "piece 400 of 400");
  assert.deepEqual(complaints, []);
});

test("a question is answered in one of two tabs, and both know", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const one = await open(`/c/${conversation}`);
  const two = await open(`/c/${conversation}`);
  const inbox = await open("/inbox");
  await parts(two).turn(1).waitFor();
  await send(one, "ASK");
  const asked = parts(two).turn(2).getByRole("form", { name: "Tea or coffee?" });
  await asked.waitFor();
  await parts(one).turn(2).getByRole("form", { name: "Tea or coffee?" }).waitFor();
  await shows(parts(inbox).inbox, "Tea or coffee?");
  await asked.getByRole("button", { name: "coffee" }).click();
  for (const page of [one, two]) {
    await shows(parts(page).turn(2), "Asked and answered: Tea or coffee? coffee");
    await asked.waitFor({ state: "detached" });
    await parts(page).stop.waitFor({ state: "detached" });
  }
  await shows(parts(inbox).inbox, "Answered elsewhere");
  await eventually("the agent to have heard it", async () => /coffee/.test((await daemon.said(conversation)).at(1) ?? ""));
  assert.deepEqual(complaints, []);
});
