// data.tsx: the columns with their roles; the tables of a database; the classes of records.
// SPDX-License-Identifier: Apache-2.0
import type {DiagnoseRecords, Profile, ProfileDatabase, StudioDistributions} from "./answers";
import {Grid} from "./grid";
import {Answer, Notes, Problem, Progress, Section, Spread, useGradually} from "./parts";
import {Schema} from "./shapes";
import type {Role} from "./release";
import {useAnswer, useStore} from "./store";
import {texts} from "./texts";

const OF_TABLES: Array<Role | "drop"> = ["quasi", "sensitive", "identifier", "keep", "drop"];
const ROLES: Array<Role | "drop"> = ["quasi", "sensitive", "identifier", "keep", "drop", "set", "weight", "count"];

function List({found, spread}: {found: Profile; spread: StudioDistributions | null}) {
  const store = useStore();
  return (
    <ul class="columns">
      {useGradually(found.columns).map((column, at) => {
        const role = store.release.column(column.name)?.role ?? "drop";
        const bars = spread?.columns[at];
        return (
          <li key={column.name} class={`column ${role}`}>
            <div class="what">
              <h2><bdi>{column.name}</bdi></h2>
              <p class="how">{column.type} · {texts.data.distinct(column.distinct)}{column.missing > 0 && ` · ${texts.data.missing(column.missing)}`}</p>
            </div>
            {bars && (column.unique_rows === found.rows && !bars.ordered
              ? <p class="how">{texts.data.every}</p>
              : <Spread label={(bars.ordered ? texts.data.spread : texts.data.most)(column.name)} title={texts.data.bar}
                  bars={bars.bars.map((bar) => ({label: bar.to !== undefined && bar.to !== bar.label ? `${bar.label} – ${bar.to}` : (bar.label ?? texts.data.empty), rows: bar.rows}))} />)}
            <div class="role">
              <select aria-label={`${column.name}: ${texts.roles.label}`} value={role}
                onChange={(event) => {
                  const chosen = event.currentTarget.value as Role | "drop";
                  void store.edit((release) => release.setRole(column.name, chosen === "drop" ? null : chosen));
                }}>
                {ROLES.map((one) => <option key={one} value={one} title={texts.roles[one]}>{texts.roles.short[one]}</option>)}
              </select>
              <p class="how">{texts.roles[role]}</p>
              {role === "set" && (
                <label>{texts.data.separator} <input size={2} maxLength={1} value={store.release.set()?.separator ?? ";"} aria-label={`${column.name}: ${texts.data.separator}`}
                  onChange={(event) => { const mark = event.currentTarget.value; if (mark) void store.edit((release) => release.setSeparator(column.name, mark)); }} /></label>
              )}
              <p class="how">{texts.data.suggested(texts.roles.short[column.role as Role] ?? column.role, column.reason)}</p>
            </div>
          </li>
        );
      })}
    </ul>
  );
}

function Columns() {
  const store = useStore();
  const types = JSON.stringify(store.session.files ?? {}).length; // a profile depends on how the table is read, not on roles
  const profile = useAnswer<Profile>("profile", {}, types);
  const spread = useAnswer<StudioDistributions>("distributions", {}, types);
  return (
    <Answer asked={profile}>
      {(found) => <List found={found} spread={spread.answer} />}
    </Answer>
  );
}

function Tables() {
  const store = useStore();
  const found = useAnswer<ProfileDatabase>("profile", {}, 0);
  return (
    <Section title={texts.data.tables} wide>
      <Answer asked={found}>
        {(schema) => (
          <>
            <Schema schema={schema} />
            <ul class="legend">{OF_TABLES.map((role) => <li key={role}><span class={role} aria-hidden="true" /> {texts.roles.short[role]}</li>)}</ul>
            <ul class="tables">
              {schema.tables.map((table) => (
                <li key={table.name} class={table.place}>
                  <h3><bdi>{table.name}</bdi></h3>
                  <p class="how">{texts.tree.rows(table.rows)} · {table.place === "person" ? texts.data.person : table.parent ? texts.data.inside(table.parent) : table.place}</p>
                  <ul class="roles">{table.columns.map((column) => {
                    const role = store.release.column(column.name, table.name)?.role;
                    const joins = table.key.includes(column.name) || table.foreign_keys.some((key) => key.columns.includes(column.name));
                    return (
                      <li key={column.name}>
                        <span><bdi>{column.name}</bdi> <small>{column.type}{joins && `, ${texts.data.key}`}</small></span>
                        {(role !== undefined || !joins) && <select aria-label={`${table.name}.${column.name}: ${texts.roles.label}`} value={role ?? "drop"}
                          onChange={(event) => {
                            const chosen = event.currentTarget.value as Role | "drop";
                            void store.edit((release) => release.setRole(column.name, chosen === "drop" ? null : chosen, table.name));
                          }}>
                          {OF_TABLES.map((one) => <option key={one} value={one}>{texts.roles.short[one]}</option>)}
                        </select>}
                      </li>
                    );
                  })}</ul>
                </li>
              ))}
            </ul>
            {schema.problems.map((one) => <p key={one.message} class="problem">{one.message}: {one.advice}</p>)}
          </>
        )}
      </Answer>
    </Section>
  );
}

/** The classes of records as they nest, each with what is known of it and whether it is sensitive. */
function Classes() {
  const store = useStore();
  const found = useAnswer<DiagnoseRecords>("diagnose", {});
  return (
    <Section title={texts.data.classes} wide>
      {found.working && <Progress id={found.id} />}
      {found.failure && <Problem failure={found.failure} />}
      <ul class="columns">{store.release.classes().map((one) => {
        const figures = found.answer?.classes.find((kind) => kind.name === one.name);
        return (
          <li key={one.name} class={`column ${one.sensitive ? "sensitive" : "quasi"}`}>
            <div class="what"><h3><bdi>{one.name}</bdi></h3><p class="how">{figures ? texts.data.inRecords(figures.values, figures.nodes, figures.records) : "…"}</p></div>
            <p class="how"><bdi>{one.words}</bdi></p>
            <div class="role">
              <select aria-label={`${one.name}: ${texts.roles.label}`} value={one.sensitive ? "sensitive" : "quasi"}
                onChange={(event) => void store.edit((release) => release.setSensitive(one.name, event.currentTarget.value === "sensitive"))}>
                {(["quasi", "sensitive"] as const).map((role) => <option key={role} value={role}>{texts.roles.short[role]}</option>)}
              </select>
            </div>
          </li>
        );
      })}</ul>
    </Section>
  );
}

export function Data() {
  const {session} = useStore();
  const shape = session.shape;
  return (
    <>
      <header class="lead">
        <h1>{shape === "table" ? texts.data.title : shape === "database" ? texts.data.databaseTitle : texts.data.recordsTitle}</h1>
        <p>{shape === "table" ? texts.data.lead : shape === "database" ? texts.data.databaseLead : texts.data.recordsLead}</p>
        <Notes notes={session.notes ?? []} />
      </header>
      {shape === "table" && <Columns />}
      {shape === "table" && <Grid />}
      {shape === "database" && <Tables />}
      {shape === "records" && <Classes />}
    </>
  );
}
