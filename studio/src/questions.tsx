// questions.tsx: sets of columns as a picture, and the twelve questions of the diagnosis centre in plain words, each answered from the
// user's data when it is opened.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {Diagnose, DiagnoseOver, DiagnoseOverSet} from "./answers";
import {Diagram, Legend} from "./diagram";
import type {Spot} from "./diagram";
import {Answer, Section, useGradually} from "./parts";
import {useAnswer, useStore} from "./store";
import {n, short, texts} from "./texts";

const words = texts.questions;
const MOST_DRAWN = 7, MOST_ASKED = 12, MOST_LISTED = 200, MOST_NAMED = 60;

/** Every set of the quasi-identifiers with its k: small sets above, each joined with those that have one column more. */
function Picture({sets, k, chosen, choose}: {sets: DiagnoseOverSet[]; k: number; chosen: string[]; choose: (set: string[]) => void}) {
  const spots = sets.map((set): Spot & {columns: string[]} => ({
    key: set.attributes.join("\u0000"), row: set.attributes.length, columns: set.attributes, mark: short(set.k!),
    state: set.k! >= k ? "good" : "bad", words: words.set(set.attributes.join(" + "), set.k!),
  }));
  const byKey = new Map(spots.map((one) => [one.key, one]));
  const shown = spots.find((one) => one.columns.length === chosen.length && one.columns.every((name) => chosen.includes(name)))?.key ?? spots[0]?.key ?? "";
  return (
    <>
      <Legend words={{good: words.safe(k), bad: words.telling(k)}} />
      <Diagram title={words.picture} spots={spots} shown={shown} show={(key) => choose(byKey.get(key)!.columns)}
        joined={(above, below) => byKey.get(above.key)!.columns.every((name) => byKey.get(below.key)!.columns.includes(name))} />
    </>
  );
}

const NONE: string[][] = [];

/** The smallest sets that say too much, each a button. */
function Telling({found, k, chosen, choose}: {found: DiagnoseOver; k: number; chosen: string[]; choose: (set: string[]) => void}) {
  const all = found.minimal_violating ?? NONE;
  const shown = useGradually(all).slice(0, MOST_NAMED);
  return (
    <>
      <p class="how">{all.length > 0 ? texts.risk.setsHow(k) : texts.risk.noSets(k)}</p>
      <ul class="sets">
        {shown.map((set) => (
          <li key={set.join("\u0000")}><button type="button" aria-pressed={set.length === chosen.length && set.every((one) => chosen.includes(one))} onClick={() => choose(set)}><bdi>{set.join(" + ")}</bdi></button></li>
        ))}
      </ul>
      {all.length > MOST_NAMED && <p class="how">{texts.risk.firstSets(MOST_NAMED, all.length)}</p>}
      {!found.complete && <p class="how">{texts.risk.partial}</p>}
    </>
  );
}

export function Sets({chosen, choose}: {chosen: string[]; choose: (set: string[]) => void}) {
  const store = useStore();
  const quasi = store.release.quasi();
  const k = Math.max(2, store.release.k() ?? 2);
  const drawn = quasi.length <= MOST_DRAWN;
  const sets = useAnswer<DiagnoseOver>(quasi.length > 0 ? "sets" : null, {});
  const all = useAnswer<DiagnoseOver>(drawn && quasi.length > 0 ? "sets" : null, {k: 0});
  return (
    <Section title={texts.risk.sets} wide>
      <Answer asked={sets}>
        {(found) => <Telling found={found} k={k} chosen={chosen} choose={choose} />}
      </Answer>
      {drawn ? <Answer asked={all}>{(found) => <><p class="how">{words.pictureHow}</p><Picture sets={found.sets ?? []} k={k} chosen={chosen} choose={choose} /></>}</Answer> : <p class="how">{words.tooMany(MOST_DRAWN)}</p>}
    </Section>
  );
}

/** The sets that a question is about, as a table. */
function Table({sets, budget}: {sets: DiagnoseOverSet[]; budget?: boolean}) {
  return (
    <div class="scroll some" tabIndex={0} role="region" aria-label={words.sets}>
      <table>
        <thead><tr><th scope="col">{words.columns}</th>{sets[0]?.k !== undefined && !budget && <th scope="col">k</th>}{sets[0]?.removed !== undefined && <th scope="col">{words.removed}</th>}{sets[0]?.staircase && <th scope="col">{words.reaches}</th>}</tr></thead>
        <tbody>{useGradually(sets).slice(0, MOST_LISTED).map((set) => (
          <tr key={set.attributes.join("\u0000")}><th scope="row"><bdi>{set.attributes.join(" + ")}</bdi></th>{set.k !== undefined && !budget && <td>{n(set.k)}</td>}
            {set.removed !== undefined && <td>{set.removed === null ? words.never : n(set.removed)}</td>}
            {set.staircase && <td>{set.staircase.slice(0, 6).map((step) => `${n(step.k)}: ${n(step.removed)}`).join(" · ")}</td>}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

const list = (sets: string[][] | undefined) => (sets?.some((set) => set.length > 0) ? sets.map((set) => set.join(" + ")).join("; ") : words.none);

/** A question about one set of columns. */
function OfColumns({params, say}: {params: object; say: (found: Diagnose) => string}) {
  const found = useAnswer<Diagnose>("diagnose", params);
  return <Answer asked={found}>{(one) => <p><bdi>{say(one)}</bdi></p>}</Answer>;
}

/** A question about all sets of columns. */
function OfSets({params, say, budget}: {params: object; say?: (found: DiagnoseOver) => string; budget?: boolean}) {
  const found = useAnswer<DiagnoseOver>("sets", params);
  return <Answer asked={found}>{(one) => <>{say && <p><bdi>{say(one)}</bdi></p>}{one.sets && <Table sets={one.sets} {...(budget ? {budget} : {})} />}{!one.complete && <p class="how">{texts.risk.partial}</p>}</>}</Answer>;
}

export function Questions({columns}: {columns: string[]}) {
  const store = useStore();
  const [k, setK] = useState(Math.max(2, store.release.k() ?? 2));
  const [percent, setPercent] = useState(5);
  const [open, setOpen] = useState<Set<number>>(new Set());
  const suppression = `${percent}%`;
  const yes = (found: Diagnose) => (found.holds ? words.yes : words.no);
  const steps = (found: Diagnose) => (found.staircase ?? []).slice(0, 8).map((step) => words.step(step.k, step.removed)).join(" ");
  const columnsOf = columns.length <= MOST_ASKED ? columns : columns.slice(0, MOST_ASKED);
  const over = {columns: columnsOf};
  const answers: Array<() => preact.JSX.Element> = [
    () => <OfColumns params={{columns, k}} say={(found) => words.a1(yes(found), found.k)} />,
    () => <OfColumns params={{columns, k: 0}} say={(found) => words.a2(found.k, found.unique_rows)} />,
    () => <OfSets params={{...over, k}} say={(found) => words.a3(list(found.maximal))} />,
    () => <OfSets params={{...over, k: 0}} />,
    () => <OfColumns params={{columns, k, suppression}} say={(found) => words.a5(yes(found), found.suppressed, found.k_after ?? 0)} />,
    () => <OfColumns params={{columns, k: 0, suppression}} say={(found) => words.a6(found.suppressed, found.k, found.k_after ?? 0)} />,
    () => <OfSets params={{...over, k, suppression}} say={(found) => words.a3(list(found.maximal))} />,
    () => <OfSets params={{...over, k: 0, suppression}} />,
    () => <OfColumns params={{columns, k, suppression: "any"}} say={(found) => words.a9(found.removed ?? null, found.rows)} />,
    () => <OfSets params={{...over, k, suppression: "any"}} budget />,
    () => <OfColumns params={{columns, k: 0, suppression: "any"}} say={steps} />,
    () => <OfSets params={{...over, k: 0, suppression: "any"}} budget />,
  ];
  return (
    <Section title={words.title} how={words.how(columns.join(", "))} wide>
      <div class="line">
        <label>k <input type="number" min={2} value={k} onChange={(event) => setK(Math.max(2, Math.round(Number(event.currentTarget.value)) || 2))} /></label>
        <label>{words.percent} <input type="number" min={0} max={100} value={percent} onChange={(event) => setPercent(Math.min(100, Math.max(0, Number(event.currentTarget.value) || 0)))} /></label>
      </div>
      <ol class="questions">{words.asked(k, suppression, columns.length).map((question, at) => (
        <li key={at}>
          <details open={open.has(at)} onToggle={(event) => {
            const isOpen = event.currentTarget.open;
            setOpen((before) => {
              const after = new Set(before);
              if (isOpen) after.add(at);
              else after.delete(at);
              return after;
            });
          }}>
            <summary>{question}</summary>
            {open.has(at) && <div class="said">{answers[at]!()}</div>}
          </details>
        </li>
      ))}</ol>
    </Section>
  );
}
