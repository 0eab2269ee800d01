// publish.tsx: the release itself: made, verified, and what of it may be published.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {Anonymize, Verify} from "./answers";
import {Copy, Figure, Notes, Problem, Progress, Section} from "./parts";
import {useAction, useStore} from "./store";
import {figure, n, share, texts} from "./texts";

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
  const publish = useAction<Anonymize>("publish", true);
  const verify = useAction<Verify>("verify", true);
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
          <button type="button" class="main" disabled={publish.working} onClick={() => void publish.run({})}>{texts.publish.run}</button>
        </div>
        {publish.working && <Progress id={publish.id} />}
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
              {answer.items && <Figure label={texts.solutions.items(answer.items.column)} value={share(answer.items.kept, answer.items.items)} note={`k = ${n(answer.items.k)}, m = ${n(answer.items.m)}`} />}
            </dl>
            {store.session.folder && <p class="how">{texts.publish.folder} <bdi>{store.session.folder}</bdi></p>}
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
          {verify.working && <Progress id={verify.id} />}
          {verify.failure && <Problem failure={verify.failure} />}
          {verify.answer && <Verified answer={verify.answer} />}
        </Section>
      )}
    </>
  );
}
