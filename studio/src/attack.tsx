// attack.tsx: what a neighbour finds: people of the table itself of whom some columns are known, or another table, typed or from a file;
// in the original, and in the release that was published.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import type {Attack as AttackAnswer, StudioReleased} from "./answers";
import {Notes, Number_, Problem, Progress, Section} from "./parts";
import {useAction, useAnswer, useStore} from "./store";
import type {Asked} from "./store";
import {n, share, texts} from "./texts";

const words = texts.attack;
const LONGEST = 3_000_000; // a request has room for so much

function Found({found}: {found: AttackAnswer}) {
  const row = (label: string, figure: (table: AttackAnswer["after"]) => number) => (
    <tr key={label}><th scope="row"><bdi>{label}</bdi></th>{found.before && <td>{n(figure(found.before))} <small>{share(figure(found.before), found.people)}</small></td>}
      <td>{n(figure(found.after))} <small>{share(figure(found.after), found.people)}</small></td></tr>
  );
  return (
    <>
      <p class="verdict"><strong class={found.holds ? "good" : "bad"}>{found.holds ? words.holds : found.holds === null ? words.undecided : words.fails}</strong> {words.links} <bdi>{found.links.join(", ")}</bdi></p>
      <div class="scroll" tabIndex={0} role="region" aria-label={words.title}>
        <table class="found">
          <thead><tr><th scope="col">{n(found.people)} {words.people}</th>{found.before && <th scope="col">{words.before}</th>}<th scope="col">{words.after}</th></tr></thead>
          <tbody>
            {row(words.one, (table) => table.unique)}
            {row(words.below(found.k), (table) => table.below_k)}
            {row(words.none, (table) => table.none)}
            {found.sensitive.map((name) => row(words.certain(name), (table) => table.certain[name] ?? 0))}
          </tbody>
        </table>
      </div>
      {found.records && found.holds === false && <p class="how">{words.wholeRecords}</p>}
      <Notes notes={found.notes} />
    </>
  );
}

function Outcome({asked}: {asked: Asked<AttackAnswer>}) {
  return <>{asked.working && <Progress id={asked.id} />}{asked.failure && <Problem failure={asked.failure} />}{asked.answer && <Found found={asked.answer} />}</>;
}

/** Some people of the table, of whom a neighbour knows some columns. */
function Neighbour({ready}: {ready: boolean}) {
  const store = useStore();
  const quasi = store.release.quasi();
  const [chosen, setChosen] = useState<string[] | null>(null);
  const [people, setPeople] = useState(100);
  const columns = (chosen ?? quasi).filter((name) => quasi.includes(name));
  const attack = useAction<AttackAnswer>("attack");
  return (
    <Section title={words.neighbour} how={words.neighbourHow} wide>
      <div class="ticks" role="group" aria-label={words.knows}>
        {quasi.map((name) => (
          <label key={name} class="tick"><input type="checkbox" checked={columns.includes(name)}
            onChange={() => setChosen(columns.includes(name) ? columns.filter((one) => one !== name) : [...columns, name])} /> <bdi>{name}</bdi></label>
        ))}
      </div>
      <div class="line">
        <label>{words.howMany} <Number_ label={words.howMany} value={people} min={1} step={1} change={(next) => setPeople(Math.round(next))} /></label>
        <button type="button" class="main" disabled={!ready || columns.length === 0 || attack.working} onClick={() => void attack.run({columns: quasi.filter((name) => columns.includes(name)), people})}>{words.pretend}</button>
      </div>
      <Outcome asked={attack} />
    </Section>
  );
}

export function Attack() {
  const store = useStore();
  const table = store.session.shape === "table";
  const [path, setPath] = useState("");
  const [typed, setTyped] = useState("");
  const [said, setSaid] = useState("");
  const attack = useAction<AttackAnswer>("attack");
  const released = useAnswer<StudioReleased>("released", {});
  const ready = released.answer?.there === true;
  const sendText = (text: string, name: string) => {
    if (text.length > LONGEST) return setSaid(words.tooLong);
    setSaid("");
    void attack.run({text, name});
  };
  return (
    <>
      <header class="lead"><h1>{words.title}</h1><p>{words.lead}</p><p class="how">{words.needs}</p>
        {released.answer && (ready ? <p class="how">{words.attacked} <bdi>{released.answer.output}</bdi></p> : <p class="problem" role="status">{words.nothing}</p>)}</header>
      {table && store.release.quasi().length > 0 && <Neighbour ready={ready} />}
      <Section title={table ? words.other : words.otherThan} how={table ? words.otherHow : words.otherShapes} wide>
        <form class="line" onSubmit={(event) => {
          event.preventDefault();
          setSaid("");
          void attack.run({external: path});
        }}>
          <label>{words.path} <input aria-label={words.file} value={path} placeholder={table ? "register.csv" : ""} onInput={(event) => setPath(event.currentTarget.value)} /></label>
          <button type="submit" class="main" disabled={!ready || !path || attack.working}>{words.run}</button>
        </form>
        <label class="file">{words.upload} <input type="file" disabled={!ready} onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file && file.size > LONGEST) setSaid(words.tooLong);
          else void file?.text().then((text) => sendText(text, file.name));
        }} /></label>
        {table && (
          <details>
            <summary>{words.type}</summary>
            <p class="how">{words.typeHow}</p>
            <textarea rows={5} spellcheck={false} aria-label={words.type} placeholder={`${store.release.quasi().join(",")}\n`} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
            <button type="button" disabled={!ready || !typed.trim() || attack.working} onClick={() => sendText(typed.endsWith("\n") ? typed : `${typed}\n`, "neighbour.csv")}>{words.runTyped}</button>
          </details>
        )}
        {said && <p class="problem" role="alert">{said}</p>}
        <Outcome asked={attack} />
      </Section>
    </>
  );
}
