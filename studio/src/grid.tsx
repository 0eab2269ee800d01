// grid.tsx: all rows of the table under one scroll bar. The rows that are seen are fetched in blocks; nothing else is kept for long, so
// that ten million rows cost what a hundred do. A browser cannot make an element as high as that: the bar's place is scaled, while wheel
// and keys go row by row.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useLayoutEffect, useRef, useState} from "preact/hooks";
import * as api from "./api";
import type {StudioRows} from "./answers";
import {Section} from "./parts";
import {useStore} from "./store";
import {n, texts} from "./texts";

const ROW = 34, SEEN = 14, BLOCK = 100, MOST_BLOCKS = 40, HIGHEST = 4_000_000;

/** The blocks of rows that are here; asks for those that are not, and again where the program could not answer: it may be reading the table. */
function useBlocks(first: number, open: boolean): {total: number; columns: string[]; row: (at: number) => StudioRows["rows"][number] | undefined} {
  const blocks = useRef(new Map<number, StudioRows>());
  const [, setCount] = useState(0);
  const [tries, setTries] = useState(0);
  const wanted = [...new Set([Math.floor(first / BLOCK), Math.floor((first + SEEN) / BLOCK)])];
  useEffect(() => {
    let gone = false;
    let again: ReturnType<typeof setTimeout> | undefined;
    const timer = setTimeout(() => {
      for (const block of wanted) {
        if (blocks.current.has(block)) continue;
        api.getRows(block * BLOCK, BLOCK).then((rows) => {
          blocks.current.set(block, rows);
          for (const old of [...blocks.current.keys()].slice(0, -MOST_BLOCKS)) blocks.current.delete(old);
          if (!gone) setCount((before) => before + 1);
        }, () => {
          if (!gone) again = setTimeout(() => setTries((before) => before + 1), 500);
        });
      }
    }, blocks.current.size === 0 ? 0 : 40);
    return () => {
      gone = true;
      clearTimeout(timer);
      clearTimeout(again);
    };
  }, [wanted.join(), open, tries]);
  const any = blocks.current.values().next().value;
  return {total: any?.total ?? 0, columns: any?.columns ?? [], row: (at) => blocks.current.get(Math.floor(at / BLOCK))?.rows[at % BLOCK]};
}

export function Grid() {
  const store = useStore();
  const [first, setFirst] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const set = useRef(-1); // where the bar was put by us
  const {total, columns, row} = useBlocks(Math.floor(first), store.session.open);
  const last = Math.max(0, total - SEEN + 1);
  const height = Math.min(HIGHEST, total * ROW) + ROW;
  const range = Math.max(1, height - (SEEN + 1) * ROW);
  const go = (to: number) => setFirst(Math.min(last, Math.max(0, to)));
  useLayoutEffect(() => {
    if (!box.current) return;
    const place = last === 0 ? 0 : Math.round((first / last) * range);
    if (Math.abs(box.current.scrollTop - place) > 1) {
      set.current = place;
      box.current.scrollTop = place;
    }
  }, [first, range, last]);
  useEffect(() => {
    const element = box.current;
    const wheel = (event: WheelEvent) => {
      if (event.ctrlKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) return;
      const by = event.deltaMode === 1 ? event.deltaY : event.deltaY / ROW;
      setFirst((before) => {
        const to = Math.min(last, Math.max(0, before + by));
        if (to !== before) event.preventDefault();
        return to;
      });
      event.preventDefault();
    };
    element?.addEventListener("wheel", wheel, {passive: false});
    return () => element?.removeEventListener("wheel", wheel);
  }, [last]);
  if (columns.length === 0) return null;
  const from = Math.floor(first);
  const rows = Array.from({length: Math.max(0, Math.min(SEEN, total - from))}, (_, at) => from + at);
  const keys: Record<string, number> = {ArrowDown: from + 1, ArrowUp: from - 1, PageDown: from + SEEN - 1, PageUp: from - SEEN + 1, Home: 0, End: last};
  return (
    <Section title={texts.data.grid} wide>
      <div class="pager">
        <button type="button" disabled={from === 0} onClick={() => go(0)}>{texts.data.first}</button>
        <span aria-live="polite">{texts.data.page(total === 0 ? 0 : from + 1, from + rows.length, total)}</span>
        <button type="button" disabled={from >= last} onClick={() => go(last)}>{texts.data.last}</button>
        <label>{texts.data.go} <input type="number" min={1} max={total} onChange={(event) => {
          const wanted = Number(event.currentTarget.value);
          if (wanted >= 1) go(wanted - 1);
        }} /></label>
      </div>
      <div ref={box} class="scroll grid" tabIndex={0} role="region" aria-label={texts.data.grid}
        onScroll={(event) => {
          const at = event.currentTarget.scrollTop;
          if (Math.abs(at - set.current) <= 1) return;
          set.current = -1;
          go((at / range) * last);
        }}
        onKeyDown={(event) => {
          const to = keys[event.key];
          if (to === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
          event.preventDefault();
          go(to);
        }}>
        <div style={{height: `${height}px`}}>
          <table aria-rowcount={total + 1}>
            <thead><tr aria-rowindex={1}><th scope="col">#</th>{columns.map((name) => <th key={name} scope="col" class={store.release.column(name)?.role ?? "drop"}><bdi>{name}</bdi></th>)}</tr></thead>
            <tbody>
              {rows.map((at) => {
                const cells = row(at);
                return (
                  <tr key={at} aria-rowindex={at + 2}>
                    <th scope="row">{n(at + 1)}</th>
                    {columns.map((name, column) => <td key={name}>{cells === undefined ? "…" : cells[column] === null ? <i>{texts.data.empty}</i> : <bdi>{cells[column]}</bdi>}</td>)}
                  </tr>
                );
              })}
            </tbody>
          </table>
        </div>
      </div>
    </Section>
  );
}
