import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually, parts, shows, world, type Daemon } from "./harness";

/** Streams that the daemon serves now. */
async function streams(daemon: Daemon): Promise<number> {
  const answer = await fetch(`${daemon.origin}/api/v1/metrics`, { headers: { Authorization: `Bearer ${daemon.token}` } });
  const told = /^rejoin_watchers (\d+)$/m.exec(await answer.text())?.[1];
  assert.ok(told !== undefined, "the daemon does not count its streams");
  return Number(told);
}

test("seven tabs hold one stream between them, and each shows its own conversation live", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const tabs = [];
  for (let number = 1; number <= 7; number += 1) {
    const conversation = await daemon.run(`conversation ${number}`);
    tabs.push({ conversation, page: await open(`/c/${conversation}`) });
  }
  for (const { page } of tabs) await parts(page).turn(1).waitFor();
  await eventually("one stream", async () => (await streams(daemon)) === 1);

  const runs = await Promise.all(tabs.map(({ conversation }, at) => daemon.begun(`MARK-tab${at} SLOW 40`, { conversation })));
  await Promise.all(tabs.map(async ({ page }, at) => {
    await shows(parts(page).turn(2), "piece 1 of 40");
    await shows(parts(page).turn(2), `marks=MARK-tab${at}`);
  }));
  for (const { run } of runs) assert.equal(await daemon.ended(run), "completed");
  await eventually("one stream", async () => (await streams(daemon)) === 1);

  for (const { page } of tabs.slice(1)) await page.close();
  const [first] = tabs;
  assert.ok(first);
  const { run } = await daemon.begun("MARK-alone", { conversation: first.conversation });
  await shows(parts(first.page).turn(3), "MARK-alone");
  await daemon.ended(run);
  // Tabs that went were let go of by another stream, which stands before the one before it ends.
  await eventually("one stream", async () => (await streams(daemon)) === 1);
  await first.page.close();
  await eventually("no stream, for no tab is left", async () => (await streams(daemon)) === 0);
  assert.deepEqual(complaints, []);
});
