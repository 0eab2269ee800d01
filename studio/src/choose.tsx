// choose.tsx: a studio without a file: one is chosen among the folders of this machine, or dropped onto the page.
// SPDX-License-Identifier: Apache-2.0
import {useState} from "preact/hooks";
import * as api from "./api";
import type {StudioFolder} from "./answers";
import {Answer, Problem} from "./parts";
import {useAnswer, useLast} from "./store";
import {texts} from "./texts";

const words = texts.choose;
const USEFUL = /\.(csv|tsv|txt|gz|zst|parquet|sav|dta|sas7bdat|xlsx|ods|xml|jsonl?|ndjson|ya?ml|db|sqlite3?)$/i;

export function Choose() {
  const [path, setPath] = useState<string | null>(null);
  const [said, setSaid] = useState("");
  const [over, setOver] = useState(false);
  const found = useAnswer<StudioFolder>("folder", path === null ? {} : {path}, 0);
  const folder = found.answer;
  const last = useLast("open");
  const open = (name: string) => {
    setSaid(words.opening(name));
    const place = `${folder!.path === "/" ? "" : folder!.path}/${name}`;
    void api.ask("open", {path: place}).catch((problem: Error) => setSaid(problem.message));
  };
  return (
    <main class={over ? "choose over" : "choose"} onDragOver={(event) => {
      event.preventDefault();
      setOver(true);
    }} onDragLeave={() => setOver(false)} onDrop={(event) => {
      event.preventDefault();
      setOver(false);
      const file = event.dataTransfer?.files[0];
      const here = file && folder?.entries.find((one) => one.name === file.name && one.size === file.size);
      if (here) open(here.name);
      else setSaid(words.notHere(file?.name ?? ""));
    }}>
      <h1>{words.title}</h1>
      <p class="how">{words.how}</p>
      {last?.error ? <Problem failure={last.error} /> : <p role="status">{said}</p>}
      <Answer asked={found}>
        {(one) => (
          <>
            <div class="line">
              <button type="button" disabled={one.path === "/"} onClick={() => setPath(one.path.slice(0, one.path.lastIndexOf("/")) || "/")}>{words.up}</button>
              <code><bdi>{one.path}</bdi></code>
              <button type="button" class="quiet" disabled={one.path === "/"} onClick={() => open("")}>{words.asDatabase}</button>
            </div>
            <ul class="entries">{one.entries.filter((entry) => entry.folder || USEFUL.test(entry.name)).map((entry) => (
              <li key={entry.name}><button type="button" class="quiet" onClick={() => (entry.folder ? setPath(`${one.path === "/" ? "" : one.path}/${entry.name}`) : open(entry.name))}><bdi>{entry.folder ? `${entry.name}/` : entry.name}</bdi></button></li>
            ))}</ul>
            {!one.complete && <p class="how">{words.more}</p>}
          </>
        )}
      </Answer>
    </main>
  );
}
