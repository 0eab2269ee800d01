// risk.tsx: who stands out, by which columns, and how likely it is that they are found.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {Diagnose, StudioStanding} from "./answers";
import {Answer, Bars, bySize, Figure, Section, useGradually} from "./parts";
import {Questions, Sets} from "./questions";
import {useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

function Standing({found}: {found: StudioStanding}) {
  return (
    <div class="scroll some" tabIndex={0} role="region" aria-label={texts.risk.rows}>
      <table>
        <thead><tr><th scope="col">{texts.risk.row}</th>{found.columns.map((name) => <th scope="col" key={name}><bdi>{name}</bdi></th>)}</tr></thead>
        <tbody>{useGradually(found.rows).map((row) => (
          <tr key={row.row}><th scope="row">{n(row.row)}</th>{row.cells.map((cell, at) => <td key={at}>{cell === null ? <i>{texts.data.empty}</i> : <bdi>{cell}</bdi>}</td>)}</tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export function Risk() {
  const store = useStore();
  const quasi = store.release.quasi();
  const [chosen, setChosen] = useState<string[] | null>(null);
  const columns = (chosen ?? quasi).filter((name) => store.release.columns().some((one) => one.name === name));
  const some = columns.length > 0;
  const diagnosis = useAnswer<Diagnose>(some ? "diagnose" : null, {columns, risk: true, special: true});
  const standing = useAnswer<StudioStanding>(some ? "standing" : null, {columns, k: 2});
  const toggle = (name: string) => setChosen(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name]);
  return (
    <>
      <header class="lead"><h1>{texts.risk.title}</h1><p>{texts.risk.lead}</p></header>
      <Section title={texts.risk.knows} wide>
        <div class="ticks">
          {store.release.columns().map((column) => (
            <label key={column.name} class="tick">
              <input type="checkbox" checked={columns.includes(column.name)} onChange={() => toggle(column.name)} /> <bdi>{column.name}</bdi>
            </label>
          ))}
          {chosen && <button type="button" class="quiet" onClick={() => setChosen(null)}>{texts.risk.reset}</button>}
        </div>
        {some ? (
          <Answer asked={diagnosis}>
            {(found) => (
              <p class="verdict"><strong class={found.k > 1 ? "good" : "bad"}>k = {n(found.k)}</strong> {found.k > 1 ? texts.k.rows.crowd(found.k) : texts.k.rows.alone(found.unique_rows, found.rows)}</p>
            )}
          </Answer>
        ) : <p class="how">{texts.k.none}</p>}
      </Section>
      {diagnosis.answer && some && (
        <>
          <Section title={texts.risk.sizes} how={texts.risk.sizesHow}>
            <Bars rows={bySize(diagnosis.answer.histogram).map((one) => ({label: texts.risk.size(one.low, one.high), value: one.rows, note: share(one.rows, diagnosis.answer!.rows), mark: one.low === 1}))} />
          </Section>
          {diagnosis.answer.risk && (
            <Section title={texts.risk.figures}>
              <dl class="figures">
                <Figure label={texts.risk.highest} value={figure(diagnosis.answer.risk.prosecutor?.highest)} />
                <Figure label={texts.risk.average} value={figure(diagnosis.answer.risk.prosecutor?.average)} />
                <Figure label={texts.risk.atRisk} value={n(diagnosis.answer.risk.prosecutor?.at_risk ?? 0)} note={share(diagnosis.answer.risk.prosecutor?.at_risk ?? 0, diagnosis.answer.rows)} />
              </dl>
            </Section>
          )}
        </>
      )}
      {quasi.length > 0 && <Sets chosen={columns} choose={setChosen} />}
      {diagnosis.answer?.suda && (
        <Section title={texts.risk.columns} how={texts.risk.columnsHow}>
          <Bars rows={diagnosis.answer.suda.columns.map((one) => ({label: one.attribute, value: one.share ?? 0}))} unit={(value) => share(value, 1)} />
        </Section>
      )}
      {some && (
        <Section title={texts.risk.rows} wide>
          <Answer asked={standing}>
            {(found) => found.count === 0 ? <p class="how">{texts.risk.noRows}</p> : (
              <>
                <p class="how">{texts.risk.rowsHow(found.count, found.rows.length)}</p>
                <Standing found={found} />
              </>
            )}
          </Answer>
        </Section>
      )}
      {some && <Questions columns={columns} />}
    </>
  );
}
