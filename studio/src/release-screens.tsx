// release-screens.tsx: what would be released (solutions), what a neighbour finds (attack), and the release itself (publish).
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {Anonymize, Attack as AttackAnswer, StudioPreview, Verify} from "./answers";
import {Answer, Bars, bySize, Copy, Figure, Notes, Problem, Progress, Section} from "./parts";
import {useAction, useAnswer, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

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

/** Rows as they are, and as they would be released. */
function Preview() {
  const found = useAnswer<StudioPreview>("preview", {});
  return (
    <Section title={texts.solutions.preview} how={texts.solutions.previewHow} wide>
      <Answer asked={found}>
        {(one) => (
          <div class="scroll" tabIndex={0} role="region" aria-label={texts.solutions.preview}>
            <table>
              <thead><tr><th scope="col">#</th>{one.columns.map((name) => <th key={name} scope="col"><bdi>{name}</bdi></th>)}</tr></thead>
              <tbody>{one.rows.slice(0, 20).map((row) => (
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
        )}
      </Answer>
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
      {answer?.found && <Preview />}
      {answer?.found && <Sizes answer={answer} />}
      {answer && answer.notes.length > 0 && <Section title={texts.solutions.notes} wide><Notes notes={answer.notes} /></Section>}
    </>
  );
}

export function Attack() {
  const [file, setFile] = useState("");
  const attack = useAction<AttackAnswer>("attack");
  const found = attack.answer;
  return (
    <>
      <header class="lead"><h1>{texts.attack.title}</h1><p>{texts.attack.lead}</p></header>
      <Section title={texts.attack.file} how={texts.attack.needs} wide>
        <form class="line" onSubmit={(event) => {
          event.preventDefault();
          void attack.run({external: file});
        }}>
          <input aria-label={texts.attack.file} value={file} placeholder="register.csv" onInput={(event) => setFile(event.currentTarget.value)} />
          <button type="submit" class="main" disabled={!file}>{texts.attack.run}</button>
        </form>
        {attack.job && <Progress job={attack.job} />}
        {attack.failure && <Problem failure={attack.failure} />}
        {found && (
          <>
            <p class="verdict"><strong class={found.holds ? "good" : "bad"}>{found.holds ? texts.attack.holds : texts.attack.fails}</strong> {texts.attack.links} <bdi>{found.links.join(", ")}</bdi></p>
            <div class="scroll" tabIndex={0} role="region" aria-label={texts.attack.title}>
              <table>
                <thead><tr><th scope="col">{n(found.people)} {texts.attack.people}</th>{found.before && <th scope="col">{texts.attack.before}</th>}<th scope="col">{texts.attack.after}</th></tr></thead>
                <tbody>
                  <tr><th scope="row">{texts.attack.one}</th>{found.before && <td>{n(found.before.unique)}</td>}<td>{n(found.after.unique)}</td></tr>
                  <tr><th scope="row">{texts.attack.below(found.k)}</th>{found.before && <td>{n(found.before.below_k)}</td>}<td>{n(found.after.below_k)}</td></tr>
                  <tr><th scope="row">{texts.attack.none}</th>{found.before && <td>{n(found.before.none)}</td>}<td>{n(found.after.none)}</td></tr>
                </tbody>
              </table>
            </div>
          </>
        )}
      </Section>
    </>
  );
}

function Verified({answer}: {answer: Verify}) {
  return (
    <div class={answer.verified ? "result good" : "result bad"} role="status">
      <p class="verdict"><strong>{answer.verified ? texts.publish.holds : answer.outcome}</strong></p>
      {answer.problems.map((one) => <p key={one}><bdi>{one}</bdi></p>)}
      {answer.undecided.map((one) => <p key={one}><bdi>{one}</bdi></p>)}
      <div class="scroll" tabIndex={0} role="region" aria-label={texts.publish.verify}>
        <table>
          <thead><tr><th scope="col">{texts.publish.promise}</th><th scope="col">{texts.publish.asked}</th><th scope="col">{texts.publish.reached}</th><th scope="col"></th></tr></thead>
          <tbody>{answer.models.map((one, at) => (
            <tr key={at}><th scope="row">{one.model} {one.attribute && <bdi>{one.attribute}</bdi>}</th><td>{one.bound} {figure(one.asked)}</td><td>{figure(one.reached)}</td><td>{one.holds ? texts.publish.holdsWord : texts.publish.failsWord}</td></tr>
          ))}</tbody>
        </table>
      </div>
    </div>
  );
}

export function Publish() {
  const store = useStore();
  const publish = useAction<Anonymize>("publish");
  const verify = useAction<Verify>("verify");
  const [output, setOutput] = useState(store.release.field("output"));
  useEffect(() => setOutput(store.release.field("output")), [store.session.revision]);
  const answer = publish.answer;
  const command = `kanon anonymize ${store.session.path}`;
  const inTheWay = publish.failure?.status !== undefined && publish.failure.message.includes("is there already");
  const report = (field: string, name: string) => (
    <label class="tick"><input type="checkbox" checked={store.release.field(field) !== ""}
      onChange={(event) => void store.edit((release) => release.setField(field, event.currentTarget.checked ? name : null))} /> {field === "report" ? texts.publish.report : texts.publish.publicReport}</label>
  );
  return (
    <>
      <header class="lead"><h1>{texts.publish.title}</h1><p>{texts.publish.lead}</p></header>
      <Section title={texts.publish.run} wide>
        <div class="line">
          <label>{texts.publish.output} <input value={output} onInput={(event) => setOutput(event.currentTarget.value)}
            onChange={(event) => void store.edit((release) => release.setField("output", event.currentTarget.value.trim()))} /></label>
        </div>
        <div class="ticks">{report("public-report", "public-report.html")}{report("report", "report.html")}</div>
        <div class="line">
          <button type="button" class="main" disabled={publish.job !== null} onClick={() => void publish.run({})}>{texts.publish.run}</button>
        </div>
        {publish.job && <Progress job={publish.job} />}
        {publish.failure && <Problem failure={publish.failure}>{inTheWay && <button type="button" onClick={() => void publish.run({replace: true})}>{texts.replaceIt}</button>}</Problem>}
        {answer && !answer.found && <div class="result bad" role="status"><p class="verdict"><strong>{texts.publish.none}</strong></p><p><bdi>{answer.reason}</bdi></p></div>}
        {answer?.found && (
          <div class="result good" role="status">
            <p class="verdict"><strong>{texts.publish.done}</strong></p>
            <dl class="figures">
              <Figure label={texts.publish.k} value={n(answer.k ?? 0)} {...(answer.k_before === undefined ? {} : {note: `${texts.solutions.before} ${n(answer.k_before)}`})} />
              {answer.rows !== undefined && <Figure label={texts.publish.rows} value={n(answer.rows)} />}
              {answer.suppressed !== undefined && <Figure label={store.session.shape === "table" ? texts.publish.suppressed : texts.publish.persons} value={n(answer.suppressed)} />}
              {answer.classes !== undefined && <Figure label={texts.publish.classes} value={n(answer.classes)} />}
            </dl>
            <div class="two">
              <div><h3>{texts.publish.give}</h3><ul class="files">{(answer.publish ?? []).map((one) => <li key={one}><bdi>{one}</bdi></li>)}</ul></div>
              <div><h3>{texts.publish.keep}</h3><ul class="files">{(answer.keep_private ?? []).map((one) => <li key={one}><bdi>{one}</bdi></li>)}</ul></div>
            </div>
            {answer.sha256 && <p class="how digest">{texts.publish.digest} <code>{answer.sha256}</code></p>}
            <Notes notes={answer.notes} />
          </div>
        )}
      </Section>
      <Section title={store.release.repeats() ? texts.publish.command : texts.publish.again} wide><Copy text={command} label={texts.publish.command} /></Section>
      {answer?.found && (
        <Section title={texts.publish.verify} wide>
          <button type="button" onClick={() => void verify.run()}>{texts.publish.verify}</button>
          {verify.job && <Progress job={verify.job} />}
          {verify.failure && <Problem failure={verify.failure} />}
          {verify.answer && <Verified answer={verify.answer} />}
        </Section>
      )}
    </>
  );
}
