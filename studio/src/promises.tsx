// promises.tsx: what is promised, and what a larger k would cost, as a plot whose points can be taken.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {DiagnoseDatabase, Frontier, Profile} from "./answers";
import {OwnCrowd, OwnValues} from "./own";
import {Answer, Number_, Section} from "./parts";
import type {Promised} from "./release";
import {useAnswer, useStore} from "./store";
import {figure, n, texts} from "./texts";

/** The threshold of each model, and what it begins with. */
const MODELS: Record<string, {key: string | null; start: number; min: number; step: number; about: boolean}> = {
  "l-diversity": {key: "l", start: 2, min: 2, step: 1, about: true},
  "t-closeness": {key: "t", start: 0.3, min: 0.01, step: 0.05, about: true},
  "alpha-k": {key: "alpha", start: 0.5, min: 0.01, step: 0.05, about: true},
  "beta-likeness": {key: "beta", start: 1, min: 0.1, step: 0.1, about: true},
  "delta-disclosure": {key: "delta", start: 1, min: 0.1, step: 0.1, about: true},
  "max-risk": {key: null, start: 0.2, min: 0.01, step: 0.05, about: false},
};

/** The kinds of these models that the words for them are about. */
const PLAIN: unknown[] = [undefined, "distinct", "basic", "equal"];

/** What is promised about the items of sets: how many somebody may know, and among how many rows they leave a person. */
function OfSets({at, one}: {at: number; one: Promised}) {
  const store = useStore();
  const {k = 5, m = 2} = (one.value ?? {}) as {k?: number; m?: number};
  const change = (next: {k?: number; m?: number}) => void store.edit((release) => release.setPromise(at, "k-mn", {k, m, n: 0, ...next}));
  return (
    <li class="promise">
      <h3>k-mn <small>{texts.promises.of}</small> <bdi>{store.release.set()?.name}</bdi></h3>
      <p class="how">{texts.promises.about["k-mn"]}</p>
      <div class="line">
        <label>k <Number_ label={texts.promises.sets.k} value={k} min={2} step={1} change={(value) => change({k: Math.round(value)})} /></label>
        <label>m <Number_ label={texts.promises.sets.m} value={m} min={1} step={1} change={(value) => change({m: Math.round(value)})} /></label>
      </div>
    </li>
  );
}

function Promise_({at, one, most}: {at: number; one: Promised; most: ReturnType<typeof useMost>}) {
  const store = useStore();
  const model = MODELS[one.model];
  const value = one.value as Record<string, unknown> | number | null;
  const parameters = typeof value === "object" && value !== null ? value : {};
  const threshold = model ? Number(model.key === null ? value : parameters[model.key]) : NaN;
  const about = typeof parameters["attribute"] === "string" ? parameters["attribute"] : store.release.sensitive()[0];
  const values = about === undefined ? null : most.values(about);
  const beyond = one.model === "l-diversity" && about !== undefined && values !== null && threshold > values ? texts.promises.tooDiverse(about, threshold, values)
    : one.model === "max-risk" && most.all !== null && threshold > 0 && threshold * most.all < 1 ? texts.promises.tooSafe(threshold, most.all, store.session.shape === "table") : null;
  return (
    <li class="promise">
      <h3>{one.model}{typeof parameters["attribute"] === "string" && <> <small>{texts.promises.of}</small> <bdi>{parameters["attribute"]}</bdi></>}</h3>
      <p class="how">{texts.promises.about[one.model] ?? texts.promises.more}</p>
      {model?.about && about && PLAIN.includes(parameters["kind"] ?? parameters["distance"]) && <OwnValues model={one.model} about={about} threshold={threshold} />}
      {one.model === "max-risk" && threshold > 0 && <OwnCrowd k={Math.max(2, Math.ceil(1 / threshold - 1e-9))} />}
      <div class="line">
        {model && Number.isFinite(threshold) && (
          <label>{model.key ?? texts.promises.risk} <Number_ label={texts.promises.strictness(one.model)} value={threshold} min={model.min} step={model.step}
            change={(next) => void store.edit((release) => release.setPromise(at, one.model, model.key === null ? next : {...parameters, [model.key]: next}))} /></label>
        )}
        <button type="button" class="quiet" onClick={() => void store.edit((release) => release.removePromise(at))}>{texts.promises.remove(one.model)}</button>
      </div>
      {beyond && <p class="problem" role="alert">{beyond}</p>}
    </li>
  );
}

function Plot({frontier}: {frontier: Frontier}) {
  const store = useStore();
  const [W, H, left, bottom] = [640, 300, 48, 44];
  const points = frontier.points.filter((one) => one.loss !== null);
  if (points.length === 0) return <p class="how">{texts.promises.noPoints}</p>;
  const kMost = Math.log(Math.max(...points.map((one) => one.k), 3));
  const kLeast = Math.log(Math.max(1, Math.min(...points.map((one) => one.k)) * 0.9));
  const lossMost = Math.max(...points.map((one) => one.loss!), 0.01) * 1.05;
  const x = (k: number) => left + ((Math.log(k) - kLeast) / Math.max(0.01, kMost - kLeast)) * (W - left - 24);
  const y = (loss: number) => H - bottom - (loss / lossMost) * (H - bottom - 16);
  const present = JSON.stringify(store.release.levels());
  const choose = (point: Frontier["points"][number]) => void store.edit((release) => {
    release.setK(point.k);
    release.setLevels(point.node.map((level) => level ?? 0));
  });
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={texts.promises.frontier}>
      <svg class="plot" viewBox={`0 0 ${W} ${H}`} role="group" aria-label={texts.promises.frontier}>
        {[0, 0.25, 0.5, 0.75, 1].filter((tick) => tick <= lossMost).map((tick) => (
          <g key={tick} aria-hidden="true"><line x1={left} x2={W - 8} y1={y(tick)} y2={y(tick)} /><text x={left - 8} y={y(tick) + 4} text-anchor="end">{tick}</text></g>
        ))}
        {frontier.ks.filter((k, at, all) => points.some((one) => one.k === k) && (all.length < 12 || at % 2 === 0)).map((k) => (
          <text key={k} aria-hidden="true" x={x(k)} y={H - bottom + 20} text-anchor="middle">{n(k)}</text>
        ))}
        <text aria-hidden="true" x={(W + left) / 2} y={H - 4} text-anchor="middle">{texts.promises.axisK}</text>
        <text aria-hidden="true" x={left} y={10} text-anchor="start">{texts.promises.axisLoss}</text>
        {points.slice(0, 150).map((point, at) => {
          const words = texts.promises.point(point.k, figure(point.loss), point.suppressed);
          const taken = present === JSON.stringify(point.node) && store.release.k() === point.k;
          return (
            <circle key={at} cx={x(point.k)} cy={y(point.loss!)} r={taken ? 9 : 6} tabindex={0} role="button" aria-label={words} aria-pressed={taken}
              class={taken ? "taken" : ""} style={{fillOpacity: String(1 - 0.7 * (frontier.budget > 0 ? point.suppressed / frontier.budget : 0))}}
              onClick={() => choose(point)} onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), choose(point))}>
              <title>{words}</title>
            </circle>
          );
        })}
      </svg>
    </div>
  );
}

/** How many a crowd can have at most, and how many values a column has: a promise beyond that cannot be kept. */
function useMost(): {all: number | null; values: (column: string) => number | null} {
  const store = useStore();
  const shape = store.session.shape;
  const types = JSON.stringify(store.session.files ?? {}).length; // as on Data: roles do not matter
  const profile = useAnswer<Profile>(shape === "table" ? "profile" : null, {}, types).answer;
  const persons = useAnswer<DiagnoseDatabase>(shape === "database" ? "diagnose" : null, {}).answer?.persons;
  return {all: profile?.rows ?? persons ?? null, values: (column) => profile?.columns.find((one) => one.name === column)?.distinct ?? null};
}

export function Promises() {
  const store = useStore();
  const most = useMost();
  const release = store.release;
  const promises = release.promises();
  const sensitive = release.sensitive();
  const k = release.k();
  const table = store.session.shape === "table";
  const frontier = useAnswer<Frontier>(table && k !== null && release.quasi().length > 0 ? "frontier" : null, {});
  const [model, setModel] = useState("l-diversity");
  const [about, setAbout] = useState("");
  const column = sensitive.includes(about) ? about : (sensitive[0] ?? "");
  const [budget, setBudget] = useState(release.field("suppression"));
  useEffect(() => setBudget(release.field("suppression")), [store.session.revision]);
  const add = () => void store.edit((draft) => {
    const rule = MODELS[model]!;
    draft.setPromise(promises.length, model, rule.key === null ? rule.start : {...(rule.about ? {attribute: column} : {}), [rule.key]: rule.start});
  });
  return (
    <>
      <header class="lead"><h1>{texts.promises.title}</h1><p>{texts.promises.lead}</p></header>
      <Section title={texts.promises.k}>
        <div class="line">
          <button type="button" aria-label="k − 1" disabled={(k ?? 2) <= 2} onClick={() => void store.edit((draft) => draft.setK((k ?? 2) - 1))}>−</button>
          <Number_ label="k" value={k ?? 2} min={2} step={1} change={(value) => void store.edit((draft) => draft.setK(Math.round(value)))} />
          <button type="button" aria-label="k + 1" onClick={() => void store.edit((draft) => draft.setK((k ?? 1) + 1))}>+</button>
        </div>
        {most.all !== null && (k ?? 2) > most.all && <p class="problem" role="alert">{texts.promises.tooMany(k ?? 2, most.all, table)}</p>}
        <p class="how">{(table ? texts.promises.kHow : texts.promises.kPersons)(k ?? 2)}</p>
        <OwnCrowd k={k ?? 2} />
      </Section>
      <Section title={texts.promises.suppression}>
        <input aria-label={texts.promises.suppression} value={budget} onInput={(event) => setBudget(event.currentTarget.value)}
          onChange={(event) => void store.edit((draft) => draft.setField("suppression", event.currentTarget.value.trim()))} />
        <p class="how">{texts.promises.suppressionHow}</p>
      </Section>
      <Section title={texts.steps.promises} wide>
        <ul class="promises">{promises.map((one, at) => one.model === "k-mn" ? <OfSets key={at} at={at} one={one} /> : one.model !== "k" && <Promise_ key={at} at={at} one={one} most={most} />)}</ul>
        <div class="line">
          <select aria-label={texts.promises.add} value={model} onChange={(event) => setModel(event.currentTarget.value)}>
            {Object.keys(MODELS).map((name) => <option key={name} value={name}>{texts.promises.models[name]}</option>)}
          </select>
          {MODELS[model]!.about && sensitive.length > 0 && (
            <select aria-label={texts.promises.of} value={column} onChange={(event) => setAbout(event.currentTarget.value)}>
              {sensitive.map((name) => <option key={name} value={name}>{name}</option>)}
            </select>
          )}
          <button type="button" disabled={MODELS[model]!.about && !column} onClick={add}>{texts.promises.add}</button>
        </div>
        <p class="how">{MODELS[model]!.about && !column ? texts.promises.needsSensitive : texts.promises.about[model]}</p>
        {MODELS[model]!.about && column && !promises.some((one) => one.model === model) && <OwnValues model={model} about={column} threshold={MODELS[model]!.start} />}
      </Section>
      {table && release.quasi().length > 0 && (
        <Section title={texts.promises.frontier} how={texts.promises.frontierHow} wide>
          <Answer asked={frontier}>{(found) => <Plot frontier={found} />}</Answer>
          {release.levels() && <button type="button" class="quiet" onClick={() => void store.edit((draft) => draft.setLevels(null))}>{texts.promises.free}</button>}
        </Section>
      )}
    </>
  );
}
