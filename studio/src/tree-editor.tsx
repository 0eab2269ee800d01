// tree-editor.tsx: groups of values, made by dragging or by the keyboard. Every step is an edit of the release file, so that it can be
// undone like any other.
// SPDX-License-Identifier: Apache-2.0
import {useEffect, useState} from "preact/hooks";
import {texts} from "./texts";
import * as trees from "./tree";
import type {Path, Tree} from "./tree";

interface Editing {
  ticked: Set<string>;
  tick(key: string): void;
  drop(from: Path, to: Path): void;
  rename(path: Path, label: string): void;
  dissolve(path: Path): void;
}

function Name({node, path, editing}: {node: Tree; path: Path; editing: Editing}) {
  const [text, setText] = useState(node.label);
  useEffect(() => setText(node.label), [node.label]);
  return <input class="name" aria-label={texts.tree.nameOf(node.label)} value={text} onInput={(event) => setText(event.currentTarget.value)}
    onChange={() => (text.trim() && text !== node.label ? editing.rename(path, text.trim()) : setText(node.label))} />;
}

function Branch({node, path, editing}: {node: Tree; path: Path; editing: Editing}) {
  const [over, setOver] = useState(false);
  const key = trees.keyOf(path);
  const isGroup = node.children !== undefined;
  const root = path.length === 0;
  const drag = root ? {} : {
    draggable: true,
    onDragStart: (event: DragEvent) => {
      event.stopPropagation();
      event.dataTransfer!.setData("text/plain", key);
      event.dataTransfer!.effectAllowed = "move";
    },
  };
  const target = isGroup ? {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      event.stopPropagation();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: (event: DragEvent) => {
      event.preventDefault();
      event.stopPropagation();
      setOver(false);
      const from = event.dataTransfer!.getData("text/plain");
      if (/^\d+(\.\d+)*$/.test(from)) editing.drop(trees.pathOf(from), path);
    },
  } : {};
  const words = <small>{isGroup && `${texts.hierarchies.leaves(trees.leaves(node))}, `}{texts.tree.rows(trees.rowsOf(node))}</small>;
  return (
    <li {...drag} {...target} class={over ? "over" : ""}>
      <div class="branch">
        {!root && <input type="checkbox" aria-label={texts.tree.tick(node.label)} checked={editing.ticked.has(key)} onChange={() => editing.tick(key)} />}
        {isGroup && !root ? <Name node={node} path={path} editing={editing} /> : <bdi>{node.label}</bdi>}
        {words}
        {isGroup && !root && <button type="button" class="quiet" aria-label={texts.tree.dissolveOf(node.label)} onClick={() => editing.dissolve(path)}>{texts.tree.dissolve}</button>}
      </div>
      {isGroup && <ul>{node.children!.map((child, index) => <Branch key={`${child.label}\u0000${index}`} node={child} path={[...path, index]} editing={editing} />)}</ul>}
    </li>
  );
}

export function TreeEditor({tree, change}: {tree: Tree; change: (tree: Tree) => void}) {
  const [ticked, setTicked] = useState<Set<string>>(new Set());
  const [label, setLabel] = useState("");
  const [to, setTo] = useState("");
  const [said, setSaid] = useState("");
  const all = trees.groups(tree);
  const paths = [...ticked].map(trees.pathOf).sort((a, b) => trees.keyOf(a).localeCompare(trees.keyOf(b), "en", {numeric: true}));
  const taken = all.some((one) => one.label === label.trim()) || label.trim() === "*";
  const apply = (next: Tree, words: string) => {
    setTicked(new Set());
    setSaid(words);
    change(next);
  };
  const moveTo = (from: Path[], target: Path) => {
    if (from.some((one) => trees.inside(target, one))) return setSaid(texts.tree.intoItself);
    apply(trees.move(tree, from, target), texts.tree.moved(from.length, trees.at(tree, target).label));
  };
  const editing: Editing = {
    ticked,
    tick: (key) => setTicked((before) => {
      const after = new Set(before);
      if (!after.delete(key)) after.add(key);
      return after;
    }),
    drop: (from, target) => moveTo(ticked.has(trees.keyOf(from)) ? paths : [from], target),
    rename: (path, name) => apply(trees.rename(tree, path, name), texts.tree.renamed(name)),
    dissolve: (path) => apply(trees.dissolve(tree, path), texts.tree.dissolved(trees.at(tree, path).label)),
  };
  return (
    <div class="editor">
      <p class="how">{texts.tree.how}</p>
      <form class="line" onSubmit={(event) => {
        event.preventDefault();
        if (paths.length === 0 || !label.trim() || taken) return;
        apply(trees.group(tree, paths, label.trim()), texts.tree.grouped(paths.length, label.trim()));
        setLabel("");
      }}>
        <input aria-label={texts.tree.name} placeholder={texts.tree.name} value={label} onInput={(event) => setLabel(event.currentTarget.value)} />
        <button type="submit" disabled={paths.length === 0 || !label.trim() || taken}>{texts.tree.make}</button>
      </form>
      <div class="line">
        <select aria-label={texts.tree.target} value={to} onChange={(event) => setTo(event.currentTarget.value)}>
          {all.map((one) => <option key={trees.keyOf(one.path)} value={trees.keyOf(one.path)}>{`${"  ".repeat(one.depth)}${one.label}`}</option>)}
        </select>
        <button type="button" disabled={paths.length === 0} onClick={() => moveTo(paths, to === "" ? [] : trees.pathOf(to))}>{texts.tree.move}</button>
      </div>
      <p class="how" role="status">{said || texts.tree.ticked(paths.length)}</p>
      <div class="scroll tall"><ul class="tree edited"><Branch node={tree} path={[]} editing={editing} /></ul></div>
    </div>
  );
}
