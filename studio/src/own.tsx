// own.tsx: what a promise means for the user's own table: whom it is about, and what the table tells as it is.
// SPDX-License-Identifier: Apache-2.0
import type {StudioStanding, StudioTelling} from "./answers";
import {Progress} from "./parts";
import {useAnswer, useStore} from "./store";
import {texts} from "./texts";

const words = texts.promises.own;
const MOST_CELLS = 6;

/** The cells that rows have in common, in words. */
const cells = (columns: string[], values: Array<string | null>): string =>
  columns.slice(0, MOST_CELLS).map((name, at) => `${name} ${values[at] ?? texts.data.empty}`).join(", ") + (columns.length > MOST_CELLS ? ", …" : "");

/** How many are among fewer than k as the table is, and one of them. */
export function OwnCrowd({k}: {k: number}) {
  const store = useStore();
  const some = store.session.shape === "table" && store.release.quasi().length > 0;
  const found = useAnswer<StudioStanding>(some ? "standing" : null, {k});
  const one = found.answer;
  const first = one?.rows[0];
  if (!some || found.failure) return null;
  if (!one) return <Progress id={found.id} />;
  return <p class={found.stale ? "own stale" : "own"}><bdi>{first ? words.among(one.count, one.k, first.row, cells(one.columns, first.cells)) : words.nobody(one.k)}</bdi></p>;
}

/** What the table tells about a sensitive column to whoever knows the quasi-identifiers, and what the promise does against it. */
export function OwnValues({model, about, threshold}: {model: string; about: string; threshold: number}) {
  const store = useStore();
  const some = store.session.shape === "table" && store.release.quasi().length > 0 && store.release.column(about) !== undefined;
  const found = useAnswer<StudioTelling>(some ? "telling" : null, {about});
  const one = found.answer;
  if (!some || found.failure) return null;
  if (!one) return <Progress id={found.id} />;
  const share = one.most / one.size, overall = one.overall / one.rows;
  return (
    <p class={found.stale ? "own stale" : "own"}>
      <bdi>{one.size > 1 ? words.crowd(one.size, cells(one.columns, one.cells), one.most, one.about, one.value ?? texts.data.empty, overall) : words.strangers}</bdi>
      {one.size > 1 && Number.isFinite(threshold) && ` ${words.against[model]?.(threshold, {share, overall, rows: one.one_valued_rows, size: one.size}) ?? ""}`}
    </p>
  );
}
