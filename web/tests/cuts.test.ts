import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import type { Page } from "playwright-core";
import { bare, drawn, eventually, parts, shows, world, type Daemon } from "./harness";
import { Network } from "./network";

/** A run takes some seconds: few of them, with another seed each time. */
const RUNS = 6;
const LONGEST = 100_000;
const PIECES = 150;

interface Cut {
  how: "reload" | "sleep" | "kill";
  /** It comes when so many pieces are drawn, or when the turn is over. */
  after: number;
  /** How long the network is away, or nobody answers. */
  milliseconds: number;
}
const cut = fc.record<Cut>({
  how: fc.constantFrom("reload", "sleep", "kill"),
  after: fc.nat({ max: PIECES }),
  milliseconds: fc.nat({ max: 700 }),
});
const pause = (milliseconds: number) => new Promise((done) => setTimeout(done, milliseconds));

async function make(daemon: Daemon, network: Network, page: Page, { how, milliseconds }: Cut): Promise<void> {
  switch (how) {
    case "reload":
      await page.reload();
      break;
    case "sleep":
      network.cut();
      await pause(milliseconds);
      network.mend();
      break;
    case "kill":
      await daemon.kill();
      await pause(milliseconds);
      await daemon.begin();
      break;
  }
}

test("whatever cuts the stream, and whenever, the page shows what the journal has", async (t) => {
  const network = await Network.start();
  t.after(() => network.end());
  const { daemon, open } = await world(t, { network });
  // Not every character is a byte, and a piece may end within one.
  writeFileSync(join(daemon.project, "words"), "Grüße – 你好, 🙂‍↔️ ß\n".repeat(20));
  const seed = Number(process.env["REJOIN_TEST_SEED"] ?? Date.now() % 2 ** 31);
  t.diagnostic(`REJOIN_TEST_SEED=${seed}`);
  const property = fc.asyncProperty(fc.array(cut, { minLength: 1, maxLength: 3 }), async (cuts) => {
    const begun = await daemon.begun(`SLOW ${PIECES / 2} TOOL-RUN [cat words] SLOW ${PIECES / 2}`);
    const page = await open(`/c/${begun.conversation}`);
    const { turn } = parts(page);
    const pieces = async () => ((await drawn(page, 1)).match(/piece/g) ?? []).length;
    const over = async () => /^(completed|failed|cancelled|interrupted|timeout)$/.test((await turn(1).getAttribute("data-status")) ?? "");
    for (const one of [...cuts].sort((a, b) => a.after - b.after)) {
      await turn(1).waitFor();
      await eventually(`${one.after} pieces`, async () => (await pieces()) >= one.after || (await over()));
      await make(daemon, network, page, one);
    }
    await daemon.ended(begun.run);
    await turn(1).waitFor();
    const said = bare((await daemon.said(begun.conversation))[0] ?? "");
    await eventually("the turn to be shown as over", over);
    await eventually(`the page to show ${said.slice(-200)}`, async () => (await drawn(page, 1)) === said, 10_000).catch(async (error: unknown) => {
      throw new Error(`the journal has …${said.slice(-300)}\nthe page has …${(await drawn(page, 1)).slice(-300)}`, { cause: error });
    });
    await page.close();
  });
  await fc.assert(property, { seed, numRuns: RUNS, interruptAfterTimeLimit: LONGEST, endOnFailure: true });
});

test("a page whose network is away says so, and shows all when it is back", async (t) => {
  const network = await Network.start();
  t.after(() => network.end());
  const { daemon, open } = await world(t, { network });
  const begun = await daemon.begun("SLOW 250");
  const page = await open(`/c/${begun.conversation}`);
  const { turn } = parts(page);
  await shows(turn(1), "piece 5 of 250");
  network.cut();
  await shows(page.getByRole("status"), "Reconnecting");
  const then = await drawn(page, 1);
  assert.equal(await daemon.ended(begun.run), "completed");
  assert.equal(await drawn(page, 1), then, "the network was not away");
  network.mend();
  await page.getByRole("button", { name: "Try now" }).click();
  await shows(page.getByRole("status"), /[0-9,]+ records? behind, all here now; nothing was lost/);
  await shows(turn(1), "piece 250 of 250");
  assert.equal(await drawn(page, 1), bare((await daemon.said(begun.conversation))[0] ?? ""));
});
