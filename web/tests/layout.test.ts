import assert from "node:assert/strict";
import { test } from "node:test";
import { parts, shows, world } from "./harness";

const LONG = "a prompt of many words, so that there is more to say about it than fits beside a decision and a time";

test("the drawing of all branches is as wide as the window, and nothing is printed over something else", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run(LONG);
  for (const at of [1, 2]) await daemon.run(`${LONG} ${at}`, "-r", conversation);
  await daemon.done("rewind", conversation, "1");
  await daemon.run(`${LONG} beside it`, "-r", conversation);
  const page = await open(`/c/${conversation}/tree`);
  await shows(parts(page).branches, "beside it");
  for (const width of [360, 768, 800, 900, 1024, 1280]) {
    await page.setViewportSize({ width, height: 800 });
    const found = await page.evaluate(() => {
      const over = document.documentElement.scrollWidth - innerWidth;
      const boxes = [...document.querySelectorAll(".tree-row")].map((row) => [...row.children].map((part) => part.getBoundingClientRect()).filter(({ width }) => width > 0));
      const printed = boxes.filter((row) => row.some((box, at) => at > 0 && box.left < (row[at - 1]?.right ?? 0) - 0.5)).length;
      const words = [...document.querySelectorAll(".tree-row .tree-words")].map((one) => one.getBoundingClientRect().width);
      return { over, printed, words: Math.min(...words) };
    });
    assert.deepEqual({ over: found.over, printed: found.printed }, { over: 0, printed: 0 }, `at ${width}`);
    assert.ok(found.words >= 100, `at ${width} ${found.words} pixels are left for the words of a turn`);
  }
  assert.deepEqual(complaints, []);
});
