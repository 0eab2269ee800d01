// hierarchies.tsx: how the values of a quasi-identifier get broader: by a rule, or by groups that are written by hand.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {HierarchyShow, HierarchySuggest} from "./answers";
import {Answer, Bars, Problem, Section} from "./parts";
import {parse} from "yaml";
import {useAction, useAnswer, useStore} from "./store";
import {texts} from "./texts";

type Kind = keyof typeof texts.hierarchies.kinds;
const PARTS = ["day", "month", "quarter", "year", "decade"];
interface Tree {label: string; leaves?: number; children?: Tree[]}

function kindOf(hierarchy: unknown): Kind {
  if (hierarchy === null || hierarchy === undefined) return "none";
  if (hierarchy === "suppress") return "suppress";
  if (typeof hierarchy === "string") return "file";
  const keys = Object.keys(hierarchy as object);
  return (["ranges", "mask", "calendar", "prefix"] as Kind[]).find((kind) => keys.includes(kind)) ?? "file";
}

/** A name for the file of a column that is plain on every system. */
const fileName = (column: string) => `${column.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || "column"}.dgh`;

function Branch({node}: {node: Tree}) {
  const inner = node.children ?? [];
  if (inner.length === 0) return <li><bdi>{node.label}</bdi></li>;
  return (
    <li>
      <details open={inner.length < 30}>
        <summary><bdi>{node.label}</bdi> <small>{node.leaves !== undefined && texts.hierarchies.leaves(node.leaves)}</small></summary>
        <ul>{inner.map((child, at) => <Branch key={at} node={child} />)}</ul>
      </details>
    </li>
  );
}

function Builder({column}: {column: string}) {
  const store = useStore();
  const hierarchy = store.release.column(column)?.hierarchy;
  const rule = (typeof hierarchy === "object" && hierarchy !== null ? hierarchy : {}) as Record<string, unknown>;
  const name = typeof hierarchy === "string" && hierarchy !== "suppress" ? hierarchy : String(rule["file"] ?? fileName(column));
  const text = store.session.files?.[name];
  const [kind, setKind] = useState<Kind>(kindOf(hierarchy));
  const [widths, setWidths] = useState("");
  const [parts, setParts] = useState<string[]>([]);
  const [side, setSide] = useState("right");
  const [separator, setSeparator] = useState(".");
  const [groups, setGroups] = useState("");
  useEffect(() => {
    setKind(kindOf(hierarchy));
    setWidths(Array.isArray(rule["ranges"]) ? rule["ranges"].join(", ") : "5, 10, 20");
    setParts(Array.isArray(rule["calendar"]) ? rule["calendar"].map(String) : ["month", "year"]);
    setSide(String(rule["mask"] ?? "right"));
    setSeparator(String(rule["prefix"] ?? "."));
    setGroups(text ?? "");
  }, [column, store.session.revision]);
  const use = () => void store.edit((release) => release.setHierarchy(column, {
    none: null,
    suppress: "suppress",
    ranges: {ranges: widths.split(/[,;\s]+/).filter(Boolean).map(Number)},
    mask: {mask: side},
    calendar: {calendar: PARTS.filter((part) => parts.includes(part))},
    prefix: {prefix: separator},
    file: name,
  }[kind]), kind === "file" && groups.trim() ? {[name]: groups.endsWith("\n") ? groups : `${groups}\n`} : {});
  return (
    <div class="builder">
      <label>{texts.hierarchies.how} <select value={kind} onChange={(event) => setKind(event.currentTarget.value as Kind)}>
        {Object.entries(texts.hierarchies.kinds).map(([one, words]) => <option key={one} value={one}>{words}</option>)}
      </select></label>
      {kind === "ranges" && <label>{texts.hierarchies.widths} <input value={widths} onInput={(event) => setWidths(event.currentTarget.value)} /></label>}
      {kind === "mask" && <label>{texts.hierarchies.side} <select value={side} onChange={(event) => setSide(event.currentTarget.value)}>
        <option value="right">{texts.hierarchies.right}</option><option value="left">{texts.hierarchies.left}</option></select></label>}
      {kind === "calendar" && <fieldset><legend>{texts.hierarchies.parts}</legend>{PARTS.map((part) => (
        <label key={part} class="tick"><input type="checkbox" checked={parts.includes(part)}
          onChange={() => setParts(parts.includes(part) ? parts.filter((one) => one !== part) : [...parts, part])} /> {part}</label>))}</fieldset>}
      {kind === "prefix" && <label>{texts.hierarchies.separator} <input value={separator} maxLength={4} onInput={(event) => setSeparator(event.currentTarget.value)} /></label>}
      {kind === "file" && <label>{texts.hierarchies.file} <bdi>{name}</bdi>
        {(text !== undefined || hierarchy === null) && <>
          <small class="how">{texts.hierarchies.groups}</small>
          <textarea rows={10} spellcheck={false} value={groups} onInput={(event) => setGroups(event.currentTarget.value)} /></>}</label>}
      <button type="button" class="main" onClick={use}>{texts.hierarchies.use}</button>
    </div>
  );
}

export function Hierarchies() {
  const store = useStore();
  const quasi = store.release.quasi();
  const [chosen, setChosen] = useState("");
  const column = quasi.includes(chosen) ? chosen : (quasi[0] ?? "");
  const has = column !== "" && store.release.column(column)?.hierarchy !== null;
  const shown = useAnswer<HierarchyShow>(has ? "hierarchy" : null, {column});
  const suggested = useAction<HierarchySuggest>("suggest");
  if (!column) return <header class="lead"><h1>{texts.hierarchies.title}</h1><p>{texts.hierarchies.noQuasi}</p></header>;
  return (
    <>
      <header class="lead"><h1>{texts.hierarchies.title}</h1><p>{texts.hierarchies.lead}</p></header>
      <Section title={texts.hierarchies.column}>
        <div class="sets" role="group" aria-label={texts.hierarchies.column}>
          {quasi.map((name) => <button type="button" key={name} aria-pressed={name === column} onClick={() => setChosen(name)}><bdi>{name}</bdi></button>)}
        </div>
        <Builder key={column} column={column} />
      </Section>
      <Section title={texts.hierarchies.preview}>
        {has ? (
          <Answer asked={shown}>
            {(found) => (
              <>
                <h3>{texts.hierarchies.levels}</h3>
                <Bars rows={found.level_sizes.map((size, level) => ({label: String(level), value: size}))} />
                {found.tree && <div class="scroll tall" tabIndex={0} role="region" aria-label={texts.hierarchies.preview}><ul class="tree"><Branch node={found.tree as Tree} /></ul></div>}
                {found.labels && <ul class="chips">{found.labels.slice(0, 60).map((label, at) => <li key={at}><bdi>{label.label}</bdi> <small>{texts.hierarchies.leaves(label.leaves)}</small></li>)}</ul>}
              </>
            )}
          </Answer>
        ) : <p class="how">{texts.hierarchies.none}</p>}
      </Section>
      <Section title={texts.hierarchies.suggestions} wide>
        <button type="button" onClick={() => void suggested.run({column})}>{texts.hierarchies.suggest}</button>
        {suggested.failure && <Problem failure={suggested.failure} />}
        {(suggested.job || suggested.answer) && suggested.answer?.column !== undefined && suggested.answer.column !== column ? null : (suggested.job || suggested.answer) && (
          <Answer asked={suggested}>
            {(found) => (
              <ul class="promises">
                {found.suggestions.map((one, at) => (
                  <li key={at} class="promise">
                    <code>{one.rule ?? one.build}</code>
                    <p class="how">{texts.hierarchies.loss(one.loss)}{one.counted && `; ${texts.hierarchies.counted}`}</p>
                    {one.rule && <button type="button" onClick={() => void store.edit((release) => release.setHierarchy(column, parse(one.rule!)))}>{texts.hierarchies.take}</button>}
                  </li>
                ))}
              </ul>
            )}
          </Answer>
        )}
      </Section>
    </>
  );
}
