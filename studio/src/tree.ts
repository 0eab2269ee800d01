// tree.ts: a hierarchy as a tree that is edited by hand, and as the lines of a file (value;group;…;root, ARX's form).
// SPDX-License-Identifier: Apache-2.0

export interface Tree {
  label: string;
  rows?: number;
  /** none: it is a value */
  children?: Tree[];
}

/** A place in a tree: which child, of which child … of the root. */
export type Path = number[];
export const keyOf = (path: Path): string => path.join(".");
export const pathOf = (key: string): Path => key.split(".").map(Number);

const quoted = (text: string): string => (/[;"\r\n\t|,]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** One line for each value. */
export function lines(tree: Tree): string {
  const out: string[] = [];
  const walk = (node: Tree, above: string[]) => {
    if (!node.children) out.push([node.label, ...above].map(quoted).join(";"));
    else for (const child of node.children) walk(child, [node.label, ...above]);
  };
  walk(tree, []);
  return out.join("\n") + "\n";
}

export function at(tree: Tree, path: Path): Tree {
  return path.reduce((node, index) => node.children![index]!, tree);
}

export const inside = (path: Path, outer: Path): boolean => outer.every((index, depth) => path[depth] === index);

/** Groups without a value have no place in a file. */
function tidy(node: Tree): Tree {
  return node.children ? {...node, children: node.children.map(tidy).filter((child) => !child.children || child.children.length > 0)} : node;
}

/** A copy without the nodes at these places, and these nodes. Of a node and one inside it, the outer is taken. */
function without(tree: Tree, paths: Path[]): {rest: Tree; taken: Tree[]} {
  const outer = paths.filter((one) => !paths.some((other) => other.length < one.length && inside(one, other)));
  const keys = new Set(outer.map(keyOf));
  const cut = (node: Tree, path: Path): Tree =>
    node.children ? {...node, children: node.children.map((child, index) => cut(child, [...path, index])).filter((_, index) => !keys.has(keyOf([...path, index])))} : node;
  return {rest: cut(tree, []), taken: outer.map((path) => at(tree, path))};
}

/** Puts nodes into the group at `to`, which is not inside any of them. */
export function move(tree: Tree, paths: Path[], to: Path): Tree {
  const target = at(tree, to);
  const {taken} = without(tree, paths);
  const keys = new Set(paths.map(keyOf));
  const put = (node: Tree, path: Path): Tree => {
    if (!node.children) return node;
    const left = node.children.map((child, index) => put(child, [...path, index])).filter((_, index) => !keys.has(keyOf([...path, index])));
    return {...node, children: node === target ? [...left, ...taken] : left};
  };
  return tidy(put(tree, []));
}

/** Makes one group of nodes, where the first of them is. */
export function group(tree: Tree, paths: Path[], label: string): Tree {
  const parent = at(tree, paths[0]!.slice(0, -1));
  const {taken} = without(tree, paths);
  const keys = new Set(paths.map(keyOf));
  const put = (node: Tree, path: Path): Tree => {
    if (!node.children) return node;
    const left = node.children.map((child, index) => put(child, [...path, index])).filter((_, index) => !keys.has(keyOf([...path, index])));
    return {...node, children: node === parent ? [...left, {label, children: taken}] : left};
  };
  return tidy(put(tree, []));
}

export function rename(tree: Tree, path: Path, label: string): Tree {
  if (path.length === 0) return {...tree, label};
  return {...tree, children: tree.children!.map((child, index) => (index === path[0] ? rename(child, path.slice(1), label) : child))};
}

/** What is in a group goes to the group around it. */
export function dissolve(tree: Tree, path: Path): Tree {
  const [first, ...more] = path;
  return {...tree, children: tree.children!.flatMap((child, index) => (index !== first ? [child] : more.length === 0 ? (child.children ?? [child]) : [dissolve(child, more)]))};
}

/** All groups with their places, the root first. */
export function groups(tree: Tree, path: Path = [], depth = 0): Array<{path: Path; label: string; depth: number}> {
  if (!tree.children) return [];
  return [{path, label: tree.label, depth}, ...tree.children.flatMap((child, index) => groups(child, [...path, index], depth + 1))];
}

/** The values below a node, and how many rows have them. */
export const leaves = (tree: Tree): number => (tree.children ? tree.children.reduce((sum, child) => sum + leaves(child), 0) : 1);
export const rowsOf = (tree: Tree): number => (tree.children ? tree.children.reduce((sum, child) => sum + rowsOf(child), 0) : (tree.rows ?? 0));
