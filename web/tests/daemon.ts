// A real `rejoin serve` on a home and a project that are gone afterwards, with the demo agent and no other.

import { execFile, spawn, type ChildProcess } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "./eventually";

const BINARY = needed("REJOIN_TEST_BINARY");
/** What agents' commands may use. No agent is among them, wherever this machine has one. */
const PROGRAMS = ["sh", "git", "cat", "sleep", "seq"];

export function needed(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`${name} is not set: run \`cargo xtask browser\``);
  return value;
}

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** A message of a turn as `rejoin show --json` has it. */
interface ShownPart {
  text?: string;
  thought?: boolean;
}
export interface ShownTurn {
  id: string;
  parent: string | null;
  state: string;
  messages: { type: string; parts: ShownPart[] }[];
  receipt?: { outcome: string; plan: { decision: string; reason?: string } };
}

export class Daemon {
  readonly project: string;
  private child: ChildProcess | null = null;

  private constructor(private readonly root: string, readonly port: number) {
    this.project = join(root, "project");
  }

  /** Starts one; `origin` answers when this returns. */
  static async start(): Promise<Daemon> {
    const root = realpathSync(mkdtempSync(join(tmpdir(), "rejoin-page-")));
    const daemon = new Daemon(root, await freePort());
    for (const dir of ["home", "project", "bin", "tmp"]) mkdirSync(join(root, dir));
    for (const name of PROGRAMS) symlinkSync(await which(name), join(root, "bin", name));
    writeFileSync(join(daemon.project, "README.md"), "# A project for tests\n");
    await daemon.git("init", "-q", "-b", "main");
    await daemon.begin();
    return daemon;
  }

  get origin(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  get token(): string {
    return readFileSync(join(this.root, "rejoin", "token"), "utf8").trim();
  }

  private get env(): Record<string, string> {
    return {
      PATH: join(this.root, "bin"),
      HOME: join(this.root, "home"),
      TMPDIR: join(this.root, "tmp"),
      REJOIN_HOME: join(this.root, "rejoin"),
      LANG: "C.UTF-8",
      GIT_CONFIG_NOSYSTEM: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
    };
  }

  /** Starts it (again) on the same port. */
  async begin(): Promise<void> {
    const child = spawn(BINARY, ["serve", "--port", String(this.port)], { cwd: this.project, env: this.env, stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr?.on("data", (text) => (said += text));
    this.child = child;
    await eventually(`the daemon (it said ${JSON.stringify(said)})`, async () => {
      if (child.exitCode !== null) throw new Error(`the daemon ended: ${said}`);
      return (await fetch(`${this.origin}/api/v1/health`)).ok;
    });
  }

  /** As if the machine had lost power: nothing is said to anybody. */
  async kill(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((done) => child.once("exit", done));
    child.kill("SIGKILL");
    await ended;
  }

  /** Kills it and removes everything. */
  async end(): Promise<void> {
    await this.kill();
    // What it ran ends with it, and may still write while it does.
    rmSync(this.root, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
  }

  /** Runs `rejoin …` in the project, as somebody at a terminal would. */
  async rejoin(...args: string[]): Promise<Ran> {
    return await new Promise((done) => {
      const child = execFile(BINARY, args, { cwd: this.project, env: this.env, maxBuffer: 1 << 28 }, (error, stdout, stderr) => {
        done({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr });
      });
      // Nothing is piped in: it need not wait for that.
      child.stdin?.end();
    });
  }

  /** The same; it must be done. */
  async done(...args: string[]): Promise<string> {
    const ran = await this.rejoin(...args);
    if (ran.code !== 0) throw new Error(`rejoin ${args.join(" ")} ended with ${ran.code}: ${ran.stderr}`);
    return ran.stdout;
  }

  /** One turn of the demo agent from a terminal; gives the conversation. */
  async run(prompt: string, ...args: string[]): Promise<string> {
    const said = JSON.parse(await this.done("run", "--agent", "demo", "-o", "json", ...args, prompt));
    return said.conversation ?? said.receipt.conversation;
  }

  /** An address that lets a browser in, good once. */
  async loginUrl(): Promise<string> {
    return (await this.done("serve", "--url")).trim();
  }

  /** Asks the API as a script does. */
  async api<T>(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<T> {
    const answer = await fetch(`${this.origin}/api/v1${path}`, {
      method,
      headers: { Authorization: `Bearer ${this.token}`, ...(body === undefined ? {} : { "Content-Type": "application/json" }), ...headers },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as T;
  }

  /** Begins a turn by the API; gives run and conversation. */
  async begun(prompt: string, wanted: Record<string, unknown> = {}): Promise<{ run: string; conversation: string }> {
    return await this.api("POST", "/runs", { ...("conversation" in wanted ? {} : { project: this.project }), agent: "demo", prompt, ...wanted });
  }

  /** Waits until a run has ended; gives its status. */
  async ended(run: string): Promise<string> {
    for (;;) {
      const { status } = await this.api<{ status: string }>("GET", `/runs/${run}?wait=30`);
      if (!["queued", "running", "waiting"].includes(status)) return status;
    }
  }

  /** Where a conversation of the project is kept. */
  journal(conversation: string): string {
    const projects = join(this.root, "rejoin", "projects");
    const [project] = readdirSync(projects);
    if (project === undefined) throw new Error("there is no journal yet");
    return join(projects, project, `${conversation}.jsonl`);
  }

  /** The turns of a conversation's head, as its journal has them, whichever process wrote it. */
  async turns(conversation: string): Promise<ShownTurn[]> {
    return JSON.parse(await this.done("show", conversation, "--json")).turns;
  }

  /** What the agent said in each turn. */
  async said(conversation: string): Promise<string[]> {
    return (await this.turns(conversation)).map((turn) =>
      turn.messages
        .filter((message) => message.type === "assistant")
        .flatMap((message) => message.parts)
        .filter((part) => part.text !== undefined && !part.thought)
        .map((part) => part.text)
        .join("\n"),
    );
  }

  private async git(...args: string[]): Promise<void> {
    await new Promise<void>((done, failed) => {
      execFile("git", args, { cwd: this.project, env: this.env }, (error) => (error ? failed(error) : done()));
    });
  }
}

async function which(name: string): Promise<string> {
  return await new Promise((done, failed) => {
    execFile("/bin/sh", ["-c", `command -v ${name}`], { env: { PATH: "/usr/bin:/bin" } }, (error, out) =>
      out.startsWith("/") ? done(out.trim()) : failed(error ?? new Error(`this machine has no ${name}`)),
    );
  });
}

async function freePort(): Promise<number> {
  return await new Promise((done, failed) => {
    const server = createServer();
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => done(port));
    });
  });
}
