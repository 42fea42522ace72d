// What the tests of the page stand on: a browser, a daemon for each test, and the page as people find it by name.
//
// The demo agent does what words of the prompt say (all: crates/rejoin-demo/src/help.txt). Used here:
//   MARK-x           its answer names every mark it remembers: "SEEN n=2 marks=MARK-a,MARK-b"
//   SLOW n           n pieces of text, one every 20 ms: "piece 1 of n"
//   THINK            a thought
//   TOOL-RUN [cmd]   runs cmd, and tells what it printed
//   ASK {json}       asks a question, waits, and tells the answer; without JSON "Tea or coffee?"
//   SLEEP s          s seconds with a tool at work
//   FAIL class text  ends as failed

import type { TestContext } from "node:test";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { Daemon, needed } from "./daemon";
import { eventually } from "./eventually";
import type { Network } from "./network";

export { Daemon } from "./daemon";
export { eventually } from "./eventually";

const FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"];
/** So long a text may take to appear on a busy machine. */
export const PATIENCE = 30_000;

export interface World {
  browser: Browser;
  context: BrowserContext;
  daemon: Daemon;
  /** Errors of scripts and of the policy, and requests to another origin. Each test ends by this being empty. */
  complaints: string[];
  /** A tab that shows this path, let in already. */
  open(path?: string): Promise<Page>;
}

/** A daemon and a browser that knows it, for one test. What went wrong in the page fails the test at its end. */
export async function world(test: TestContext, options: { letIn?: boolean; width?: number; height?: number; network?: Network } = {}): Promise<World> {
  const daemon = await Daemon.start();
  test.after(() => daemon.end());
  const proxy = options.network && { server: options.network.address, bypass: "<-loopback>" };
  const browser = await chromium.launch({ executablePath: needed("REJOIN_TEST_CHROMIUM"), args: FLAGS, proxy });
  test.after(() => browser.close());
  const context = await browser.newContext({ viewport: { width: options.width ?? 1280, height: options.height ?? 860 } });
  context.setDefaultTimeout(PATIENCE);
  const complaints: string[] = [];
  context.on("page", (page) => listenTo(page, daemon.origin, complaints));
  context.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(daemon.origin) && !/^(data|blob|about):/.test(url)) complaints.push(`asked for ${url}`);
  });
  const open = async (path = "/") => {
    const page = await context.newPage();
    await page.goto(daemon.origin + path);
    return page;
  };
  if (options.letIn !== false) {
    const page = await context.newPage();
    await page.goto(await daemon.loginUrl());
    // Not by its role: on a phone it stands behind what is shown.
    await page.locator("#search").waitFor({ state: "attached" });
    await page.close();
  }
  return { browser, context, daemon, complaints, open };
}

function listenTo(page: Page, origin: string, complaints: string[]): void {
  page.on("pageerror", (error) => complaints.push(`error: ${error.stack ?? error.message}`));
  page.on("console", (message) => {
    // A daemon that was killed cannot be reached: that is said by the browser itself, and no mistake of the page.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource: net::")) {
      const { url } = message.location();
      complaints.push(`console: ${message.text()} (${url.replace(origin, "")})`);
    }
  });
}

/** What everybody finds by its name, whatever it looks like. */
export function parts(page: Page) {
  const turns = page.getByRole("log", { name: "Turns" });
  return {
    prompt: page.getByRole("textbox", { name: "Prompt" }),
    send: page.getByRole("button", { name: "Send", exact: true }),
    stop: page.getByRole("button", { name: "Stop", exact: true }),
    fresh: page.getByRole("switch", { name: "Fresh session" }),
    agent: page.getByRole("combobox", { name: "Agent" }),
    model: page.getByRole("combobox", { name: "Model" }),
    permissions: page.getByRole("combobox", { name: "Permissions" }),
    forecast: page.getByRole("region", { name: "Forecast" }),
    conversations: page.getByRole("list", { name: "Conversations" }),
    branches: page.getByRole("tree", { name: "Branches" }),
    inbox: page.getByRole("region", { name: "Inbox" }),
    search: page.getByRole("searchbox", { name: "Search" }),
    turns,
    /** One of them, from 1. */
    turn: (number: number) => turns.getByRole("article", { name: `Turn ${number}`, exact: true }),
  };
}

/** Types a prompt and sends it. */
export async function send(page: Page, prompt: string): Promise<void> {
  const { prompt: box, send: button } = parts(page);
  await box.fill(prompt);
  await button.click();
  await eventually("the prompt box to be empty", async () => (await box.inputValue()) === "", PATIENCE);
}

/** Waits until an element shows a text. */
export async function shows(locator: ReturnType<Page["locator"]>, text: string | RegExp): Promise<void> {
  try {
    await locator.filter({ hasText: text }).first().waitFor({ timeout: PATIENCE });
  } catch (error) {
    const instead = await locator.allTextContents().catch(() => []);
    throw new Error(`waited in vain for ${text}; there was ${JSON.stringify(instead).slice(0, 2000)}`, { cause: error });
  }
}

/** What the agent said in a turn, as it is drawn, without what only separates words. */
export async function drawn(page: Page, number: number): Promise<string> {
  const texts = await parts(page).turn(number).locator(".markdown").allTextContents();
  return bare(texts.join(""));
}

/** Words alone: Markdown's marks and white space are drawn, not shown. */
export function bare(text: string): string {
  return text.replace(/[\s`]+/g, "");
}
