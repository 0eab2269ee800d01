// hierarchies.tsx: how the values of a quasi-identifier get broader: by a rule, or by groups that are made by hand, dragged, typed or
// read from a file. What is not used yet is shown already.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import type {HierarchySuggest, StudioHierarchy} from "./answers";
import {Answer, Bars, Problem, Progress, Section} from "./parts";
import {parse} from "yaml";
import {useAction, useAnswer, useStore} from "./store";
import type {Asked} from "./store";
import {texts} from "./texts";
import {lines} from "./tree";
import type {Tree} from "./tree";
import {TreeEditor} from "./tree-editor";

type Kind = keyof typeof texts.hierarchies.kinds;
type Groups = {by: string; fan_out?: number};
/** What a column could have: a rule, the text of a file, or groups that are to be made of its values. */
interface Draft {kind: Kind; rule?: unknown; file?: string; groups?: Groups}
const PARTS = ["day", "month", "quarter", "year", "decade"];
const BY = ["order", "frequency", "prefix"] as const;

function kindOf(hierarchy: unknown): Kind {
  if (hierarchy === null || hierarchy === undefined) return "none";
  if (hierarchy === "suppress") return "suppress";
  if (typeof hierarchy === "string") return "file";
  const keys = Object.keys(hierarchy as object);
  return (["ranges", "mask", "calendar", "prefix"] as Kind[]).find((kind) => keys.includes(kind)) ?? "file";
}

/** A name for the file of a column that is plain on every system. */
const fileName = (column: string) => `${column.replace(/[^\p{L}\p{N}_-]+/gu, "-").replace(/^-+|-+$/g, "") || "column"}.dgh`;

function Branch({node}: {node: Tree & {leaves?: number}}) {
  const inner = node.children ?? [];
  const rows = node.rows !== undefined && <small>{texts.tree.rows(node.rows)}</small>;
  if (inner.length === 0) return <li><bdi>{node.label}</bdi> {rows}</li>;
  return (
    <li>
      <details open={inner.length < 30}>
        <summary><bdi>{node.label}</bdi> <small>{node.leaves !== undefined && `${texts.hierarchies.leaves(node.leaves)}, `}</small>{rows}</summary>
        <ul>{inner.map((child, at) => <Branch key={at} node={child} />)}</ul>
      </details>
    </li>
  );
}

/** Takes a text from a file of the user's, or gives one. */
function Files({name, tree, take}: {name: string; tree: Tree | undefined; take: (text: string) => void}) {
  const give = () => {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([lines(tree!)], {type: "text/csv"}));
    link.download = name.replace(/\.dgh$/, ".csv");
    link.click();
    URL.revokeObjectURL(link.href);
  };
  return (
    <div class="line">
      <label class="file">{texts.hierarchies.import} <input type="file" accept=".csv,.dgh,.txt" onChange={(event) => {
        const input = event.currentTarget;
        void input.files?.[0]?.text().then((text) => {
          input.value = "";
          take(text.replace(/^\uFEFF/, ""));
        });
      }} /></label>
      <button type="button" disabled={!tree} onClick={give}>{texts.hierarchies.export}</button>
    </div>
  );
}

function Preview({asked}: {asked: Asked<StudioHierarchy>}) {
  return (
    <Answer asked={asked.failure ? {...asked, failure: {...asked.failure, message: asked.failure.message.replace(/^memory:/, "")}} : asked}>
      {(found) => (
        <>
          <h3>{texts.hierarchies.levels}</h3>
          <Bars rows={found.levels.map((level, at) => ({label: String(at), value: level.labels}))} />
          {found.warnings.length > 0 ? (
            <ul class="notes lint">{found.warnings.map((one, at) => <li key={at}><bdi>{texts.hierarchies.ambiguous(one.label, one.level, one.other_level, one.line, one.other_line)}</bdi></li>)}</ul>
          ) : <p class="how lint">{texts.hierarchies.clean}{!found.balanced && ` ${texts.hierarchies.unbalanced}`}</p>}
          {found.tree && <div class="scroll tall" tabIndex={0} role="region" aria-label={texts.hierarchies.preview}><ul class="tree"><Branch node={found.tree} /></ul></div>}
          {!found.tree && found.levels.slice(1, -1).map((level, at) => level.some && (
            <div key={at}><h3>{texts.hierarchies.level(at + 1, level.labels)}</h3><ul class="chips">{level.some.map((label, which) => <li key={which}><bdi>{label.label}</bdi> <small>{texts.tree.rows(label.rows)}</small></li>)}</ul></div>
          ))}
        </>
      )}
    </Answer>
  );
}

/** Groups are suggested by the options that make them at the command line. */
const groupsOf = (build: string) => ({how: (/--groups (\w+)/.exec(build)?.[1] ?? "order") as (typeof BY)[number], fan: /--fan-out (\d+)/.exec(build)?.[1]});
const said = (build: string) => {
  const {how, fan} = groupsOf(build);
  return texts.hierarchies.grouped(texts.hierarchies.bys[how], fan === undefined ? null : Number(fan));
};

function Builder({column}: {column: string}) {
  const store = useStore();
  const hierarchy = store.release.column(column)?.hierarchy;
  const rule = (typeof hierarchy === "object" && hierarchy !== null ? hierarchy : {}) as Record<string, unknown>;
  const name = typeof hierarchy === "string" && hierarchy !== "suppress" ? hierarchy : String(rule["file"] ?? fileName(column));
  const text = store.session.files?.[name];
  const onDisk = kindOf(hierarchy) === "file" && text === undefined; // a file of the user's: it stays as it is
  const ours = onDisk ? fileName(`${column}-groups`) : name;
  const [kind, setKind] = useState<Kind>(kindOf(hierarchy));
  const [widths, setWidths] = useState("");
  const [parts, setParts] = useState<string[]>([]);
  const [side, setSide] = useState("right");
  const [separator, setSeparator] = useState(".");
  const [file, setFile] = useState("");
  const [by, setBy] = useState<string>("order");
  const [fanOut, setFanOut] = useState("4");
  useEffect(() => {
    setKind(kindOf(hierarchy));
    setWidths(Array.isArray(rule["ranges"]) ? rule["ranges"].join(", ") : "5, 10, 20");
    setParts(Array.isArray(rule["calendar"]) ? rule["calendar"].map(String) : ["month", "year"]);
    setSide(String(rule["mask"] ?? "right"));
    setSeparator(String(rule["prefix"] ?? "."));
    setFile(text ?? "");
  }, [column, store.session.revision]);
  const draft = ((): Draft => {
    switch (kind) {
      case "ranges": return {kind, rule: {ranges: widths.split(/[,;\s]+/).filter(Boolean).map(Number)}};
      case "mask": return {kind, rule: {mask: side}};
      case "calendar": return {kind, rule: {calendar: PARTS.filter((part) => parts.includes(part))}};
      case "prefix": return {kind, rule: {prefix: separator}};
      case "suppress": return {kind, rule: "suppress"};
      case "groups": return {kind, groups: {by, ...(by === "prefix" ? {} : {fan_out: Number(fanOut) || 4})}};
      case "file": return file.trim() ? {kind, file: file.endsWith("\n") ? file : `${file}\n`} : {kind};
      default: return {kind};
    }
  })();
  const {kind: _, ...question} = draft;
  const shown = useAnswer<StudioHierarchy>("hierarchy", {column, ...question});
  const suggested = useAction<HierarchySuggest>("suggest");
  const tree = shown.stale ? undefined : shown.answer?.tree;
  const useFile = (content: string) => void store.edit((release) => release.setHierarchy(column, ours), {[ours]: content});
  const use = () => {
    if (kind === "groups") return tree && useFile(lines(tree));
    if (kind === "file") return draft.file === undefined ? undefined : useFile(draft.file);
    void store.edit((release) => release.setHierarchy(column, draft.rule ?? null));
  };
  const takeBuild = (build: string) => {
    const {how, fan} = groupsOf(build);
    setKind("groups");
    setBy(how);
    if (fan) setFanOut(fan);
  };
  return (
    <>
      <Section title={texts.hierarchies.how}><div class="builder">
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
        {kind === "groups" && <>
          <label>{texts.hierarchies.by} <select value={by} onChange={(event) => setBy(event.currentTarget.value)}>{BY.map((one) => <option key={one} value={one}>{texts.hierarchies.bys[one]}</option>)}</select></label>
          {by !== "prefix" && <label>{texts.hierarchies.fanOut} <input type="number" min={2} max={1000} value={fanOut} onInput={(event) => setFanOut(event.currentTarget.value)} /></label>}
        </>}
        {kind === "file" && onDisk && <p class="how">{texts.hierarchies.onDisk(name, ours)}</p>}
        {kind === "file" && <label>{texts.hierarchies.file} <bdi>{ours}</bdi>
          <small class="how">{texts.hierarchies.groups}</small>
          <textarea rows={6} spellcheck={false} value={file} onInput={(event) => setFile(event.currentTarget.value)} /></label>}
        <button type="button" class="main" disabled={shown.failure !== null || (kind === "file" && draft.file === undefined)} onClick={use}>{texts.hierarchies.use}</button>
        <Files name={ours} tree={tree} take={(content) => {
          setKind("file");
          setFile(content);
        }} />
      </div></Section>
      <Section title={texts.hierarchies.preview}><Preview asked={shown} /></Section>
      <Section title={texts.tree.title} wide>
        {tree ? <TreeEditor key={column} tree={tree} change={(next) => useFile(lines(next))} /> : <p class="how">{texts.tree.tooLarge}</p>}
      </Section>
      <Section title={texts.hierarchies.suggestions} wide>
        <button type="button" disabled={suggested.working} onClick={() => void suggested.run({column})}>{texts.hierarchies.suggest}</button>
        {suggested.working && <Progress id={suggested.id} />}
        {suggested.failure && <Problem failure={suggested.failure} />}
        {suggested.answer && (
          <ul class="promises">
            {suggested.answer.suggestions.map((one, at) => (
              <li key={at} class="promise">
                {one.rule ? <code>{one.rule}</code> : <p>{said(one.build!)}</p>}
                <p class="how">{texts.hierarchies.loss(one.loss)}{one.counted && `; ${texts.hierarchies.counted}`}</p>
                <button type="button" aria-label={`${one.rule ? texts.hierarchies.take : texts.hierarchies.look}: ${one.rule ?? said(one.build!)}`} onClick={() => (one.rule ? void store.edit((release) => release.setHierarchy(column, parse(one.rule!))) : takeBuild(one.build!))}>{one.rule ? texts.hierarchies.take : texts.hierarchies.look}</button>
              </li>
            ))}
          </ul>
        )}
      </Section>
    </>
  );
}

export function Hierarchies() {
  const store = useStore();
  const quasi = store.release.quasi();
  const [chosen, setChosen] = useState("");
  const column = quasi.includes(chosen) ? chosen : (quasi[0] ?? "");
  if (!column) return <header class="lead"><h1>{texts.hierarchies.title}</h1><p>{texts.hierarchies.noQuasi}</p></header>;
  return (
    <>
      <header class="lead"><h1>{texts.hierarchies.title}</h1><p>{texts.hierarchies.lead}</p></header>
      <Section title={texts.hierarchies.column} wide>
        <div class="sets" role="group" aria-label={texts.hierarchies.column}>
          {quasi.map((name) => <button type="button" key={name} aria-pressed={name === column} onClick={() => setChosen(name)}><bdi>{name}</bdi></button>)}
        </div>
      </Section>
      <Builder key={column} column={column} />
    </>
  );
}
