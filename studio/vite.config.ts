// vite.config.ts: one script, one style, one page, under fixed names; no inline script, so that the policy stays strict.
// SPDX-License-Identifier: Apache-2.0
import {defineConfig} from "vite";

export default defineConfig({
  base: "/",
  build: {
    target: "es2022",
    modulePreload: {polyfill: false},
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {output: {entryFileNames: "page.js", assetFileNames: "page.[ext]"}},
  },
});
