// main.tsx: the page: steps from left to right, what is being worked on, and the release file beside it.
// SPDX-License-Identifier: Apache-2.0
import {render} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import type {Diagnose, DiagnoseDatabase, DiagnoseRecords, StudioFailure} from "./answers";
import {Attack} from "./attack";
import {Choose} from "./choose";
import {Data} from "./data";
import {Hierarchies} from "./hierarchies";
import {Copy, Problem} from "./parts";
import {Promises} from "./promises";
import {Publish} from "./publish";
import {Risk} from "./risk";
import {DatabaseRisk, RecordRisk} from "./risk-shapes";
import {DatabaseSolutions, RecordPromises, RecordSolutions} from "./shapes";
import {Solutions} from "./solutions";
import {Context, useAnswer, useLast, useSession, useStore} from "./store";
import "./style.css";
import {n, texts} from "./texts";

type Step = keyof typeof texts.steps;
const ALL: Step[] = ["data", "risk", "hierarchies", "promises", "solutions", "attack", "publish"];
const WITHOUT = ALL.filter((step) => step !== "hierarchies");
const OF_SHAPE: Record<string, Step[]> = {table: ALL, database: WITHOUT, records: WITHOUT};
const SCREENS: Record<Step, () => preact.JSX.Element> = {
  data: Data, risk: Risk, hierarchies: Hierarchies, promises: Promises, solutions: Solutions, attack: Attack, publish: Publish,
};

const OTHERS: Record<string, Partial<typeof SCREENS>> = {database: {risk: DatabaseRisk, solutions: DatabaseSolutions}, records: {risk: RecordRisk, promises: RecordPromises, solutions: RecordSolutions}};

/** What is known of k in a few words, and whether that is good. */
function said(shape: string, one: Diagnose | DiagnoseDatabase | DiagnoseRecords): {k: string; good: boolean; words: string} {
  if (shape === "records") {
    const {holds, k, m, n: pairs, unique_records, records} = one as DiagnoseRecords;
    return {k: `k ${holds ? "≥" : "<"} ${n(k)}`, good: holds, words: holds ? texts.k.records(k, m, pairs) : texts.k.found(unique_records, records)};
  }
  const {k, unique, all} = shape === "database" ? {k: (one as DiagnoseDatabase).k, unique: (one as DiagnoseDatabase).unique_persons, all: (one as DiagnoseDatabase).persons}
    : {k: (one as Diagnose).k, unique: (one as Diagnose).unique_rows, all: (one as Diagnose).rows};
  const unit = shape === "database" ? texts.k.persons : texts.k.rows;
  return {k: `k = ${n(k)}`, good: k > 1, words: k > 1 ? unit.crowd(k) : unit.alone(unique, all)};
}

/** The k of what others may know, wherever one is. */
function Meter() {
  const store = useStore();
  const shape = store.session.shape ?? "table";
  const some = shape !== "table" || store.release.quasi().length > 0;
  const found = useAnswer<Diagnose | DiagnoseDatabase | DiagnoseRecords>(some ? "diagnose" : null, {});
  if (!some) return <p class="meter" role="status">{texts.k.none}</p>;
  const one = found.answer && !found.failure ? said(shape, found.answer) : null;
  return (
    <p class={found.stale || store.busy ? "meter stale" : "meter"} role="status">
      {one ? <><small>{texts.k.original}</small> <strong class={one.good ? "good" : "bad"}>{one.k}</strong> <span>{one.words}</span></> : found.failure ? <bdi>{found.failure.message}</bdi> : <strong>k …</strong>}
    </p>
  );
}

function ReleaseFile() {
  const store = useStore();
  const [draft, setDraft] = useState<string | null>(null);
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const text = store.session.release ?? "";
  const command = `kanon anonymize ${store.session.path}`;
  const apply = () => void store.replace(draft!).then((problem) => {
    setFailure(problem);
    if (!problem) setDraft(null);
  });
  return (
    <aside class="release" aria-label={texts.release.title}>
      <details open>
        <summary><h2>{texts.release.title}</h2> <small class={store.busy ? "stale" : ""}><bdi>{store.session.path}</bdi>, {store.session.saved ? texts.release.is_saved : texts.release.unsaved}</small></summary>
        <p class="how">{store.release.repeats() ? texts.release.why : texts.release.whyKeys}</p>
        <Copy text={command} label={texts.release.command} />
        {draft === null ? (
          <>
            <pre class={store.busy ? "stale" : ""} tabIndex={0} role="region" aria-label={texts.release.label}><code>{text}</code></pre>
            <button type="button" class="quiet" onClick={() => setDraft(text)}>{texts.release.edit}</button>
          </>
        ) : (
          <>
            <textarea rows={24} spellcheck={false} aria-label={texts.release.label} value={draft} onInput={(event) => setDraft(event.currentTarget.value)} />
            {failure && <Problem failure={failure} />}
            <div class="line">
              <button type="button" class="main" onClick={apply}>{texts.release.apply}</button>
              <button type="button" class="quiet" onClick={() => {
                setDraft(null);
                setFailure(null);
              }}>{texts.release.give_up}</button>
            </div>
          </>
        )}
      </details>
    </aside>
  );
}

function Tools() {
  const store = useStore();
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const save = (replace: boolean) => void store.save(replace).then(setFailure);
  useEffect(() => {
    const key = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      const typing = event.target instanceof HTMLInputElement || event.target instanceof HTMLTextAreaElement;
      if (event.key === "s") save(false);
      else if (!typing && event.key === "z" && !event.shiftKey) void store.step("undo");
      else if (!typing && (event.key === "y" || (event.key === "Z" && event.shiftKey))) void store.step("redo");
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", key);
    return () => removeEventListener("keydown", key);
  });
  return (
    <>
      <div class="tools">
        <button type="button" class="quiet" disabled={store.session.undo === 0} onClick={() => void store.step("undo")}>{texts.undo}</button>
        <button type="button" class="quiet" disabled={store.session.redo === 0} onClick={() => void store.step("redo")}>{texts.redo}</button>
        <button type="button" disabled={store.session.saved} onClick={() => save(false)}>{store.session.saved ? texts.saved : texts.save}</button>
      </div>
      {failure && <Problem failure={failure}><button type="button" onClick={() => save(true)}>{texts.replaceIt}</button> <button type="button" class="quiet" onClick={() => setFailure(null)}>{texts.close}</button></Problem>}
    </>
  );
}

/** Which step is shown is kept beside the token, in the address: a reload shows the same. */
function useStep(steps: Step[]): [Step, (to: Step) => void] {
  const said = history.state as {step?: Step} | null;
  const [step, setStep] = useState<Step>(said?.step && steps.includes(said.step) ? said.step : "data");
  useEffect(() => {
    const back = (event: PopStateEvent) => setStep((event.state as {step?: Step} | null)?.step ?? "data");
    addEventListener("popstate", back);
    return () => removeEventListener("popstate", back);
  }, []);
  return [step, (to) => {
    history.pushState({step: to}, "");
    setStep(to);
    scrollTo(0, 0);
  }];
}

function Open() {
  const store = useStore();
  const steps = OF_SHAPE[store.session.shape ?? "table"]!;
  const [step, go] = useStep(steps);
  const main = useRef<HTMLElement>(null);
  const Screen = OTHERS[store.session.shape ?? "table"]?.[step] ?? SCREENS[step];
  const next = steps[steps.indexOf(step) + 1];
  useEffect(() => {
    document.title = `${texts.steps[step]} · ${texts.name}`;
  }, [step]);
  return (
    <>
      <header class="top">
        <a class="skip" href="#content" onClick={(event) => {
          event.preventDefault(); // the fragment is the token's place
          main.current?.focus();
        }}>{texts.skip}</a>
        <div class="bar">
          <p class="brand">kanon<small><bdi>{store.session.input ?? store.session.path}</bdi></small></p>
          <Meter />
          <Tools />
        </div>
        <nav aria-label={texts.stepsLabel}>
          <ol>{steps.map((one) => <li key={one}><button type="button" aria-current={one === step ? "step" : undefined} onClick={() => go(one)}>{texts.steps[one]}</button></li>)}</ol>
        </nav>
      </header>
      {store.lost && <div class="problem" role="alert"><p>{texts.lost}</p></div>}
      {store.notice && <div class="notice" role="status"><p>{store.notice}</p><button type="button" class="quiet" onClick={store.dismiss}>{texts.close}</button></div>}
      {store.failure && <Problem failure={store.failure}><button type="button" class="quiet" onClick={store.dismiss}>{texts.close}</button></Problem>}
      <div class="work">
        <main ref={main} id="content" tabIndex={-1}>
          <div class="cards"><Screen key={step} /></div>
          {next && <p class="onward"><button type="button" class="main" onClick={() => {
            go(next);
            main.current?.focus(); // the button is at the end of the screen that was left
          }}>{texts.next}: {texts.steps[next]}</button></p>}
        </main>
        <ReleaseFile />
      </div>
    </>
  );
}

/** The data are being read. */
function Opening() {
  const job = useLast("open");
  return <main class="alone"><h1>{texts.reading}</h1><p role="status">{job?.stage}</p></main>;
}

function Page() {
  const {store, refused} = useSession();
  if (refused) return <main class="alone"><h1>{texts.refused}</h1><p>{refused}</p><p>{texts.refusedHow}</p></main>;
  if (!store) return <main class="alone"><h1>{texts.name}</h1><p role="status">{texts.reading}</p></main>;
  if (store.session.choosing && !store.session.open) return <Context.Provider value={store}><Choose /></Context.Provider>;
  if (store.session.failure && !store.session.open)
    return <main class="alone"><h1>{texts.failed}</h1><Problem failure={{message: store.session.failure}} /></main>;
  if (!store.session.open) {
    return <Opening />;
  }
  return <Context.Provider value={store}><Open /></Context.Provider>;
}

render(<Page />, document.getElementById("page")!);
