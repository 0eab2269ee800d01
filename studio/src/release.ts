// release.ts: the release file as a text that is edited in place: comments and order stay as they are.
// SPDX-License-Identifier: Apache-2.0
import {Document, isMap, isScalar, isSeq, parseDocument, YAMLMap} from "yaml";

export type Role = "identifier" | "quasi" | "sensitive" | "keep" | "set" | "weight" | "count";
export type Promised = {model: string; value: unknown};

export interface Column {
  name: string;
  role: Role | null;
  hierarchy: unknown;
}

const flow = {lineWidth: 0, flowCollectionPadding: false} as const;

export class Release {
  private readonly doc: Document;
  /** the promises that went with a column's role */
  readonly removed: string[] = [];

  constructor(text: string) {
    this.doc = parseDocument(text, {keepSourceTokens: false, uniqueKeys: false});
  }

  text(): string {
    return this.doc.toString(flow);
  }

  /** The columns' descriptions: of the table, or of one table of a database. */
  private attributes(table?: string): YAMLMap | null {
    const node = table === undefined ? this.doc.get("attributes") : this.doc.getIn(["tables", table, "attributes"]);
    return isMap(node) ? node : null;
  }

  columns(table?: string): Column[] {
    return (this.attributes(table)?.items ?? []).map((pair) => {
      const name = String(isScalar(pair.key) ? (pair.key.source ?? pair.key.value) : pair.key);
      if (isMap(pair.value)) {
        const hierarchy = pair.value.get("hierarchy", true) as {toJSON?: () => unknown} | undefined;
        return {name, role: (pair.value.get("role") as Role) ?? null, hierarchy: hierarchy?.toJSON?.() ?? null};
      }
      return {name, role: isScalar(pair.value) ? (pair.value.value as Role) : null, hierarchy: null};
    });
  }

  column(name: string, table?: string): Column | undefined {
    return this.columns(table).find((one) => one.name === name);
  }

  /** Of records: the classes, as they nest. */
  classes(): Array<{name: string; sensitive: boolean; words: string}> {
    const node = this.doc.get("classes");
    if (!isMap(node)) return [];
    return node.items.map((pair) => ({
      name: String(isScalar(pair.key) ? (pair.key.source ?? pair.key.value) : pair.key),
      sensitive: isMap(pair.value) && pair.value.get("role") === "sensitive",
      words: isMap(pair.value) ? pair.value.items.map((one) => `${String(one.key)}: ${JSON.stringify((one.value as {toJSON(): unknown}).toJSON())}`).join(", ") : "",
    }));
  }

  setSensitive(name: string, sensitive: boolean): void {
    if (!sensitive) this.doc.deleteIn(["classes", name, "role"]);
    else this.doc.setIn(["classes", name, "role"], "sensitive");
    const map = this.doc.getIn(["classes", name], true);
    if (isMap(map)) map.comment = null;
  }

  quasi(): string[] {
    return this.columns().filter((one) => one.role === "quasi").map((one) => one.name);
  }

  /** Of a database as "TABLE.COLUMN". */
  sensitive(): string[] {
    const tables = this.doc.get("tables");
    if (isMap(tables))
      return tables.items.flatMap((pair) => {
        const table = String(isScalar(pair.key) ? pair.key.value : pair.key);
        return this.columns(table).filter((one) => one.role === "sensitive").map((one) => `${table}.${one.name}`);
      });
    return this.columns().filter((one) => one.role === "sensitive").map((one) => one.name);
  }

  private pair(name: string, table?: string) {
    return this.attributes(table)?.items.find((one) => String(isScalar(one.key) ? (one.key.source ?? one.key.value) : one.key) === name);
  }

  /** The description of a column as a mapping, made if there is none. */
  private description(name: string, table?: string): YAMLMap {
    if (!this.attributes(table)) this.doc.setIn(table === undefined ? ["attributes"] : ["tables", table, "attributes"], new YAMLMap());
    const pair = this.pair(name, table);
    if (pair && isMap(pair.value)) return pair.value;
    const map = this.doc.createNode(pair && isScalar(pair.value) ? {role: pair.value.value} : {}) as YAMLMap;
    map.flow = true;
    if (pair) pair.value = map;
    else this.attributes(table)!.add(this.doc.createPair(name, map));
    return map;
  }

  setRole(name: string, role: Role | null, table?: string): void {
    if (role === null) {
      const items = this.attributes(table)?.items;
      const at = items?.findIndex((one) => one === this.pair(name, table)) ?? -1;
      if (at >= 0) items!.splice(at, 1);
    } else {
      const map = this.description(name, table);
      map.set("role", role);
      map.comment = null;
      if (role !== "quasi") for (const key of ["hierarchy", "min-level", "max-level", "weight", "cuts"]) map.delete(key);
      if (role !== "identifier") map.delete("pseudonym");
      if (role !== "set") map.delete("separator");
    }
    this.dropLevels();
    this.dropPromisesWithoutColumn();
    this.promiseSets();
  }

  /** The column whose cells are sets, and what stands between their items. */
  set(): {name: string; separator: string} | null {
    const column = this.columns().find((one) => one.role === "set");
    const separator = column && (this.pair(column.name)?.value as YAMLMap | undefined)?.get?.("separator");
    return column ? {name: column.name, separator: typeof separator === "string" ? separator : ";"} : null;
  }

  setSeparator(name: string, separator: string): void {
    this.description(name).set("separator", separator);
    this.dropLevels();
  }

  /** A table with a column of sets promises something about them, and one without does not. */
  private promiseSets(): void {
    const at = this.promises().findIndex((one) => one.model === "k-mn");
    if (this.doc.has("tables") || this.doc.has("classes")) return;
    if (this.set() && at < 0) this.setPromise(this.promises().length, "k-mn", {k: this.k() ?? 5, m: 2, n: 0});
    if (!this.set() && at >= 0) {
      this.removePromise(at);
      this.removed.push("k-mn");
    }
  }

  setHierarchy(name: string, hierarchy: unknown): void {
    const map = this.description(name);
    if (hierarchy === null) map.delete("hierarchy");
    else map.set("hierarchy", this.doc.createNode(hierarchy, {flow: true}));
    map.comment = null;
    this.dropLevels();
  }

  /** Levels are those of the columns and hierarchies that they were chosen for. */
  private dropLevels(): void {
    this.doc.delete("levels");
  }

  promises(): Promised[] {
    const list = this.doc.get("privacy");
    if (!isSeq(list)) return [];
    return (list.toJSON() as Array<Record<string, unknown>>).map((one) => {
      const [model = "", value = null] = Object.entries(one)[0] ?? [];
      return {model, value};
    });
  }

  k(): number | null {
    const found = this.promises().find((one) => one.model === "k");
    return found ? Number(found.value) : null;
  }

  setPromise(at: number, model: string, value: unknown): void {
    if (!isSeq(this.doc.get("privacy"))) this.doc.set("privacy", this.doc.createNode([]));
    const node = this.doc.createNode({[model]: value});
    const inner = (node as YAMLMap).get(model);
    if (isMap(inner)) inner.flow = true;
    const list = this.doc.get("privacy") as {items: unknown[]};
    if (at < list.items.length) list.items[at] = node;
    else list.items.push(node);
    this.dropLevels();
  }

  setK(k: number): void {
    const at = this.promises().findIndex((one) => one.model === "k");
    this.setPromise(at < 0 ? this.promises().length : at, "k", k);
  }

  removePromise(at: number): void {
    this.doc.deleteIn(["privacy", at]);
    this.dropLevels();
  }

  private dropPromisesWithoutColumn(): void {
    const sensitive = this.sensitive();
    const about = (one: Promised) => (one.value as {attribute?: string} | null)?.attribute;
    const needs = ["l-diversity", "t-closeness", "alpha-k", "beta-likeness", "delta-disclosure"];
    for (let at = this.promises().length - 1; at >= 0; at--) {
      const one = this.promises()[at]!;
      const column = typeof one.value === "object" ? about(one) : undefined;
      if (needs.includes(one.model) && (column === undefined ? sensitive.length !== 1 : !sensitive.includes(column))) {
        this.doc.deleteIn(["privacy", at]);
        this.removed.unshift(column === undefined ? one.model : `${one.model} of ${column}`);
      }
    }
  }

  field(name: string): string {
    const value = this.doc.get(name);
    return value === undefined || value === null ? "" : String(value);
  }

  setField(name: string, value: string | number | null): void {
    if (value === null || value === "") this.doc.delete(name);
    else this.replace(name, value);
  }

  /** What is said behind a value is about the one that stood there. */
  private replace(name: string, value: string | number): void {
    this.doc.set(name, value);
    const node = this.doc.get(name, true);
    if (isScalar(node)) node.comment = null;
  }

  /** Does every run make the same bytes? The keys of a database's release are random, unless a seed is given. */
  repeats(): boolean {
    return !this.doc.has("tables") || this.doc.has("seed") || this.doc.hasIn(["options", "seed"]);
  }

  levels(): number[] | null {
    const node = this.doc.get("levels");
    return isSeq(node) ? (node.toJSON() as number[]) : null;
  }

  setLevels(levels: number[] | null): void {
    if (levels === null) return this.dropLevels();
    this.doc.set("levels", this.doc.createNode(levels, {flow: true}));
    this.replace("method", "optimal");
  }
}
