// vite-env.d.ts: a style is imported for its effect.
// SPDX-License-Identifier: Apache-2.0
declare module "*.css";
