import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually, parts, shows, world, type Daemon } from "./harness";
import { addTurns } from "./journal";

const TURNS = 5_000;
/** One every 20 ms: more than can be said while somebody types, also on a busy machine. */
const CHUNKS = 1_200;
const SLOWER = 4;
/** Milliseconds from a key to the picture that shows it, for 95 of 100 keys: 50 where one alone takes a frame of 16. */
const KEY_TO_PAINT = 50;
const ADDED = KEY_TO_PAINT - 16;
/** On a machine that is busy with other things everything takes longer, with and without text that comes in. */
const TIMES = 2;
const WORDS = "words that somebody types while the agent is still talking, and a few more";
/** Other programs of the machine may spoil a round, but not all of them. */
const ROUNDS = 5;

/** Turns of every size, as agents write them. */
async function longConversation(daemon: Daemon): Promise<string> {
  const conversation = await daemon.run("hello");
  const turns = Array.from({ length: TURNS - 1 }, (_, at) => {
    const number = at + 2;
    const lines = Array.from({ length: (number * 7) % 12 }, (_, line) => `- item ${line} of turn ${number}, with \`code\` and **weight**`).join("\n");
    const code = number % 5 === 0 ? `\n\n\`\`\`rust\nfn turn_${number}() -> u32 {\n    ${number}\n}\n\`\`\`` : "";
    return { prompt: `question ${number}`, answer: `Answer ${number}.\n\n${lines}${code}` };
  });
  addTurns(daemon, conversation, turns);
  return conversation;
}

interface Measured {
  keys: number[];
  frames: number;
  blank: number;
}

/** Begins to note how long keys take to be painted, and whether a frame shows neither a turn nor its place. */
async function measure(page: Page): Promise<void> {
  await page.evaluate(() => {
    const measured: Measured = { keys: [], frames: 0, blank: 0 };
    const log = document.querySelector('[role="log"]') as HTMLElement;
    const observer = new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === "keydown") measured.keys.push(entry.duration);
    });
    // Quicker ones are not told: they are counted as such.
    observer.observe({ type: "event", durationThreshold: 16 } as PerformanceObserverInit);
    let goesOn = true;
    const look = () => {
      const at = log.getBoundingClientRect();
      const heights = [0.1, 0.3, 0.5, 0.7, 0.9].map((part) => at.top + at.height * part);
      measured.frames += 1;
      // Not by what a pointer would meet: while a list scrolls, it meets nothing.
      const places = [...log.querySelectorAll(".turn, .turn-skeleton")].map((turn) => turn.getBoundingClientRect());
      if (!heights.some((y) => places.some(({ top, bottom }) => top <= y && y <= bottom))) measured.blank += 1;
      if (goesOn) requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
    Object.assign(window, { measured, stopMeasuring: () => (observer.disconnect(), (goesOn = false)) });
  });
}

async function measured(page: Page): Promise<Measured> {
  return await page.evaluate(() => {
    const here = window as unknown as { measured: Measured; stopMeasuring: () => void };
    here.stopMeasuring();
    return here.measured;
  });
}

test("5,000 turns: while pieces stream and the processor is slow, keys are shown at once and nothing is blank", async (t) => {
  const { daemon, context, open, complaints } = await world(t);
  const conversation = await longConversation(daemon);
  const page = await open(`/c/${conversation}`);
  const { turn, turns, prompt } = parts(page);
  await shows(turn(TURNS), `Answer ${TURNS}.`);
  const devtools = await context.newCDPSession(page);
  /** Types on a processor that is slowed down, and says what was seen. */
  const typed = async () => {
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: SLOWER });
    await measure(page);
    await prompt.focus();
    await page.keyboard.type(WORDS, { delay: 25 });
    const { keys, frames, blank } = await measured(page);
    await devtools.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    assert.equal(await prompt.inputValue(), WORDS);
    assert.equal(blank, 0, `${blank} of ${frames} frames were blank`);
    await prompt.fill("");
    const slowest = keys.sort((a, b) => b - a);
    return slowest[Math.floor(WORDS.length * 0.05)] ?? 16;
  };
  const told: string[] = [];
  for (let round = 1; ; round += 1) {
    const alone = await typed();
    const number = TURNS + round;
    const { run } = await daemon.begun(`SLOW ${CHUNKS}`, { conversation });
    await shows(turn(number), `piece 1 of ${CHUNKS}`);
    const beside = await typed();
    const ended = (await turn(number).innerText()).includes(`piece ${CHUNKS} of`);
    assert.ok((await page.locator(".turn").count()) < 60, "all turns are drawn, not those near the eye");
    assert.equal(await daemon.ended(run), "completed");
    await shows(turn(number), `piece ${CHUNKS} of ${CHUNKS}`);
    // Who reads along is kept at the end.
    await eventually("the end to be seen", () => turns.evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight < 48));
    told.push(`${beside} ms, ${alone} ms while nothing was said${ended ? " (all was said before the typing ended)" : ""}`);
    if (!ended && beside < Math.max(KEY_TO_PAINT, alone + ADDED, alone * TIMES)) break;
    assert.ok(round < ROUNDS, `95 of 100 keys took up to ${told.join("; ")}`);
  }
  t.diagnostic(`key to paint, 95 of 100: ${told.join("; ")}`);
  assert.deepEqual(complaints, []);
});

test("5,000 turns: what is read stays where it is while older turns load above it", async (t) => {
  const { daemon, context, open, complaints } = await world(t);
  const conversation = await longConversation(daemon);
  const page = await open(`/c/${conversation}`);
  const { turn, turns } = parts(page);
  await shows(turn(TURNS), `Answer ${TURNS}.`);
  // Older turns come when the test says so.
  let come: () => void = () => {};
  const gate = new Promise<void>((open) => (come = open));
  let asked = 0;
  await context.route(/\/turns\?/, async (route) => {
    asked += 1;
    await gate;
    await route.continue();
  });
  const anchor = TURNS - 49;
  await turns.hover();
  // Up to the oldest turn that is here; what stands above it are places of turns.
  await eventually("the oldest turn", async () => {
    const drawn = (await turn(anchor).count()) > 0;
    const top = drawn ? await turn(anchor).evaluate((element) => element.getBoundingClientRect().top, undefined, { timeout: 500 }) : undefined;
    if (top !== undefined && top > 100) return true;
    await page.mouse.wheel(0, top === undefined ? -1500 : -300);
    return false;
  });
  await eventually("places of turns", async () => (await turns.locator(".turn-skeleton").count()) > 0);
  assert.ok(asked > 0);
  const place = () => turn(anchor).evaluate((element) => element.getBoundingClientRect().top);
  // Wheels roll on a little.
  let before = await place();
  await eventually("it to stand still", async () => {
    const last = before;
    await new Promise((done) => setTimeout(done, 100));
    before = await place();
    return last === before;
  });
  come();
  await turn(anchor - 1).waitFor({ state: "attached" });
  await eventually("the places to be filled", async () => (await turns.locator(".turn-skeleton").count()) === 0);
  const after = await place();
  assert.ok(Math.abs(after - before) <= 2, `it stood at ${before} and stands at ${after}`);

  // And anywhere else: an address of a turn, and the way from there up and down.
  const shown = await daemon.api<{ turns: { id: string; number: number }[] }>("GET", `/conversations/${conversation}/turns?at=${encodeURIComponent("@~2500")}&limit=1`);
  const middle = shown.turns[0];
  assert.ok(middle);
  await page.goto(`${daemon.origin}/c/${conversation}/t/${middle.id}`);
  await shows(turn(middle.number), `Answer ${middle.number}.`);
  assert.deepEqual(complaints, []);
});

test("what was unfolded is unfolded, and what was folded is folded, after it was scrolled away and back", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("THINK TOOL-RUN [seq 5]");
  addTurns(daemon, conversation, Array.from({ length: 60 }, (_, at) => ({ prompt: `question ${at}`, answer: `Answer ${at}.` })));
  const page = await open(`/c/${conversation}`);
  const { turn, turns } = parts(page);
  const folds = turn(1).locator("details");
  const awayAndBack = async () => {
    await turns.press("End");
    await eventually("the first turn to be gone", async () => (await turn(1).count()) === 0);
    await turns.press("Home");
    await folds.last().waitFor();
  };
  const unfolded = () => folds.evaluateAll((all) => all.map((one) => (one as HTMLDetailsElement).open));
  await turn(61).waitFor();
  await turns.press("Home");
  await folds.last().waitFor();
  const folded = (await unfolded()).map(() => false);
  assert.ok(folded.length >= 2, "a thought and a call");
  assert.deepEqual(await unfolded(), folded);
  for (const fold of await folds.all()) await fold.locator("summary").click();
  await shows(turn(1).locator(".call-body"), "Output");
  await awayAndBack();
  assert.deepEqual(await unfolded(), folded.map(() => true));
  await shows(turn(1).locator(".call-body"), "Output");
  await folds.last().locator("summary").click();
  await eventually("it to be folded", async () => (await unfolded()).at(-1) === false);
  await awayAndBack();
  assert.deepEqual(await unfolded(), [...folded.slice(1).map(() => true), false]);
  assert.deepEqual(complaints, []);
});
