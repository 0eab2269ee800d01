// risk-shapes.tsx: who stands out in a database or among records, and by what somebody may know.
// SPDX-License-Identifier: Apache-2.0
import type {DiagnoseDatabase, DiagnoseRecords} from "./answers";
import {Answer, Bars, bySize, Figure, Notes, Section, useGradually} from "./parts";
import {useAnswer} from "./store";
import {n, share, texts} from "./texts";

const words = texts.riskShapes;
const MOST_LISTED = 200;

/** What somebody may know, and whom it finds. */
function Known<T>({all, name, k, alone, below}: {all: T[]; name: (one: T) => string; k: (one: T) => number; alone: (one: T) => number; below: (one: T) => number | undefined}) {
  return (
    <div class="scroll some" tabIndex={0} role="region" aria-label={words.known}>
      <table class="known">
        <thead><tr><th scope="col">{words.known}</th><th scope="col">k</th><th scope="col">{words.alone}</th><th scope="col">{words.below}</th></tr></thead>
        <tbody>{useGradually(all).slice(0, MOST_LISTED).map((one) => (
          <tr key={name(one)}><th scope="row"><bdi>{name(one)}</bdi></th><td>{n(k(one))}</td><td>{n(alone(one))}</td><td>{below(one) === undefined ? "–" : n(below(one)!)}</td></tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export function DatabaseRisk() {
  const found = useAnswer<DiagnoseDatabase>("diagnose", {});
  const one = found.answer;
  return (
    <>
      <header class="lead"><h1>{texts.risk.title}</h1><p>{words.databaseLead}</p></header>
      <Section title={words.persons} wide>
        <Answer asked={found}>
          {(answer) => (
            <dl class="figures">
              <Figure label={texts.solutions.kIs} value={n(answer.k)} />
              <Figure label={words.alone} value={n(answer.unique_persons)} note={share(answer.unique_persons, answer.persons)} />
              {answer.requested !== undefined && <Figure label={words.belowK(answer.requested)} value={n(answer.below_persons ?? 0)} note={share(answer.below_persons ?? 0, answer.persons)} />}
              <Figure label={texts.solutions.classes} value={n(answer.classes)} />
            </dl>
          )}
        </Answer>
      </Section>
      {one && (
        <Section title={texts.risk.sizes} how={words.sizesHow}>
          <Bars rows={bySize(one.histogram.map((size) => ({size: size.size, classes: size.classes, rows: size.persons}))).map((size) => ({label: texts.risk.size(size.low, size.high), value: size.rows, note: share(size.rows, one.persons), mark: size.low === 1}))} />
        </Section>
      )}
      {one && (
        <Section title={words.known} how={words.knownHow} wide>
          <Known all={one.known} name={(known) => (known.column ? `${known.tables[0]}.${known.column}` : known.tables.join(" + "))} k={(known) => known.k} alone={(known) => known.unique_persons} below={(known) => known.below_persons} />
          <Notes notes={one.notes} />
        </Section>
      )}
    </>
  );
}

export function RecordRisk() {
  const found = useAnswer<DiagnoseRecords>("diagnose", {});
  const one = found.answer;
  return (
    <>
      <header class="lead"><h1>{texts.risk.title}</h1><p>{words.recordsLead}</p></header>
      <Section title={words.records} wide>
        <Answer asked={found}>
          {(answer) => (
            <>
              <p class="verdict"><strong class={answer.holds ? "good" : "bad"}>{answer.holds ? words.hidden(answer.k) : words.found(answer.unique_records, answer.records)}</strong></p>
              <dl class="figures">
                <Figure label={words.count} value={n(answer.records)} />
                <Figure label={words.alone} value={n(answer.unique_records)} note={share(answer.unique_records, answer.records)} />
                <Figure label={words.belowK(answer.k)} value={n(answer.below_records)} note={share(answer.below_records, answer.records)} />
              </dl>
            </>
          )}
        </Answer>
      </Section>
      {one && (
        <Section title={words.reach} how={words.reachHow}>
          <Bars rows={one.reach.map((step) => ({label: words.step(step.m, step.n), value: step.below_records, note: share(step.below_records, one.records), mark: step.below_records > 0}))} />
        </Section>
      )}
      {one && (
        <Section title={words.classes}>
          <Bars rows={one.classes.map((kind) => ({label: kind.name, value: kind.values, note: words.classOf(kind.records, kind.sensitive)}))} />
        </Section>
      )}
      {one && (
        <Section title={words.known} how={words.knownRecords} wide>
          <Known all={one.known} name={(known) => `${known.classes.join(" + ")}${known.relations > 0 ? `, ${words.related(known.relations)}` : ""}`} k={(known) => known.k} alone={(known) => known.unique_records} below={(known) => known.below_records} />
          <Notes notes={one.notes} />
        </Section>
      )}
    </>
  );
}
