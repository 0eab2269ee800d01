// solutions.tsx: what would be released: methods side by side, the lattice of levels, rows and distributions before and after, and
// how wrong the user's own queries become.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {Anonymize, Measure, StudioBar, StudioDistributions, StudioPreview} from "./answers";
import {Lattice} from "./lattice";
import {Answer, Bars, bySize, Copy, Figure, Notes, Problem, Progress, Section, Spread, useGradually} from "./parts";
import {useAction, useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

const QUERIES = "queries.sql", MOST_ROWS = 20;

function Sizes({answer}: {answer: Anonymize}) {
  const before = bySize(answer.sizes_before), after = bySize(answer.sizes ?? []);
  const bars = (list: typeof before, all: number) => <Bars rows={list.map((one) => ({label: texts.risk.size(one.low, one.high), value: one.rows, note: share(one.rows, all), mark: one.low === 1}))} />;
  return (
    <Section title={texts.solutions.sizes} wide>
      <div class="two">
        <div><h3>{texts.solutions.before}</h3>{bars(before, answer.rows_in)}</div>
        <div><h3>{texts.solutions.after}</h3>{bars(after, answer.rows_in)}</div>
      </div>
    </Section>
  );
}

function Cells({one}: {one: StudioPreview}) {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={texts.solutions.preview}>
      <table>
        <thead><tr><th scope="col">#</th>{one.columns.map((name) => <th key={name} scope="col"><bdi>{name}</bdi></th>)}</tr></thead>
        <tbody>{useGradually(one.rows).slice(0, MOST_ROWS).map((row) => (
          <tr key={row.row}>
            <th scope="row">{n(row.row)}</th>
            {row.after.map((cell, at) => (
              <td key={at}>
                {row.before[at] !== cell && <><del><bdi>{row.before[at] ?? texts.data.empty}</bdi></del> </>}
                {cell === null ? <i>{texts.data.empty}</i> : row.before[at] === cell ? <bdi>{cell}</bdi> : <ins><bdi>{cell}</bdi></ins>}
              </td>
            ))}
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

const words = (bar: StudioBar) => (bar.to !== undefined && bar.to !== bar.label ? `${bar.label} – ${bar.to}` : (bar.label ?? texts.data.empty));
const firstNumber = (bar: StudioBar) => Number(/-?\d+(\.\d+)?/.exec(bar.label ?? "")?.[0] ?? Infinity);

/** A column's distribution before and after; what had an order keeps it. */
function Distributions({before, after}: {before: StudioDistributions; after: StudioDistributions}) {
  return (
    <ul class="compared">
      {useGradually(after.columns).map((is) => {
        const was = before.columns.find((one) => one.name === is.name);
        if (!was) return null;
        const bars = was.ordered && !is.ordered ? [...is.bars].sort((a, b) => firstNumber(a) - firstNumber(b)) : is.bars;
        const spread = (list: StudioBar[], label: string) => (
          <div><p class="how">{label}</p><Spread label={`${is.name}, ${label}`} title={texts.data.bar} bars={list.map((bar) => ({label: words(bar), rows: bar.rows}))} /></div>
        );
        return (
          <li key={is.name}>
            <h3><bdi>{is.name}</bdi></h3>
            {spread(was.bars, texts.solutions.before)}
            {spread(bars, texts.solutions.after)}
          </li>
        );
      })}
    </ul>
  );
}

/** Rows as they are and as they would be released, and what becomes of each column's values. */
function Preview() {
  const found = useAnswer<StudioPreview>("preview", {});
  const one = found.answer;
  return (
    <>
      <Section title={texts.solutions.preview} how={texts.solutions.previewHow} wide>
        <Answer asked={found}>{(answer) => <Cells one={answer} />}</Answer>
      </Section>
      {one?.before && one.after && (
        <Section title={texts.solutions.distributions} how={texts.solutions.distributionsHow} wide><Distributions before={one.before} after={one.after} /></Section>
      )}
    </>
  );
}

/** The user's queries are kept beside the release file, and saved with it. */
function Queries() {
  const store = useStore();
  const kept = store.session.files?.[QUERIES] ?? "";
  const [text, setText] = useState(kept);
  useEffect(() => setText(kept), [kept]);
  const asked = useAction<Measure>("queries");
  const run = async () => {
    const queries = text.endsWith("\n") ? text : `${text}\n`;
    if (kept === queries || (await store.edit(() => undefined, {[QUERIES]: queries}))) await asked.run({queries});
  };
  const found = asked.answer?.workload;
  return (
    <Section title={texts.solutions.queries} how={texts.solutions.queriesHow} wide>
      <textarea rows={4} spellcheck={false} aria-label={texts.solutions.queries} placeholder={"SELECT COUNT(*) WHERE age BETWEEN 20 AND 30;"} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      <button type="button" disabled={!text.trim() || asked.working} onClick={() => void run()}>{texts.solutions.ask}</button>
      {asked.working && <Progress id={asked.id} />}
      {asked.failure && <Problem failure={asked.failure} />}
      {found && (
        <>
          <p class="verdict">{texts.solutions.mean(share(found.mean ?? 0, 1))}</p>
          <div class="scroll" tabIndex={0} role="region" aria-label={texts.solutions.queries}>
            <table class="answers">
              <thead><tr><th scope="col">{texts.solutions.query}</th><th scope="col">{texts.solutions.original}</th><th scope="col">{texts.solutions.estimate}</th><th scope="col">{texts.solutions.bounds}</th><th scope="col">{texts.solutions.error}</th></tr></thead>
              <tbody>{found.queries.map((one, at) => (
                <tr key={at}><th scope="row"><bdi>{one.query}</bdi></th><td>{figure(one.original)}</td><td>{figure(one.estimate)}</td><td>{figure(one.lower)} – {figure(one.upper)}</td><td>{one.error === null ? "–" : share(one.error, 1)}</td></tr>
              ))}</tbody>
            </table>
          </div>
          <Copy text={`kanon measure ${store.session.path} --workload ${QUERIES}`} label={texts.solutions.measureCommand} />
        </>
      )}
    </Section>
  );
}

export function Solutions() {
  const store = useStore();
  const found = useAnswer<Anonymize>("search", {});
  const answer = found.answer;
  const take = (method: string) => void store.edit((release) => {
    release.setLevels(null);
    release.setField("method", method);
  });
  return (
    <>
      <header class="lead"><h1>{texts.solutions.title}</h1><p>{texts.solutions.lead}</p></header>
      <Section title={answer && !answer.found ? texts.solutions.none : texts.solutions.method} wide>
        <Answer asked={found}>
          {(one) => one.found ? (
            <dl class="figures">
              <Figure label={texts.solutions.method} value={one.method} />
              <Figure label={texts.solutions.kIs} value={n(one.k ?? 0)} note={`${texts.solutions.before} ${n(one.k_before)}`} />
              {one.metrics && <Figure label={`${texts.solutions.loss} (lm)`} value={figure(one.metrics.lm)} />}
              <Figure label={texts.solutions.suppressed} value={n(one.suppressed ?? 0)} note={share(one.suppressed ?? 0, one.rows_in)} />
              <Figure label={texts.solutions.classes} value={n(one.classes ?? 0)} />
              {one.items && <Figure label={texts.solutions.items(one.items.column)} value={share(one.items.kept, one.items.items)} note={texts.solutions.itemsHidden(one.items.hidden)} />}
            </dl>
          ) : <p class="problem" role="alert"><bdi>{one.reason}</bdi></p>}
        </Answer>
      </Section>
      {answer?.found && answer.attributes && (
        <Section title={texts.solutions.columns} wide>
          <Bars rows={answer.attributes.map((one) => ({label: one.name, value: one.lm ?? 0, ...(one.level !== null && one.height !== null ? {note: texts.solutions.level(one.level, one.height)} : {})}))} unit={(value) => figure(value)} />
        </Section>
      )}
      {answer?.auto && (
        <Section title={texts.solutions.tried} wide>
          <div class="scroll" tabIndex={0} role="region" aria-label={texts.solutions.tried}>
            <table>
              <thead><tr><th scope="col">{texts.solutions.method}</th><th scope="col">{texts.solutions.loss}</th><th scope="col">{texts.solutions.suppressed}</th><th scope="col">{texts.solutions.state}</th></tr></thead>
              <tbody>{answer.auto.candidates.filter((one) => one.loss !== undefined && one.loss !== null).map((one) => (
                <tr key={one.method}>
                  <th scope="row">{one.method}</th><td>{figure(one.loss)}</td><td>{one.suppressed === undefined ? "–" : n(one.suppressed)}</td>
                  <td>{one.method === answer.method ? texts.solutions.chosen : <button type="button" class="quiet" aria-label={`${texts.solutions.choose}: ${one.method}`} onClick={() => take(one.method)}>{texts.solutions.choose}</button>}</td>
                </tr>
              ))}</tbody>
            </table>
          </div>
        </Section>
      )}
      {answer && !answer.auto && <Section title={texts.solutions.tried}><button type="button" onClick={() => take("auto")}>{texts.solutions.auto}</button></Section>}
      {answer && store.release.quasi().length > 0 && <Lattice small={answer.rows_in <= 50_000} now={answer.found ? (answer.metrics?.lm ?? null) : null} />}
      {answer?.found && <Preview />}
      {answer?.found && <Sizes answer={answer} />}
      {answer?.found && <Queries />}
      {answer && answer.notes.length > 0 && <Section title={texts.solutions.notes} wide><Notes notes={answer.notes} /></Section>}
    </>
  );
}

