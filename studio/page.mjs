// page.mjs: copies what vite built to src/studio/page.*, and refuses a bundle of more than 150 kB.
// SPDX-License-Identifier: Apache-2.0
import {readFileSync, writeFileSync} from "node:fs";
import {fileURLToPath} from "node:url";
import {gzipSync} from "node:zlib";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const MOST = 150_000;
const marks = {
  html: (text) => text.replace(/<!doctype html>/i, "<!doctype html>\n<!-- page.html: generated from studio/ by make studio. SPDX-License-Identifier: Apache-2.0 -->"),
  js: (text) => `/* page.js: generated from studio/ by make studio. SPDX-License-Identifier: Apache-2.0
   Holds Preact (MIT, copyright Jason Miller) and yaml (ISC, copyright Eemeli Aro). */\n${text}`,
  css: (text) => `/* page.css: generated from studio/ by make studio. SPDX-License-Identifier: Apache-2.0 */\n${text}`,
};
let total = 0;
for (const [ending, mark] of Object.entries(marks)) {
  const built = readFileSync(here(ending === "html" ? "dist/index.html" : `dist/page.${ending}`), "utf8");
  const text = mark(built).trimEnd() + "\n";
  total += gzipSync(text, {level: 9}).length;
  writeFileSync(here(`../src/studio/page.${ending}`), text);
}
console.log(`page: ${total} bytes compressed`);
if (total > MOST) {
  console.error(`page: more than ${MOST} bytes`);
  process.exit(1);
}
