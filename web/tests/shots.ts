// Pictures of the page for the documentation: `node shots.js DIRECTORY`. What they show was done by the demo agent.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import { Daemon, needed } from "./daemon";

const FLOW = `name: review
inputs:
  area: { default: src, description: "directory to look at" }
steps:
  diagnose: { agent: demo, prompt: "Find the bug in {{ inputs.area }}." }
  checks:
    parallel:
      tests: { run: "echo 1 of 12 failed; exit 1", allow_failure: true }
      lint: { run: "echo lint is clean" }
  fix: { continue_from: diagnose, prompt: "Fix it. Tests say: {{ steps.tests.output }}" }
  opinion: { agent: demo2, continue_from: fix, prompt: "Review the change." }
`;

async function main(directory: string): Promise<void> {
  const daemon = await Daemon.start();
  const browser = await chromium.launch({ executablePath: needed("REJOIN_TEST_CHROMIUM"), args: ["--headless", "--no-sandbox", "--disable-gpu"] });
  try {
    const conversation = await work(daemon);
    const run = await flow(daemon);
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: "light" });
    const page = await context.newPage();
    await page.goto(await daemon.loginUrl());
    const shoot = async (name: string, path: string, look: (page: Page) => Promise<unknown>) => {
      await page.goto(daemon.origin + path);
      await look(page);
      await page.mouse.move(0, 0);
      await page.evaluate(() => (document.activeElement as HTMLElement | null)?.blur());
      await page.screenshot({ path: join(directory, `web-${name}.png`), animations: "disabled" });
    };
    await shoot("conversation", `/c/${conversation}`, async () => {
      await page.getByRole("article", { name: "Turn 5" }).getByTitle("Receipt and guards").first().click();
      await page.getByRole("region", { name: "Guards" }).getByText("would resume").waitFor();
      await page.getByRole("region", { name: "Forecast" }).getByText("would resume").waitFor();
    });
    await shoot("branches", `/c/${conversation}/tree`, () => page.getByRole("treeitem").first().waitFor());
    await shoot("flow", `/flows/${run}`, () => page.getByText("opinion").first().waitFor());
    await page.emulateMedia({ colorScheme: "dark" });
    await shoot("stats", "/stats", () => page.getByRole("img", { name: /^Bytes per turn/ }).waitFor());
  } finally {
    await browser.close();
    await daemon.end();
  }
}

/** A conversation with a handoff, a branch and an edit; and one beside it. */
async function work(daemon: Daemon): Promise<string> {
  await daemon.run("Write down what we decided about retries");
  const conversation = await daemon.run("The parser loses the last line of a file without a newline. Find out why.");
  const on = (agent: string, prompt: string) => daemon.done("run", "--agent", agent, "--resume", conversation, prompt);
  await on("demo", "THINK Which test would have found it? TOOL-RUN cat README.md");
  await on("demo2", "Do you agree with that?");
  await on("demo", "Then write the test, and fix it.");
  await daemon.done("rewind", conversation, "1");
  await on("demo", "Fix it without touching the tests.");
  await on("demo", "Now say in one line what changed.");
  return conversation;
}

async function flow(daemon: Daemon): Promise<string> {
  writeFileSync(join(daemon.project, "review.flow.yaml"), FLOW);
  const run = JSON.parse(await daemon.done("flow", "run", "review.flow.yaml", "-o", "json"));
  return run.id;
}

const [, , directory] = process.argv;
if (directory === undefined) throw new Error("say where the pictures go");
await main(directory);
