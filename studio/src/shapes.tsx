// shapes.tsx: databases and records: the schema as a picture, what is promised of trees, what would be released of them, and one person
// or record before and after.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {AnonymizeDatabase, AnonymizeRecords, ProfileDatabase, StudioTree, StudioTrees} from "./answers";
import {Answer, Bars, Figure, Notes, Number_, Section} from "./parts";
import {useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

const words = texts.shapes;
const BOX = 190, GAP = 24, LINE = 20, HEAD = 46;

/** Tables as boxes below the one that their rows belong to; each column with its role. */
export function Schema({schema}: {schema: ProfileDatabase}) {
  const store = useStore();
  const tables = schema.tables;
  const depth = (name: string | undefined, seen = 0): number => {
    const parent = tables.find((one) => one.name === name)?.parent;
    return parent && seen < tables.length ? 1 + depth(parent, seen + 1) : 0;
  };
  const rows: Array<typeof tables> = [];
  for (const table of tables) (rows[table.place === "outside" ? 0 : depth(table.name)] ??= []).push(table);
  const height = (row: typeof tables) => Math.max(...row.map((table) => HEAD + table.columns.length * LINE)) + 2 * GAP;
  const tops = rows.map((_, at) => GAP + rows.slice(0, at).reduce((sum, row) => sum + height(row), 0));
  const W = Math.max(420, ...rows.map((row) => row.length * (BOX + GAP) + GAP));
  const H = tops[rows.length - 1]! + height(rows[rows.length - 1]!) - GAP;
  const place = (name: string) => {
    const row = rows.findIndex((one) => one.some((table) => table.name === name));
    const at = rows[row]!.findIndex((table) => table.name === name);
    return {x: (W - rows[row]!.length * (BOX + GAP) + GAP) / 2 + at * (BOX + GAP), y: tops[row]!};
  };
  const short = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
  const roleOf = (table: string, column: string) => store.release.column(column, table)?.role ?? null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={words.schema}>
      <svg class="schema" viewBox={`0 0 ${W} ${H}`} width={W} height={H} role="img" aria-label={words.schemaOf(tables.map((table) => (table.parent ? `${table.name}, ${texts.data.inside(table.parent)}` : table.name)).join("; "))}>
        {tables.filter((table) => table.parent).map((table) => {
          const from = place(table.parent!), to = place(table.name);
          const above = tables.find((one) => one.name === table.parent)!;
          return <path key={table.name} d={`M${from.x + BOX / 2},${from.y + HEAD + above.columns.length * LINE} C${from.x + BOX / 2},${to.y - GAP} ${to.x + BOX / 2},${to.y - GAP} ${to.x + BOX / 2},${to.y}`} />;
        })}
        {tables.map((table) => {
          const {x, y} = place(table.name);
          return (
            <g key={table.name} class={table.place}>
              <rect x={x} y={y} width={BOX} height={HEAD + table.columns.length * LINE} rx="8" />
              <text class="name" x={x + 12} y={y + 20}>{short(table.name, 22)}</text>
              <text x={x + 12} y={y + 36}>{texts.tree.rows(table.rows)}</text>
              {table.columns.map((column, at) => {
                const role = roleOf(table.name, column.name);
                const joins = table.key.includes(column.name) || table.foreign_keys.some((key) => key.columns.includes(column.name));
                return (
                  <g key={column.name} class={`column-of ${role ?? (joins ? "joins" : "drop")}`}>
                    <circle cx={x + 17} cy={y + HEAD + at * LINE + 5} r="5" />
                    <text x={x + 30} y={y + HEAD + at * LINE + 9}>{short(column.name, 20)}</text>
                  </g>
                );
              })}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

/** Of records: whoever knows m values and n relations of somebody finds nobody or at least k. */
export function RecordPromises() {
  const store = useStore();
  const at = store.release.promises().findIndex((one) => one.model === "k-mn");
  const value = (at < 0 ? {} : store.release.promises()[at]!.value) as Record<string, number>;
  const {k = 5, m = 2, n: pairs = 1} = value;
  const set = (key: string, to: number) => void store.edit((release) => release.setPromise(at < 0 ? release.promises().length : at, "k-mn", {k, m, n: pairs, ...value, [key]: to}));
  return (
    <>
      <header class="lead"><h1>{texts.promises.title}</h1><p>{texts.promises.lead}</p></header>
      <Section title="k-mn" how={words.kmn(k, m, pairs)} wide>
        <div class="line">
          <label>k <Number_ label="k" value={k} min={2} step={1} change={(next) => set("k", Math.round(next))} /></label>
          <label>m <Number_ label={words.m} value={m} min={1} step={1} change={(next) => set("m", Math.round(next))} /></label>
          <label>n <Number_ label={words.n} value={pairs} min={0} step={1} change={(next) => set("n", Math.round(next))} /></label>
        </div>
        <p class="how">{words.mn}</p>
      </Section>
    </>
  );
}

function Branch({node}: {node: StudioTree}) {
  return (
    <li>
      <p><small>{node.kind}</small> {node.cells.map((cell, at) => <span key={at} class="cell">{cell.name && <small>{cell.name} </small>}<bdi>{cell.text ?? texts.data.empty}</bdi> </span>)}</p>
      {node.children.length > 0 && <ul>{node.children.map((child, at) => <Branch key={at} node={child} />)}</ul>}
    </li>
  );
}

/** One person or record at a time. */
function Persons({records}: {records: boolean}) {
  const [at, setAt] = useState(0);
  const block = Math.floor(at / 12) * 12;
  const found = useAnswer<StudioTrees>("trees", {offset: block});
  return (
    <>
      <Section title={records ? words.record : words.person} wide>
        <Answer asked={found}>
          {(trees) => {
            const one = trees.persons[at - block];
            return (
              <>
                <div class="pager">
                  <button type="button" disabled={at === 0} onClick={() => setAt(at - 1)}>{words.previous}</button>
                  <span aria-live="polite">{words.of(at + 1, trees.total)}</span>
                  <button type="button" disabled={at + 1 >= trees.total} onClick={() => setAt(at + 1)}>{words.following}</button>
                </div>
                {one && (
                  <div class="two persons">
                    <div><h3>{texts.solutions.before}</h3><ul class="tree"><Branch node={one.before} /></ul></div>
                    <div><h3>{texts.solutions.after}</h3>{one.after ? <ul class="tree"><Branch node={one.after} /></ul> : <p class="how">{words.gone}</p>}</div>
                  </div>
                )}
              </>
            );
          }}
        </Answer>
      </Section>
      {found.answer?.cut && (
        <Section title={words.cut} how={words.cutHow} wide>
          <ul class="promises cut">{found.answer.cut.map((one) => (
            <li key={one.class} class="promise"><h3><bdi>{one.class}</bdi> <small>{words.left(one.values, one.labels)}</small></h3>
              <ul class="chips">{one.some.map((label) => <li key={label.label}><bdi>{label.label}</bdi> <small>{n(label.nodes)}</small></li>)}</ul></li>
          ))}</ul>
        </Section>
      )}
      {found.answer?.relations && (
        <Section title={words.relations} how={words.relationsHow} wide>
          <div class="scroll" tabIndex={0} role="region" aria-label={words.relations}>
            <table class="relations">
              <thead><tr><th scope="col">{words.relation}</th><th scope="col">{texts.solutions.before}</th><th scope="col">{texts.solutions.after}</th></tr></thead>
              <tbody>{found.answer.relations.map((one) => <tr key={`${one.above}\u0000${one.below}`}><th scope="row"><bdi>{one.above}</bdi> › <bdi>{one.below}</bdi></th><td>{n(one.before)}</td><td>{n(one.after)}</td></tr>)}</tbody>
            </table>
          </div>
        </Section>
      )}
    </>
  );
}

type Tried = NonNullable<AnonymizeDatabase["auto"]>["candidates"];
function Methods({tried, method}: {tried: Tried; method: string | undefined}) {
  const store = useStore();
  return (
    <Section title={texts.solutions.tried} wide>
      <div class="scroll" tabIndex={0} role="region" aria-label={texts.solutions.tried}>
        <table>
          <thead><tr><th scope="col">{texts.solutions.method}</th><th scope="col">{texts.solutions.loss}</th><th scope="col">{words.suppressed}</th><th scope="col">{texts.solutions.state}</th></tr></thead>
          <tbody>{tried.filter((one) => one.loss !== undefined && one.loss !== null).map((one) => (
            <tr key={one.method}>
              <th scope="row">{one.method}</th><td>{figure(one.loss)}</td><td>{one.suppressed === undefined ? "–" : n(one.suppressed)}</td>
              <td>{one.method === method ? texts.solutions.chosen : <button type="button" class="quiet" aria-label={`${texts.solutions.choose}: ${one.method}`} onClick={() => void store.edit((release) => release.setField("method", one.method))}>{texts.solutions.choose}</button>}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </Section>
  );
}

export function DatabaseSolutions() {
  const found = useAnswer<AnonymizeDatabase>("search", {});
  const answer = found.answer;
  return (
    <>
      <header class="lead"><h1>{texts.solutions.title}</h1><p>{texts.solutions.lead}</p></header>
      <Section title={answer && !answer.found ? texts.solutions.none : texts.solutions.method} wide>
        <Answer asked={found}>
          {(one) => one.found ? (
            <dl class="figures">
              <Figure label={texts.solutions.method} value={one.method} />
              <Figure label={texts.solutions.kIs} value={n(one.k ?? 0)} note={`${texts.solutions.before} ${n(one.k_before ?? 0)}`} />
              {one.metrics && <Figure label={`${texts.solutions.loss} (lm)`} value={figure(one.metrics.lm)} />}
              <Figure label={words.suppressed} value={n(one.suppressed ?? 0)} note={share(one.suppressed ?? 0, one.persons_in ?? 0)} />
              <Figure label={texts.solutions.classes} value={n(one.classes ?? 0)} />
            </dl>
          ) : <p class="problem" role="alert"><bdi>{one.reason}</bdi></p>}
        </Answer>
      </Section>
      {answer?.found && answer.tables && (
        <Section title={words.tables} how={words.tablesHow} wide>
          <Bars rows={answer.tables.map((table) => ({label: table.name, value: table.lm ?? 0, note: words.rowsOf(table.rows, table.rows_in)}))} unit={(value) => figure(value)} />
        </Section>
      )}
      {answer?.auto && <Methods tried={answer.auto.candidates} method={answer.method} />}
      {answer?.found && <Persons records={false} />}
      {answer && answer.notes.length > 0 && <Section title={texts.solutions.notes} wide><Notes notes={answer.notes} /></Section>}
    </>
  );
}

export function RecordSolutions() {
  const found = useAnswer<AnonymizeRecords>("search", {});
  const answer = found.answer;
  return (
    <>
      <header class="lead"><h1>{texts.solutions.title}</h1><p>{texts.solutions.lead}</p></header>
      <Section title={answer && !answer.found ? texts.solutions.none : texts.solutions.method} wide>
        <Answer asked={found}>
          {(one) => one.found ? (
            <dl class="figures">
              <Figure label={texts.solutions.method} value={one.method} />
              <Figure label={texts.solutions.kIs} value={n(one.k ?? 0)} />
              <Figure label={words.values} value={n(one.values ?? 0)} note={`${texts.solutions.before} ${n(one.values_original ?? 0)}`} />
              <Figure label={words.nodes} value={n(one.nodes ?? 0)} note={`${texts.solutions.before} ${n(one.nodes_original ?? 0)}`} />
              <Figure label={words.pairs} value={n(one.relations ?? 0)} note={`${texts.solutions.before} ${n(one.relations_original ?? 0)}`} />
              <Figure label={words.vanished} value={n(one.disassociations ?? 0)} />
            </dl>
          ) : <p class="problem" role="alert"><bdi>{one.reason}</bdi></p>}
        </Answer>
      </Section>
      {answer?.auto && <Methods tried={answer.auto.candidates} method={answer.method} />}
      {answer?.found && <Persons records />}
      {answer && answer.notes.length > 0 && <Section title={texts.solutions.notes} wide><Notes notes={answer.notes} /></Section>}
    </>
  );
}
