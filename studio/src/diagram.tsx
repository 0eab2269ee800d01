// diagram.tsx: circles in rows with lines between them, to be walked by pointer or arrow keys: a lattice of levels, or of sets of columns.
// SPDX-License-Identifier: Apache-2.0

export interface Spot {
  key: string;
  /** 0: at the top */
  row: number;
  state: "good" | "bad" | "open";
  words: string;
  chosen?: boolean;
  /** a few characters inside */
  mark?: string;
}
interface Placed extends Spot {x: number; y: number}

const STEP = 58, MARGIN = 26;

/** `spots` of one row stand in their order. */
export function Diagram({title, spots, joined, shown, show}: {title: string; spots: Spot[]; joined: (above: Spot, below: Spot) => boolean; shown: string; show: (key: string) => void}) {
  const rows = [...new Set(spots.map((one) => one.row))].sort((a, b) => a - b);
  const widest = Math.max(...rows.map((row) => spots.filter((one) => one.row === row).length), 1);
  const W = Math.max(640, Math.min(1400, widest * 34));
  const placed: Placed[] = rows.flatMap((row, line) => {
    const members = spots.filter((one) => one.row === row);
    return members.map((one, at) => ({...one, row: line, x: MARGIN + ((at + 1) * (W - 2 * MARGIN)) / (members.length + 1), y: MARGIN + line * STEP}));
  });
  const height = 2 * MARGIN + Math.max(0, rows.length - 1) * STEP;
  const lines = placed.flatMap((a) => placed.filter((b) => b.row === a.row + 1 && joined(a, b)).map((b) => [a, b] as const));
  const nearest = (from: Placed, row: number) => placed.filter((one) => one.row === row).sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0];
  const key = (event: KeyboardEvent, from: Placed) => {
    const same = placed.filter((one) => one.row === from.row);
    const at = same.indexOf(from);
    const to = {ArrowLeft: same[at - 1], ArrowRight: same[at + 1], ArrowUp: nearest(from, from.row - 1), ArrowDown: nearest(from, from.row + 1), Enter: from, " ": from}[event.key];
    if (!to) return;
    event.preventDefault();
    show(to.key);
    const group = (event.currentTarget as Element).parentElement;
    for (const one of group?.querySelectorAll<SVGElement>("g[data-key]") ?? []) if (one.dataset["key"] === to.key) one.focus();
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={title}>
      <svg class="plot diagram" viewBox={`0 0 ${W} ${height}`} role="group" aria-label={title}>
        {lines.map(([a, b], at) => <line key={at} x1={a.x} y1={a.y} x2={b.x} y2={b.y} aria-hidden="true" />)}
        {placed.map((one) => (
          <g key={one.key} data-key={one.key} class={`${one.state}${one.key === shown ? " shown" : ""}${one.chosen ? " chosen" : ""}`} role="button" tabindex={one.key === shown ? 0 : -1} aria-pressed={one.key === shown} aria-label={one.words}
            onClick={() => show(one.key)} onKeyDown={(event) => key(event, one)}>
            <title>{one.words}</title>
            <circle cx={one.x} cy={one.y} r={one.mark !== undefined ? 14 : one.chosen ? 11 : 7} />
            {one.mark !== undefined && <text x={one.x} y={one.y + 4} text-anchor="middle" aria-hidden="true">{one.mark}</text>}
          </g>
        ))}
      </svg>
    </div>
  );
}

export function Legend({words}: {words: Partial<Record<Spot["state"], string>>}) {
  return <ul class="legend">{Object.entries(words).map(([state, text]) => <li key={state}><span class={state} aria-hidden="true" /> {text}</li>)}</ul>;
}
