// lattice.tsx: the choices of levels as a picture: which keep every promise, what each loses, and why not this one.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {Explain, StudioLattice} from "./answers";
import {Answer, Section} from "./parts";
import {useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

type Node = StudioLattice["nodes"][number];
interface Placed {node: Node; x: number; y: number; row: number; key: string}

const keyOf = (levels: number[]) => levels.join(",");
const W = 720, STEP = 58, MARGIN = 26;

/** Detail below, broad values above; on a row by loss. */
function place(lattice: StudioLattice): {nodes: Placed[]; height: number} {
  const sum = (node: Node) => node.levels.reduce((all, level) => all + level, 0);
  const sums = [...new Set(lattice.nodes.map(sum))].sort((a, b) => b - a);
  const nodes = sums.flatMap((one, row) => {
    const members = lattice.nodes.filter((node) => sum(node) === one).sort((a, b) => (a.loss ?? 2) - (b.loss ?? 2) || keyOf(a.levels).localeCompare(keyOf(b.levels)));
    return members.map((node, at) => ({node, row, key: keyOf(node.levels), x: MARGIN + ((at + 1) * (W - 2 * MARGIN)) / (members.length + 1), y: MARGIN + row * STEP}));
  });
  return {nodes, height: 2 * MARGIN + Math.max(0, sums.length - 1) * STEP};
}

const neighbours = (a: number[], b: number[]) => a.reduce((all, level, at) => all + Math.abs(level - b[at]!), 0) === 1;

function state(node: Node): "open" | "good" | "bad" {
  return !node.examined ? "open" : node.holds ? "good" : "bad";
}

function Picture({lattice, chosen, shown, show}: {lattice: StudioLattice; chosen: string; shown: string; show: (key: string) => void}) {
  const {nodes, height} = place(lattice);
  const edges = nodes.flatMap((a) => nodes.filter((b) => b.row === a.row + 1 && neighbours(a.node.levels, b.node.levels)).map((b) => [a, b] as const));
  const move = (event: KeyboardEvent, from: Placed) => {
    const row = nodes.filter((one) => one.row === from.row + {ArrowUp: -1, ArrowDown: 1}[event.key]!);
    const same = nodes.filter((one) => one.row === from.row);
    const to = {
      ArrowLeft: same[same.indexOf(from) - 1], ArrowRight: same[same.indexOf(from) + 1],
      ArrowUp: row.sort((a, b) => Math.abs(a.x - from.x) - Math.abs(b.x - from.x))[0], ArrowDown: row[0],
    }[event.key];
    if (!to) return;
    event.preventDefault();
    show(to.key);
    (event.currentTarget as Element).parentElement?.querySelector<SVGElement>(`[data-key="${to.key}"]`)?.focus();
  };
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={texts.lattice.title}>
      <svg class="plot lattice" viewBox={`0 0 ${W} ${height}`} role="group" aria-label={texts.lattice.title}>
        {edges.map(([a, b], at) => <line key={at} x1={a.x} y1={a.y} x2={b.x} y2={b.y} aria-hidden="true" />)}
        {nodes.map((one) => (
          <circle key={one.key} data-key={one.key} cx={one.x} cy={one.y} r={one.key === chosen ? 11 : 7} class={`${state(one.node)}${one.key === shown ? " shown" : ""}${one.key === chosen ? " chosen" : ""}`}
            role="button" tabindex={one.key === shown ? 0 : -1} aria-pressed={one.key === shown}
            aria-label={texts.lattice.node(one.node.levels.map((level, at) => `${lattice.columns[at]} ${level}`).join(", "), texts.lattice.states[state(one.node)], figure(one.node.loss), one.node.suppressed ?? 0)}
            onClick={() => show(one.key)} onKeyDown={(event) => (event.key === "Enter" || event.key === " " ? (event.preventDefault(), show(one.key)) : move(event, one))}>
            <title>{texts.lattice.node(one.node.levels.map((level, at) => `${lattice.columns[at]} ${level}`).join(", "), texts.lattice.states[state(one.node)], figure(one.node.loss), one.node.suppressed ?? 0)}</title>
          </circle>
        ))}
      </svg>
    </div>
  );
}

/** Nothing but * would be left. */
const empty = (one: Explain) => one.loss === null || one.loss >= 1;

/** Why this one, or why not. */
function Why({levels, best}: {levels: number[]; best: Node | undefined}) {
  const store = useStore();
  const found = useAnswer<Explain>("explain", {levels});
  const taken = JSON.stringify(store.release.levels()) === JSON.stringify(levels);
  return (
    <div class="why" aria-live="polite">
      <Answer asked={found}>
        {(one) => (
          <>
            <p class="verdict"><strong class={one.holds ? "good" : "bad"}>{one.holds ? texts.lattice.holds : texts.lattice.fails}</strong> {one.reason && <bdi>{one.reason}</bdi>}</p>
            <p>{one.columns.map((column) => `${column.name}: ${texts.solutions.level(column.level, column.height)}`).join(" · ")}</p>
            <p class="how">{texts.lattice.costs(figure(one.loss), n(one.suppressed), share(one.suppressed, one.rows), n(one.budget))}
              {one.holds && best?.loss !== undefined && best.loss !== null && one.loss !== null && one.loss > best.loss + 1e-9 && ` ${texts.lattice.dearer(figure(best.loss))}`}</p>
            <ul class="notes">{one.promises.filter((promise) => !promise.holds).map((promise, at) => (
              <li key={at}>{texts.lattice.broken(promise.model, promise.attribute, promise.classes, promise.rows)}</li>
            ))}</ul>
            {one.holds && empty(one) && <p class="how">{texts.lattice.empty}</p>}
            {taken ? <p class="how">{texts.lattice.taken}</p> : <button type="button" class="main" disabled={!one.holds || empty(one)} onClick={() => void store.edit((release) => release.setLevels(levels))}>{texts.lattice.take}</button>}
          </>
        )}
      </Answer>
    </div>
  );
}

export function Lattice({small}: {small: boolean}) {
  const store = useStore();
  const [wanted, setWanted] = useState(small);
  const [shown, setShown] = useState<string | null>(null);
  const levels = store.release.levels();
  const found = useAnswer<StudioLattice>(wanted ? "lattice" : null, levels ? {levels} : {});
  const first = found.answer?.nodes[0];
  const present = shown !== null && found.answer?.nodes.some((node) => keyOf(node.levels) === shown) ? shown : first ? keyOf(first.levels) : "";
  const best = found.answer?.nodes.filter((node) => node.holds && node.loss !== null).sort((a, b) => a.loss! - b.loss!)[0];
  return (
    <Section title={texts.lattice.title} how={texts.lattice.how} wide>
      {!wanted ? <button type="button" onClick={() => setWanted(true)}>{texts.lattice.draw}</button> : (
        <Answer asked={found}>
          {(lattice) => (
            <>
              <p class="how">{texts.lattice.count(lattice.nodes.length, lattice.total, lattice.nodes.filter((node) => node.examined).length)}</p>
              <ul class="legend">{(["good", "bad", "open"] as const).map((one) => <li key={one}><span class={one} aria-hidden="true" /> {texts.lattice.states[one]}</li>)}</ul>
              <Picture lattice={lattice} chosen={first ? keyOf(first.levels) : ""} shown={present} show={setShown} />
              {present && <Why levels={present.split(",").map(Number)} best={best} />}
            </>
          )}
        </Answer>
      )}
    </Section>
  );
}
