// lattice.tsx: the choices of levels as a picture: which keep every promise, what each loses, and why not this one.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {Explain, StudioLattice} from "./answers";
import {Diagram, Legend} from "./diagram";
import type {Spot} from "./diagram";
import {Answer, Section} from "./parts";
import {useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

type Node = StudioLattice["nodes"][number];

const keyOf = (levels: number[]) => levels.join(",");
const sumOf = (node: Node) => node.levels.reduce((all, level) => all + level, 0);
const state = (node: Node): Spot["state"] => (!node.examined ? "open" : node.holds ? "good" : "bad");

/** Detail below, broad values above; on a row by loss. */
function Picture({lattice, chosen, shown, show}: {lattice: StudioLattice; chosen: string; shown: string; show: (key: string) => void}) {
  const spots = [...lattice.nodes].sort((a, b) => (a.loss ?? 2) - (b.loss ?? 2) || keyOf(a.levels).localeCompare(keyOf(b.levels))).map((node): Spot & {levels: number[]} => ({
    key: keyOf(node.levels), row: -sumOf(node), state: state(node), chosen: keyOf(node.levels) === chosen, levels: node.levels,
    words: texts.lattice.node(node.levels.map((level, at) => `${lattice.columns[at]} ${level}`).join(", "), texts.lattice.states[state(node)], figure(node.loss), node.suppressed ?? 0),
  }));
  const levels = new Map(spots.map((one) => [one.key, one.levels]));
  return <Diagram title={texts.lattice.title} spots={spots} shown={shown} show={show}
    joined={(above, below) => levels.get(above.key)!.reduce((all, level, at) => all + Math.abs(level - levels.get(below.key)![at]!), 0) === 1} />;
}

/** Nothing but * would be left. */
const empty = (one: Explain) => one.loss === null || one.loss >= 1;

/** Does the release as it is lose less already? */
const worse = (one: Explain, now: number | null) => now !== null && one.loss !== null && one.loss > now + 1e-9;

/** Why this one, or why not. */
function Why({levels, best, now}: {levels: number[]; best: Node | undefined; now: number | null}) {
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
            {!taken && one.holds && worse(one, now) && <p class="how">{texts.lattice.worse(figure(now))}</p>}
            {taken ? <p class="how">{texts.lattice.taken}</p> : <button type="button" class={worse(one, now) ? "quiet" : "main"} disabled={!one.holds || empty(one)} onClick={() => void store.edit((release) => release.setLevels(levels))}>{texts.lattice.take}</button>}
          </>
        )}
      </Answer>
    </div>
  );
}

/** `now`: what the release loses that would be made; null: not known. */
export function Lattice({small, now}: {small: boolean; now: number | null}) {
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
              <Legend words={texts.lattice.states} />
              <Picture lattice={lattice} chosen={first ? keyOf(first.levels) : ""} shown={present} show={setShown} />
              {present && <Why levels={present.split(",").map(Number)} best={best} now={now} />}
            </>
          )}
        </Answer>
      )}
    </Section>
  );
}
