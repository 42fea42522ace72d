import assert from "node:assert/strict";
import { test } from "node:test";
import { parts, shows, world } from "./harness";

test("the address that is printed lets a browser in, and it stays in without it", async (t) => {
  const { daemon, context, complaints } = await world(t, { letIn: false });
  const url = await daemon.loginUrl();
  const page = await context.newPage();
  await page.goto(url);
  await parts(page).search.waitFor();
  assert.equal(new URL(page.url()).hash, "", "the code stays in the address");

  const again = await context.newPage();
  await again.goto(daemon.origin);
  await parts(again).search.waitFor();
  await page.reload();
  await parts(page).search.waitFor();
  assert.deepEqual(complaints, []);
});

test("who is in stays in when the used address is opened again, and after the daemon began anew", async (t) => {
  const { daemon, context, complaints } = await world(t, { letIn: false });
  const url = await daemon.loginUrl();
  const page = await context.newPage();
  await page.goto(url);
  await parts(page).search.waitFor();
  await daemon.kill();
  await daemon.begin();
  const again = await context.newPage();
  await again.goto(url);
  await parts(again).search.waitFor();
  assert.deepEqual(unexpected(complaints), []);
});

test("a stranger, a wrong code and a used code are not let in, and told what to do", async (t) => {
  const { daemon, browser, context, complaints } = await world(t, { letIn: false });
  const page = await context.newPage();
  await page.goto(daemon.origin);
  await shows(page.locator("main"), "rejoin serve --url");
  assert.equal(await parts(page).search.count(), 0);

  await page.goto(`${daemon.origin}/#k=wrong`);
  await page.reload();
  await page.getByRole("alert").waitFor();
  await shows(page.locator("main"), "rejoin serve --url");
  assert.equal(new URL(page.url()).hash, "");

  const url = await daemon.loginUrl();
  const friend = await context.newPage();
  await friend.goto(url);
  await parts(friend).search.waitFor();

  // Another browser, which got hold of the address too late.
  const thief = await (await browser.newContext()).newPage();
  await thief.goto(url);
  await thief.getByRole("alert").waitFor();
  await shows(thief.locator("main"), "rejoin serve --url");
  assert.equal(await parts(thief).search.count(), 0);
  assert.equal(await thief.evaluate(() => localStorage.getItem("rejoin.secret")), null);
  await thief.goto(`${daemon.origin}/stats`);
  await shows(thief.locator("main"), "rejoin serve --url");
  assert.deepEqual(unexpected(complaints), []);
});

/** Browsers note answers of 401 and 403 as errors of their own. */
function unexpected(complaints: string[]): string[] {
  return complaints.filter((one) => !/status of 40[13]/.test(one));
}
