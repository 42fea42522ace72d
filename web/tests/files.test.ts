import assert from "node:assert/strict";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { eventually, parts, send, shows, world } from "./harness";

/** Gives a file to the composer as a browser does when it is dropped or pasted. */
async function give(page: Page, how: "drop" | "paste", name: string): Promise<void> {
  await parts(page).prompt.evaluate((box, { how, name }) => {
    const data = new DataTransfer();
    data.items.add(new File([`words of ${name}`], name, { type: "text/plain" }));
    const event = how === "drop" ? new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }) : new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true });
    box.dispatchEvent(event);
  }, { how, name });
}

test("files that are picked, dropped and pasted go along; one that was removed does not", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { turn } = parts(page);
  await turn(1).waitFor();
  const attached = page.getByRole("list", { name: "Attachments" });
  await page.locator("input[type=file]").setInputFiles([
    { name: "picked.txt", mimeType: "text/plain", buffer: Buffer.from("picked") },
    { name: "unwanted.txt", mimeType: "text/plain", buffer: Buffer.from("unwanted") },
  ]);
  await give(page, "drop", "dropped.txt");
  await give(page, "paste", "pasted.txt");
  await eventually("four files", async () => (await attached.getByRole("listitem").count()) === 4);
  await page.getByRole("button", { name: "Remove unwanted.txt" }).click();
  await eventually("all of them to be there", async () => (await attached.locator(".spinner").count()) === 0);
  await send(page, "look at these");
  for (const name of ["picked.txt", "dropped.txt", "pasted.txt"]) await shows(turn(2).locator(".prompt-files"), name);
  assert.equal(await turn(2).getByText("unwanted.txt").count(), 0);
  await attached.waitFor({ state: "detached" });
  assert.deepEqual(complaints, []);
});

test("a queue that is paused waits, and goes on when it is told to", async (t) => {
  const { daemon, open, complaints } = await world(t);
  const conversation = await daemon.run("hello");
  const page = await open(`/c/${conversation}`);
  const { turn, stop } = parts(page);
  await send(page, "SLEEP 3");
  await stop.waitFor();
  await send(page, "later MARK-a");
  const queue = page.getByRole("region", { name: "Queue" });
  await queue.getByRole("button", { name: "Pause" }).click();
  await shows(queue, "Paused");
  await stop.waitFor({ state: "detached" });
  await shows(queue, "later MARK-a");
  assert.equal((await daemon.turns(conversation)).length, 2);
  await queue.getByRole("button", { name: "Go on" }).click();
  await shows(turn(3), "marks=MARK-a");
  assert.deepEqual(complaints, []);
});
