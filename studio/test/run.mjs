// test/run.mjs KANON OUT: the page in headless Chromium, from a CSV file to a verified release and back. One TAP line per check.
// Screenshots of every screen at 360, 768 and 1440 px, light and dark, go to OUT.
// SPDX-License-Identifier: Apache-2.0
import {execFileSync, spawn} from "node:child_process";
import {existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {chromium} from "playwright-core";

const KANON = resolve(process.argv[2] ?? "../build/kanon");
const OUT = resolve(process.argv[3] ?? "../build/studio");
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
let number = 0;
let failures = 0;

function ok(name, passed, ...words) {
  number++;
  if (!passed) failures++;
  console.log(`${passed ? "ok" : "not ok"} ${number} - ${name}`);
  if (!passed) for (const word of words) console.log(`#   ${typeof word === "string" ? word : JSON.stringify(word)}`.slice(0, 1500));
}

/** Starts a studio in a folder; resolves to its address. */
function start(folder, ...args) {
  return new Promise((done, fail) => {
    const child = spawn(KANON, ["studio", "--no-open", ...args], {cwd: folder, stdio: ["ignore", "pipe", "inherit"]});
    let text = "";
    child.on("error", fail);
    child.stdout.on("data", (part) => {
      text += part;
      if (text.includes("\n")) done({address: text.trim(), child});
    });
  });
}

function stop({child}) {
  return new Promise((done) => {
    child.on("exit", done);
    child.kill("SIGINT");
  });
}

/** Waits until no question is open and the screen has settled. */
async function settled(page) {
  await page.waitForFunction(() => !document.querySelector(".progress, .stale, .meter.stale"), null, {timeout: 120_000});
  await page.waitForTimeout(250);
  await page.waitForFunction(() => !document.querySelector(".progress, .stale, .meter.stale"), null, {timeout: 120_000});
}

async function go(page, step) {
  await page.getByRole("navigation").getByRole("button", {name: step, exact: true}).click();
  await settled(page);
}

/** What is below the fold is laid out, too: as long as it is not, its texts have places of no meaning. */
const layOut = () => {
  const sheet = document.styleSheets[0];
  sheet.insertRule(".card.wide { content-visibility: visible !important; }", sheet.cssRules.length);
};

/** Texts that are cut or lie over each other; what scrolls, and tables that say so by an ellipsis, may be wider. */
const look = () => {
  const problems = [];
  if (document.documentElement.scrollWidth > innerWidth + 1) problems.push(`the page is ${document.documentElement.scrollWidth} px wide`);
  const scrolls = (element) => {
    for (let one = element; one; one = one.parentElement) if (/auto|scroll|hidden/.test(getComputedStyle(one).overflowX) && one !== document.body) return true;
    return false;
  };
  const boxes = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const text = node.nodeValue.trim();
    const parent = node.parentElement;
    if (!text || parent.closest("script, noscript, option, textarea, title, .skip") || !parent.checkVisibility()) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const box of range.getClientRects()) {
      if (box.width < 1 || box.height < 1) continue;
      if (!scrolls(parent) && (box.right > innerWidth + 1 || box.left < -1)) problems.push(`cut: ${text.slice(0, 40)}`);
      if (!scrolls(parent)) boxes.push({box, text: text.slice(0, 30), parent});
    }
  }
  for (let a = 0; a < boxes.length; a++) {
    for (let b = a + 1; b < boxes.length; b++) {
      const x = Math.min(boxes[a].box.right, boxes[b].box.right) - Math.max(boxes[a].box.left, boxes[b].box.left);
      const y = Math.min(boxes[a].box.bottom, boxes[b].box.bottom) - Math.max(boxes[a].box.top, boxes[b].box.top);
      if (x > 2 && y > 5) problems.push(`over each other: ${boxes[a].text} | ${boxes[b].text}`);
    }
  }
  for (const button of document.querySelectorAll("button"))
    if (button.scrollWidth > button.clientWidth + 1 && button.checkVisibility()) problems.push(`cut: ${button.textContent}`);
  return [...new Set(problems)].slice(0, 12);
};

async function everyScreen(browser, address, prefix = "") {
  for (const scheme of ["light", "dark"]) {
    for (const width of [360, 768, 1440]) {
      const page = await browser.newPage({viewport: {width, height: 900}, colorScheme: scheme});
      await page.goto(address);
      await page.waitForSelector("nav button");
      await page.evaluate(layOut);
      const wrong = [];
      const broken = [];
      const steps = await page.locator("nav button").allTextContents();
      for (const step of steps) {
        await go(page, step);
        wrong.push(...(await page.evaluate(look)).map((one) => `${step}: ${one}`));
        await page.evaluate(AXE);
        const found = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
        broken.push(...found.violations.map((one) => `${step}: ${one.id}: ${one.nodes.map((node) => node.target.join(" ")).slice(0, 3).join(", ")}`));
        await page.screenshot({path: join(OUT, `${prefix}${step}-${width}-${scheme}.png`), fullPage: true});
      }
      ok(`${prefix}${width} px, ${scheme}: no text is cut or lies over another`, wrong.length === 0, ...wrong);
      ok(`${prefix}${width} px, ${scheme}: axe finds nothing`, broken.length === 0, ...broken);
      await page.close();
    }
  }
}

/** The rows under one scroll bar: wheel, keys, the bar itself, a number. */
async function grid(page) {
  const seen = () => page.locator(".pager span").textContent();
  const until = (text) => page.waitForFunction((one) => document.querySelector(".pager span").textContent.includes(one) && !document.querySelector(".grid tbody").textContent.includes("…"), text);
  await page.getByRole("button", {name: "Last", exact: true}).click();
  await until("600 of 600");
  ok("the grid shows the last row", (await page.locator(".grid tbody tr").last().locator("th").textContent()) === "600" && (await page.locator(".grid tbody tr").count()) < 20);
  await page.locator(".grid").focus();
  await page.keyboard.press("Home");
  await until("Rows 1 to");
  await page.keyboard.press("ArrowDown");
  await until("Rows 2 to");
  ok("keys go row by row", true, await seen());
  await page.locator(".grid").hover();
  await page.mouse.wheel(0, 340);
  await until("Rows 12 to");
  ok("so does the wheel", true);
  await page.locator(".grid").evaluate((box) => (box.scrollTop = box.scrollHeight));
  await until("600 of 600");
  ok("the bar leads to the end", true);
  await page.getByLabel("Go to row").fill("301");
  await page.getByLabel("Go to row").blur();
  await until("Rows 301 to");
  const first = await page.locator(".grid tbody tr").first().textContent();
  ok("a number leads to its row", first.startsWith("301"), first);
}

/** Sets of columns as a picture, what an attacker with some columns finds, and the twelve questions. */
async function risk(page) {
  ok("risk: sets of columns that say too much", (await page.locator(".sets button").count()) > 0);
  await page.locator(".sets button").first().click();
  await settled(page);
  ok("one of them can be looked at", (await page.locator(".sets button[aria-pressed=true]").count()) === 1);
  ok("sets as a picture: every set of the four quasi-identifiers", (await page.locator(".diagram g[data-key]").count()) === 15 && (await page.locator(".diagram g.shown").count()) === 1);
  const pair = page.locator(".diagram g[data-key]").nth(5);
  const said = await pair.getAttribute("aria-label");
  await pair.click();
  await settled(page);
  const verdict = await page.locator(".verdict strong").first().textContent();
  ok("a set of the picture is looked at: its k is the one that is found", said.endsWith(verdict.replace(/\s+/g, " ")), said, verdict);
  await pair.focus();
  await page.keyboard.press("ArrowUp");
  await settled(page);
  ok("the picture is walked by arrow keys", (await page.locator(".ticks input:checked").count()) === 1);
  await page.getByRole("button", {name: "All quasi-identifiers"}).click();
  await settled(page);
  const questions = page.locator(".questions summary");
  ok("twelve questions", (await questions.count()) === 12);
  for (let at = 0; at < 12; at++) {
    await questions.nth(at).click();
    await settled(page);
  }
  const answers = await page.locator(".questions .said").allTextContents();
  ok("each is answered", answers.length === 12 && answers.every((text) => text.length > 3 && !text.includes("undefined")) && (await page.locator(".questions .problem").count()) === 0, ...answers);
  await page.screenshot({path: join(OUT, "questions.png"), fullPage: true});
}

/** Groups as text, by keyboard, by dragging, from and to a file; lint; suggestions. */
async function hierarchies(page, folder) {
  await page.getByRole("button", {name: "country", exact: true}).click();
  await settled(page);
  const groups = page.locator(".builder textarea");
  const before = await groups.inputValue();
  const leaves = before.trim().split("\n").map((line) => line.split(";")[0]);
  const shown = (text) => page.waitForFunction((one) => document.querySelector(".tree:not(.edited)")?.textContent.includes(one), text);
  const inFile = () => page.locator(".release pre").textContent();
  await groups.fill(leaves.map((leaf, at) => `${leaf};${at % 2 ? "odd" : "even"} ones;${at % 2 ? "even" : "odd"} ones;*`).join("\n"));
  await page.waitForSelector(".notes.lint li");
  ok("hierarchies: a label for different values is pointed out before it is used", (await page.locator(".notes.lint li").first().textContent()).includes("stands for different values"));
  await groups.fill(`${leaves[0]};x;*`);
  await page.waitForSelector(".answer .problem");
  ok("and values without a place", (await page.locator(".answer .problem").first().textContent()).includes("without a leaf") && (await page.getByRole("button", {name: "Use it"}).isDisabled()));
  await groups.fill(leaves.map((leaf, at) => `${leaf};${at % 2 ? "odd" : "even"} ones;*`).join("\n"));
  await shown("odd ones");
  ok("groups as text are shown while they are typed, with their rows", (await page.locator(".tree:not(.edited) summary").nth(1).textContent()).includes("rows"));
  await page.getByRole("button", {name: "Use it"}).click();
  await page.waitForFunction(() => document.querySelector(".release small").textContent.includes("not saved"));
  await settled(page);
  await page.getByLabel(`Tick ${leaves[0]}`).focus();
  await page.keyboard.press("Space");
  await page.getByLabel(`Tick ${leaves[2]}`).focus();
  await page.keyboard.press("Space");
  await page.getByLabel("Name of a new group").focus();
  await page.keyboard.type("by hand");
  await page.keyboard.press("Enter");
  await shown("by hand");
  ok("a group is made by the keyboard alone", (await groups.inputValue()).includes(`${leaves[0]};by hand;even ones;*`), await groups.inputValue());
  await page.locator(".edited .branch", {hasText: leaves[1]}).first().dragTo(page.locator(".edited .branch", {has: page.getByLabel("Name of by hand")}));
  await page.waitForFunction((one) => document.querySelector(".builder textarea").value.includes(`${one};by hand;even ones;*`), leaves[1]);
  ok("a value is dragged into a group", true);
  await page.getByRole("button", {name: "Undo"}).click();
  await page.waitForFunction((one) => !document.querySelector(".builder textarea").value.includes(`${one};by hand`), leaves[1]);
  ok("and undone", true);
  await page.getByLabel("Name of by hand").fill("renamed");
  await page.keyboard.press("Tab");
  await shown("renamed");
  await page.getByRole("button", {name: "Dissolve renamed"}).click();
  await page.waitForFunction(() => !document.querySelector(".builder textarea").value.includes("renamed"));
  ok("a group is renamed, and dissolved", (await groups.inputValue()).includes(`${leaves[0]};even ones;*`));
  await settled(page);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", {name: "To a file (ARX's form)"}).click()]);
  const exported = readFileSync(await download.path(), "utf8");
  ok("the hierarchy is exported in ARX's form", exported.trim().split("\n").length === leaves.length && exported.includes(`${leaves[1]};odd ones;*`), exported);
  const arx = join(folder, "arx-hierarchy.csv");
  writeFileSync(arx, exported.replaceAll("odd ones", "from ARX"));
  await page.getByLabel("From a file (ARX's form)").setInputFiles(arx);
  await shown("from ARX");
  await page.getByRole("button", {name: "Use it"}).click();
  await settled(page);
  rmSync(arx);
  ok("and one is imported", (await groups.inputValue()).includes("from ARX"), await inFile());
  await page.getByRole("button", {name: "Suggest others"}).click();
  await page.waitForSelector(".promise button");
  await page.getByRole("button", {name: /Look at it: groups of neighbours in their order/}).first().click();
  await settled(page);
  ok("a suggestion is looked at, with a preview", (await page.locator(".builder select").first().inputValue()) === "groups" && (await page.locator(".tree:not(.edited)").textContent()).includes("["));
  await go(page, "Risk");
  await go(page, "Hierarchies");
}

/** The lattice, why not, taking a node, distributions, queries. */
async function solutions(page) {
  const circles = page.locator(".diagram g[data-key]");
  await page.waitForSelector(".diagram g.good");
  ok("solutions: the lattice, with one choice marked", (await circles.count()) > 10 && (await page.locator(".diagram g.chosen").count()) === 1);
  await page.locator(".diagram g.bad").first().click();
  await page.waitForFunction(() => document.querySelector(".why .verdict strong.bad"));
  await settled(page);
  ok("why not this one: a sentence, and the promise that fails", (await page.locator(".why .verdict").textContent()).length > 40 && (await page.locator(".why .notes li").count()) > 0 && (await page.getByRole("button", {name: "Take these levels"}).isDisabled()));
  const shown = await page.locator(".diagram g.shown").getAttribute("data-key");
  await page.keyboard.press("ArrowUp");
  await page.waitForFunction((one) => document.querySelector(".diagram g.shown").dataset.key !== one, shown);
  ok("the lattice is walked by arrow keys", await page.evaluate(() => document.activeElement.classList.contains("shown")));
  const other = page.locator(".diagram g.good:not(.chosen)").nth(1);
  const key = await other.getAttribute("data-key");
  await other.click();
  await page.waitForFunction(() => document.querySelector(".why .verdict strong.good"));
  await settled(page);
  const taking = page.getByRole("button", {name: "Take these levels"});
  ok("levels that lose more than the release as it is do not invite", (await taking.getAttribute("class")) === "quiet" && (await page.locator(".why").textContent()).includes("loses less"), await page.locator(".why").textContent());
  await taking.click();
  await page.waitForFunction((one) => document.querySelector(".release pre").textContent.includes(`levels: [${one.replaceAll(",", ", ")}]`), key);
  await settled(page);
  ok("any node that keeps the promises can be taken", (await page.locator(".diagram g.chosen").getAttribute("data-key")) === key);
  ok("distributions before and after, of each released column", (await page.locator(".compared li").count()) === 5 && (await page.locator(".compared .spread").count()) === 10, await page.locator("main").textContent());
  await page.getByLabel("Your queries", {exact: true}).first().fill("SELECT COUNT(*) WHERE country = 'France';\nSELECT COUNT(*) WHERE diagnosis <> 'flu';");
  await page.getByRole("button", {name: "Ask them of both"}).click();
  await page.waitForSelector("table.answers");
  ok("queries: how wrong each becomes", (await page.locator("table.answers tbody tr").count()) === 2 && /%/.test(await page.locator("table.answers tbody tr").first().textContent()));
  await page.getByRole("button", {name: "Undo"}).click();
  await page.getByRole("button", {name: "Undo"}).click();
  await page.waitForFunction(() => !document.querySelector(".release pre").textContent.includes("levels: ["));
  await settled(page);
}

async function wholeWay(browser, folder, address, context) {
  const page = await context.newPage();
  const said = [];
  const foreign = [];
  page.on("console", (message) => message.type() === "error" && said.push(message.text()));
  page.on("pageerror", (error) => said.push(error.message));
  page.on("request", (request) => new URL(request.url()).host !== new URL(address).host && !request.url().startsWith("data:") && foreign.push(request.url()));
  await page.goto(address);
  await page.waitForSelector(".column");
  await settled(page);
  ok("the data: every column with its role", (await page.locator(".column").count()) === 6);
  const meter = () => page.locator(".meter strong").textContent();
  ok("k is seen at once", (await meter()) === "k = 1", await meter());
  ok("and whose it is", (await page.locator(".meter").textContent()).startsWith("original: k = 1"), await page.locator(".meter").textContent());
  const sensitive = page.getByLabel("diagnosis: role");
  await sensitive.selectOption("keep");
  await page.waitForSelector(".notice");
  ok("a promise that a role takes away is told", (await page.locator(".notice").textContent()).includes("l-diversity of diagnosis is promised no longer"), await page.locator(".notice").textContent());
  await page.getByRole("button", {name: "Undo"}).click();
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("l-diversity"));
  await page.locator(".notice").getByRole("button").click();
  await settled(page);
  for (const name of ["zip", "birth-date", "country"]) {
    await page.getByLabel(`${name}: role`).selectOption("drop");
    await page.waitForFunction((one) => !document.querySelector(".release pre").textContent.includes(`${one}: {`), name);
  }
  await settled(page);
  await page.waitForFunction(() => document.querySelector(".meter strong").textContent !== "k = 1");
  ok("roles that change change k", /^k = \d+$/.test(await meter()), await meter());
  await page.locator("h1").click();
  await page.keyboard.press("Control+z");
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("country: {"));
  for (const name of ["birth-date", "zip"]) {
    await page.getByRole("button", {name: "Undo"}).click();
    await page.waitForFunction((one) => document.querySelector(".release pre").textContent.includes(`${one}: {`), name);
  }
  await page.waitForFunction(() => document.querySelector(".meter strong").textContent === "k = 1");
  ok("undo, by key and button, brings them back", (await page.getByLabel("zip: role").inputValue()) === "quasi");
  await grid(page);
  await go(page, "Risk");
  await risk(page);
  await go(page, "Hierarchies");
  await hierarchies(page, folder);
  await go(page, "Promises");
  await page.getByLabel("k", {exact: true}).fill("4");
  await page.keyboard.press("Enter");
  await page.getByLabel("k", {exact: true}).blur();
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("k: 4"));
  await settled(page);
  const own = await page.locator(".own").allTextContents();
  ok("promises: explained by the table itself", own.length >= 2 && own[0].includes("In your table") && own[1].includes("diagnosis"), ...own);
  const points = page.locator(".plot circle");
  ok("promises: the frontier", (await points.count()) > 1, await page.locator("main").textContent());
  await points.nth(1).focus();
  await page.keyboard.press("Enter");
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("levels: ["));
  ok("a point is taken by the keyboard", (await page.locator(".plot circle.taken").count()) <= 1);
  await settled(page);
  const text = await page.locator(".release pre").textContent();
  await page.reload();
  await page.waitForSelector(".release pre");
  await settled(page);
  ok("a reload in the middle loses nothing", (await page.locator(".release pre").textContent()) === text && (await page.getByRole("heading", {level: 1}).textContent()) === "What is promised?");
  const other = await context.newPage();
  await other.goto(address);
  await other.waitForSelector(".column");
  await other.getByLabel("sex: role").selectOption("keep");
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("sex: {role: keep}"));
  ok("a change in one tab is seen in the other", true);
  await other.close();
  await go(page, "Promises");
  await page.getByLabel("k", {exact: true}).fill("5000");
  await page.getByLabel("k", {exact: true}).blur();
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("k: 5000"));
  await page.waitForSelector("main .problem");
  ok("a promise that cannot be kept is told beside its field", (await page.locator("main .problem").first().textContent()).includes("fewer than 5,000"), await page.locator("main .problem").first().textContent());
  await go(page, "Solutions");
  await page.waitForSelector(".problem");
  ok("a promise that cannot be kept is said in a sentence", (await page.locator(".problem").first().textContent()).length > 20);
  await page.getByRole("button", {name: "Undo"}).click();
  await settled(page);
  await page.waitForSelector(".figures");
  await solutions(page);
  await go(page, "Attack");
  await settled(page);
  ok("attack: says beforehand that nothing is published yet", (await page.locator("main .problem").textContent()).includes("Nothing is published yet") && (await page.getByRole("button", {name: "Attack as a neighbour"}).isDisabled()), await page.locator("main").textContent());
  await go(page, "Publish");
  ok("nothing was written so far", !existsSync(join(folder, "release.yaml")) && !existsSync(join(folder, "release.csv")));
  await page.getByRole("button", {name: "Make the release"}).click();
  await page.waitForSelector(".result.good");
  ok("publish: written and verified", (await page.locator(".result").textContent()).includes("verified"));
  await page.getByRole("button", {name: "Verify again"}).click();
  await page.waitForFunction(() => document.querySelectorAll(".result.good").length === 2);
  ok("publish: files have their folder", (await page.locator(".result").first().textContent()).includes(folder), await page.locator(".result").first().textContent());
  await go(page, "Risk");
  await go(page, "Publish");
  ok("publish: what was verified is there for who comes back", (await page.locator(".result.good").count()) === 2);
  await page.screenshot({path: join(OUT, "published.png"), fullPage: true});
  const made = readFileSync(join(folder, "release.csv"));
  rmSync(join(folder, "release.csv"));
  execFileSync(KANON, ["anonymize", "release.yaml", "--quiet"], {cwd: folder, stdio: "ignore"});
  ok("the command that is shown makes the same bytes", (await page.locator(".release .command code").textContent()) === "kanon anonymize release.yaml" && made.equals(readFileSync(join(folder, "release.csv"))));
  execFileSync("sh", ["-c", "cut -d, -f2,4,5 patients.csv | head -50 > register.csv"], {cwd: folder});
  await go(page, "Attack");
  await page.getByLabel("Table of what an attacker knows").fill("register.csv");
  await page.getByRole("button", {name: "Attack", exact: true}).last().click();
  await page.waitForSelector(".verdict");
  const verdict = await page.locator(".found").textContent();
  ok("attack: before and after", (await page.locator(".found tbody tr").count()) === 4, verdict);
  await page.getByText("Or type it here").click();
  await page.getByLabel("Or type it here").fill(readFileSync(join(folder, "register.csv"), "utf8"));
  await page.getByRole("button", {name: "Attack with what is typed"}).click();
  await page.waitForFunction(() => !document.querySelector(".progress") && document.querySelector(".found"));
  ok("attack: what is typed finds the same", (await page.locator(".found").textContent()) === verdict, await page.locator("main").textContent());
  await page.getByLabel("Or choose a file").setInputFiles(join(folder, "register.csv"));
  await page.waitForFunction(() => !document.querySelector(".progress") && document.querySelector(".found"));
  ok("attack: so does a file that is chosen", (await page.locator(".found").textContent()) === verdict);
  await page.getByRole("button", {name: "Attack as a neighbour"}).click();
  await page.waitForFunction(() => document.querySelectorAll(".found").length === 2);
  ok("attack: a neighbour who knows people of the table", (await page.locator(".found").first().textContent()).startsWith("100 people"));
  ok("nothing was asked of any other host", foreign.length === 0, foreign);
  ok("the browser reports no error", said.filter((one) => !/status of (409|422)/.test(one)).length === 0, ...said);
  await page.close();
}

async function hostile(browser) {
  const folder = mkdtempSync(join(tmpdir(), "kanon-studio-"));
  const names = ["<img src=x onerror=alert(1)>", "\u202Egnp", "b"];
  const rows = Array.from({length: 40}, (_, at) => [`<script>alert(${at % 3})</script>`, "x".repeat(at % 2 ? 3000 : 5), `\u202Ey${at % 4}`]);
  writeFileSync(join(folder, "table.csv"), [names, ...rows].map((row) => row.map((cell) => `"${cell}"`).join(",")).join("\n") + "\n");
  const studio = await start(folder, "table.csv");
  const page = await browser.newPage({viewport: {width: 768, height: 900}});
  let alerts = 0;
  page.on("dialog", (dialog) => {
    alerts++;
    void dialog.dismiss();
  });
  await page.goto(studio.address);
  await page.waitForSelector(".column");
  for (const step of ["Data", "Risk", "Hierarchies", "Promises", "Solutions"]) await go(page, step);
  await go(page, "Data");
  ok("markup in names and values is shown as text", (await page.locator("main img, main script").count()) === 0 && alerts === 0 && (await page.locator(".column h2").first().textContent()) === names[0]);
  await page.getByLabel(`${names[2]}: role`).selectOption("sensitive");
  await page.waitForFunction(() => document.querySelector(".release pre").textContent.includes("b: {role: sensitive"));
  ok("and its roles can be changed", true);
  await page.close();
  await stop(studio);
  rmSync(folder, {recursive: true});
}

/** The whole way of a database and of records: data, promises, one of them before and after, publish. */
async function otherShapes(browser) {
  for (const [kind, name, unit] of [["students", "s/", "person"], ["patient-records", "records.xml", "record"]]) {
    const folder = mkdtempSync(join(tmpdir(), "kanon-studio-"));
    execFileSync(KANON, ["generate", kind, "--rows", "60", "--output", name], {cwd: folder, stdio: "ignore"});
    const studio = await start(folder, name);
    if (process.env.STUDIO_ONLY !== "way") await everyScreen(browser, studio.address, `${unit}-`);
    const page = await browser.newPage({viewport: {width: 1440, height: 900}});
    await page.goto(studio.address);
    await page.waitForSelector("nav button");
    await settled(page);
    if (unit === "person") {
      ok(`${name}: the schema as a picture, with roles`, (await page.locator(".schema rect").count()) === 3 && (await page.locator(".schema .column-of.quasi").count()) === 5);
      await page.getByLabel("courses.Grade: role").selectOption("sensitive");
      await page.waitForFunction(() => document.querySelectorAll(".schema .column-of.sensitive").length === 1);
      ok(`${name}: a role that changes changes the picture`, true);
    }
    if (unit === "record") {
      await page.getByLabel("drug: role").selectOption("sensitive");
      await page.waitForFunction(() => /drug: \{[^}]*role: sensitive/.test(document.querySelector(".release pre").textContent));
      await settled(page);
      ok(`${name}: a class is made sensitive`, (await page.locator(".column.sensitive").count()) === 1);
      await page.getByRole("button", {name: "Undo"}).click();
      await page.waitForFunction(() => !document.querySelector(".release pre").textContent.includes("role: sensitive"));
      await settled(page);
    }
    await page.screenshot({path: join(OUT, `${kind}.png`), fullPage: true});
    await go(page, "Risk");
    ok(`${name}: who stands out, and by what is known`, /^k [=<≥] \d/.test(await page.locator(".meter strong").textContent()) && (await page.locator(".known tbody tr").count()) > 3, await page.locator("main").textContent());
    await go(page, "Promises");
    await page.getByLabel("k", {exact: true}).fill("3");
    await page.getByLabel("k", {exact: true}).blur();
    await page.waitForFunction(() => /k: 3/.test(document.querySelector(".release pre").textContent));
    ok(`${name}: another k is promised`, true);
    await go(page, "Solutions");
    await page.waitForSelector(".persons .tree");
    const [before, after] = await page.locator(".persons > div").allTextContents();
    ok(`${name}: one ${unit} before and after`, before.length > 20 && after.length > 10 && before.slice(6) !== after.slice(5), before, after);
    await page.locator(".pager").getByRole("button", {name: "Next"}).click();
    await page.waitForFunction(() => document.querySelector(".pager span").textContent.startsWith("2 of"));
    ok(`${name}: and the next one`, (await page.locator(".persons > div").first().textContent()) !== before);
    if (unit === "record") ok(`${name}: the cut of the vocabulary, and the relations`, (await page.locator(".cut > li").count()) === 3 && (await page.locator(".relations tbody tr").count()) >= 2);
    await page.screenshot({path: join(OUT, `${kind}-solutions.png`), fullPage: true});
    await go(page, "Publish");
    await page.getByRole("button", {name: "Make the release"}).click();
    await page.waitForSelector(".result, .problem");
    ok(`${name}: published and verified`, (await page.locator(".result.good").count()) === 1, await page.locator("main").textContent());
    await page.getByRole("button", {name: "Verify again"}).click();
    await page.waitForFunction(() => document.querySelectorAll(".result.good").length === 2);
    ok(`${name}: and verified again`, true);
    await go(page, "Attack");
    await page.getByLabel("Table of what an attacker knows").fill(name);
    await page.getByRole("button", {name: "Attack", exact: true}).last().click();
    await page.waitForSelector(".found");
    ok(`${name}: the attack, before and after`, (await page.locator(".found tbody tr").count()) >= 3 && (await page.locator(".found thead th").count()) === 3);
    await page.close();
    await stop(studio);
    rmSync(folder, {recursive: true});
  }
}

/** Without a file: one is chosen among those of the folder, or dropped. */
async function chosen(browser) {
  for (const way of ["chosen", "dropped"]) {
    const folder = mkdtempSync(join(tmpdir(), "kanon-studio-"));
    execFileSync(KANON, ["generate", "patients", "--rows", "100", "--output", "patients.csv"], {cwd: folder, stdio: "ignore"});
    const studio = await start(folder);
    const page = await browser.newPage({viewport: {width: 1440, height: 900}});
    await page.goto(studio.address);
    const file = page.getByRole("button", {name: "patients.csv"});
    await file.waitFor();
    await settled(page);
    await page.evaluate(AXE);
    const found = await page.evaluate(() => globalThis.axe.run(document, {resultTypes: ["violations"]}));
    if (way === "chosen") {
      ok("without a file: axe finds nothing", found.violations.length === 0, ...found.violations.map((one) => one.id));
      await page.screenshot({path: join(OUT, "choose.png")});
      await file.click();
    } else {
      await page.locator(".choose").evaluate((target, text) => {
        const data = new DataTransfer();
        data.items.add(new File([text], "patients.csv"));
        target.dispatchEvent(new DragEvent("drop", {bubbles: true, cancelable: true, dataTransfer: data}));
      }, readFileSync(join(folder, "patients.csv"), "utf8"));
    }
    await page.waitForSelector(".column");
    ok(`a file is ${way} and opened`, (await page.locator(".release pre").textContent()).includes("input: patients.csv"));
    await page.close();
    await stop(studio);
    rmSync(folder, {recursive: true});
  }
}

async function cancelled(browser) {
  const folder = mkdtempSync(join(tmpdir(), "kanon-studio-"));
  execFileSync(KANON, ["generate", "adult-like", "--rows", "200000", "--output", "big.csv"], {cwd: folder, stdio: "ignore"});
  const studio = await start(folder, "big.csv", "--threads", "1");
  const page = await browser.newPage({viewport: {width: 1440, height: 900}});
  await page.goto(studio.address);
  await page.waitForSelector(".column", {timeout: 120_000});
  await page.getByRole("navigation").getByRole("button", {name: "Solutions", exact: true}).click();
  await page.waitForSelector("main .progress");
  await page.screenshot({path: join(OUT, "working.png")});
  await page.locator("main .progress").getByRole("button", {name: "Cancel"}).click();
  await page.waitForSelector("main .problem");
  ok("a search is cancelled", (await page.locator("main .problem").textContent()).includes("cancelled"));
  await page.close();
  await stop(studio);
  rmSync(folder, {recursive: true});
}

/** Words that a reader sees are in one file, so that another language is a translation of it. */
function words() {
  const folder = new URL("../src/", import.meta.url);
  const found = [];
  for (const name of readdirSync(folder).filter((one) => one.endsWith(".tsx")))
    for (const [, text] of readFileSync(new URL(name, folder), "utf8").matchAll(/<[a-z][^<>{}]*>\s*([^<>{}()=;]*[A-Za-z]{3}[^<>{}()=;]*?)\s*[<{]|(?:aria-label|title|how)="[^"]*[A-Za-z]{3}[^"]*"/g))
      if (text !== "kanon") found.push(`${name}: ${text ?? "a label"}`);
  ok("every sentence is in texts.ts", found.length === 0, ...found);
}

mkdirSync(OUT, {recursive: true});
words();
const browser = await chromium.launch({executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox"]});
const folder = mkdtempSync(join(tmpdir(), "kanon-studio-"));
execFileSync(KANON, ["generate", "patients", "--rows", "600", "--seed", "5", "--output", "patients.csv"], {cwd: folder, stdio: "ignore"});
const studio = await start(folder, "patients.csv");
try {
  if (process.env.STUDIO_ONLY !== "way") await everyScreen(browser, studio.address);
  await wholeWay(browser, folder, studio.address, await browser.newContext({viewport: {width: 1440, height: 900}}));
  await hostile(browser);
  await otherShapes(browser);
  await chosen(browser);
  await cancelled(browser);
} catch (error) {
  ok("the way is walked to its end", false, String(error.stack ?? error));
} finally {
  await stop(studio);
  await browser.close();
  rmSync(folder, {recursive: true});
}
console.log(`1..${number}`);
process.exit(failures ? 1 : 0);
