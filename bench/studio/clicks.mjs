// bench/studio/clicks.mjs KANON TABLE: how soon the page answers a click, in headless Chromium. Lines of a table, for bench/studio/run.
// Clicks are the browser's own, sent from outside: their time counts from the event's own stamp, so that what it waits in line is
// counted, to the picture after the one on which it is seen. Two things are told of each: when the page showed what was clicked for or
// progress, whichever came first, and which of the two that was. "nothing" would be a click that the page took without a sign.
// SPDX-License-Identifier: Apache-2.0
import {spawn} from "node:child_process";
import {createRequire} from "node:module";

const ROUNDS = 7, BOUND = 100;
const {chromium} = createRequire(new URL("../../studio/package.json", import.meta.url))("playwright-core");
const child = spawn(process.argv[2], ["studio", "--no-open", process.argv[3]], {stdio: ["ignore", "pipe", "inherit"]});
const address = await new Promise((done) => child.stdout.once("data", (text) => done(String(text).trim())));
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"]});

/** In the page: after the next click or change, waits for the picture on which `done` holds, or progress that was not there before. */
const watch = ([event, done, limit]) => {
  const holds = new Function(`return ${done}`);
  const busy = () => new Set(document.querySelectorAll("main .progress, main .stale, .meter.stale, .release .stale"));
  globalThis.seen = new Promise((tell) => {
    addEventListener(event, (happened) => {
      const start = happened.timeStamp;
      const before = busy();
      const look = () => {
        const answered = holds();
        const working = [...busy()].some((one) => !before.has(one));
        const late = performance.now() - start > limit;
        if (!answered && !working && !late) return requestAnimationFrame(look);
        requestAnimationFrame(() => tell({time: performance.now() - start, how: late ? "nothing" : working ? "progress" : "answer"}));
      };
      requestAnimationFrame(look);
    }, {once: true, capture: true});
  });
};

try {
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  const began = Date.now();
  await page.goto(address);
  await page.waitForFunction(() => /k = \d/.test(document.querySelector(".meter strong")?.textContent ?? ""), null, {timeout: 120_000, polling: "raf"});
  console.log(`| first k in the browser, from opening the page | ${((Date.now() - began) / 1000).toFixed(2)} s |`);
  const times = {};
  const click = async (name, target, done) => {
    await target.scrollIntoViewIfNeeded();
    const box = await target.boundingBox();
    await page.evaluate(watch, ["click", done, 20_000]);
    await page.mouse.click(box.x + box.width / 2, box.y + box.height / 2);
    (times[name] ??= []).push(await page.evaluate(() => globalThis.seen));
  };
  const titles = {Risk: "Who stands out?", Hierarchies: "What do values become?", Promises: "What is promised?", Solutions: "What would be released?", Attack: "What does a neighbour find?", Publish: "Publish", Data: "What is in the table?"};
  const go = (step) => click(step, page.getByRole("navigation").getByRole("button", {name: step, exact: true}), `document.querySelector("h1").textContent === ${JSON.stringify(titles[step])}`);
  const text = (selector) => page.locator(selector).first().textContent();
  /** While the engine still works on a screen, its own clicks, then on to the next. */
  const inside = {
    async Risk() {
      const ticked = await page.locator(".ticks input").first().isChecked();
      await click("a column that is known", page.locator(".ticks input").first(), `document.querySelector(".ticks input").checked === ${!ticked} && document.querySelector("main .progress, main .stale") !== null`);
    },
    async Hierarchies() {
      const buttons = page.locator(".sets button");
      await click("another column", buttons.nth(2), `document.querySelector(".sets button:nth-child(3)").ariaPressed === "true"`);
    },
    async Promises() {
      const before = await text(".release pre");
      await click("k + 1", page.getByLabel("k + 1"), `document.querySelector(".release pre").textContent !== ${JSON.stringify(before)}`);
      await page.waitForFunction((one) => document.querySelector(".release pre").textContent !== one, before);
      await click("undo", page.getByRole("button", {name: "Undo"}), `document.querySelector(".release pre").textContent === ${JSON.stringify(before)}`);
    },
  };
  for (let round = 0; round < ROUNDS; round++) {
    for (const step of Object.keys(titles)) {
      await go(step);
      await page.waitForTimeout(100 + 150 * round); // at other moments of what the engine does, and of what comes from it
      await inside[step]?.();
    }
    await page.waitForSelector(".grid tbody td");
    await page.waitForSelector(".column"); // the rows are below them: a click that aims at a row's place waits until it has it
    await click("last row", page.getByRole("button", {name: "Last", exact: true}), `document.querySelector(".grid tbody tr:last-child th").textContent.replaceAll(",", "") === document.querySelector(".pager input").max`);
    const select = page.locator(".role select").first();
    await page.evaluate(watch, ["change", `document.querySelector(".meter.stale") !== null`, 20_000]);
    await select.selectOption((await select.inputValue()) === "quasi" ? "keep" : "quasi");
    (times["role"] ??= []).push(await page.evaluate(() => globalThis.seen));
    await page.waitForSelector(".meter:not(.stale)");
    await page.getByRole("button", {name: "First", exact: true}).click();
  }
  let late = 0, all = 0;
  for (const [name, list] of Object.entries(times)) {
    list.sort((a, b) => a.time - b.time);
    all += list.length;
    late += list.filter((one) => one.time > BOUND || one.how === "nothing").length;
    const ways = ["answer", "progress", "nothing"].map((how) => [list.filter((one) => one.how === how).length, how]).filter(([count]) => count > 0);
    console.log(`| click: ${name} | ${Math.round(list[ROUNDS >> 1].time)} ms, the slowest ${Math.round(list.at(-1).time)} ms (${ways.map(([count, how]) => `${count} × ${how}`).join(", ")}) |`);
  }
  console.log(`| clicks without an answer or progress after ${BOUND} ms | ${late} of ${all} |`);
} finally {
  await browser.close();
  child.kill("SIGINT");
}
