// bench/studio/clicks.mjs KANON TABLE: how soon the page answers a click, in headless Chromium. Lines of a table, for bench/studio/run.
// A click has been answered when the next picture shows what was clicked for, or a progress bar.
// SPDX-License-Identifier: Apache-2.0
import {spawn} from "node:child_process";
import {createRequire} from "node:module";

const ROUNDS = 7;
const {chromium} = createRequire(new URL("../../studio/package.json", import.meta.url))("playwright-core");
const child = spawn(process.argv[2], ["studio", "--no-open", process.argv[3]], {stdio: ["ignore", "pipe", "inherit"]});
const address = await new Promise((done) => child.stdout.once("data", (text) => done(String(text).trim())));
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"]});
try {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  const began = Date.now();
  await page.goto(address);
  await page.waitForFunction(() => /k = \d/.test(document.querySelector(".meter strong")?.textContent ?? ""), null, {timeout: 120_000, polling: "raf"});
  console.log(`| first k in the browser, from opening the page | ${((Date.now() - began) / 1000).toFixed(2)} s |`);
  /** Clicks on the button with that text and waits for the picture after the one that shows the title, or with none the last row. */
  const click = (text, title) => page.evaluate(([name, heading]) => new Promise((done, fail) => {
    const start = performance.now();
    const seen = () => (heading ? document.querySelector("h1").textContent === heading : document.querySelector(".grid tbody tr:last-child th").textContent.replaceAll(",", "") === document.querySelector(".pager input").max);
    const look = () => (seen() ? requestAnimationFrame(() => done(performance.now() - start)) : performance.now() - start > 20_000 ? fail(new Error(name)) : requestAnimationFrame(look));
    [...document.querySelectorAll("button")].find((one) => one.textContent === name && !one.disabled).click();
    requestAnimationFrame(look);
  }), [text, title]);
  const titles = {Risk: "Who stands out?", Hierarchies: "What do values become?", Promises: "What is promised?", Solutions: "What would be released?", Attack: "What does a neighbour find?", Publish: "Publish", Data: "What is in the table?"};
  const changeRole = () => page.evaluate(() => new Promise((done) => {
    const start = performance.now();
    const select = document.querySelector(".role select");
    select.value = select.value === "quasi" ? "keep" : "quasi";
    select.dispatchEvent(new Event("change", {bubbles: true}));
    const look = () => (document.querySelector(".meter.stale") ? requestAnimationFrame(() => done(performance.now() - start)) : requestAnimationFrame(look));
    requestAnimationFrame(look);
  }));
  const times = {};
  const note = (name, time) => (times[name] ??= []).push(time);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [step, title] of Object.entries(titles)) {
      note(step, await click(step, title));
      await page.waitForTimeout(400);
    }
    await page.waitForSelector(".grid tbody td");
    note("last row", await click("Last", ""));
    note("role", await changeRole());
    await page.waitForSelector(".meter:not(.stale)");
    await page.getByRole("button", {name: "First", exact: true}).click();
  }
  const median = (list) => list.sort((a, b) => a - b)[ROUNDS >> 1];
  const told = Object.entries(times).map(([name, list]) => `${name} ${Math.round(median(list))} ms (${Math.round(list.at(-1))})`);
  console.log(`| clicks, to the new screen or a sign of progress: median of ${ROUNDS} (and the slowest) | ${told.join(", ")} |`);
} finally {
  await browser.close();
  child.kill("SIGINT");
}
