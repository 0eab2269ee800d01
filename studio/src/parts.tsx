// parts.tsx: what several screens are made of: bars, messages, progress, copying. Values of the data are text nodes everywhere.
// SPDX-License-Identifier: Apache-2.0
import type {ComponentChildren} from "preact";
import {useEffect, useRef, useState} from "preact/hooks";
import * as api from "./api";
import type {StudioFailure} from "./answers";
import {useJob} from "./store";
import type {Asked} from "./store";
import {n, share, texts} from "./texts";

export function Section(props: {title: string; how?: string; children: ComponentChildren; wide?: boolean}) {
  return (
    <section class={props.wide ? "card wide" : "card"}>
      <h2>{props.title}</h2>
      {props.how && <p class="how">{props.how}</p>}
      {props.children}
    </section>
  );
}

export function Problem({failure, children}: {failure: StudioFailure; children?: ComponentChildren}) {
  return (
    <div class="problem" role="alert">
      <p><bdi>{failure.message}</bdi></p>
      {children}
    </div>
  );
}

/** How far it is. What is on its way to the program already shows that it was asked. */
export function Progress({id}: {id: number | null}) {
  const job = useJob(id);
  const known = job !== null && job.total > 0;
  const label = job?.state === "waiting" ? texts.waiting : job?.stage || texts.working;
  return (
    <div class="progress" role="status">
      <progress aria-label={label} max={1} {...(known ? {value: job.done / job.total} : {})} />
      <span>{label}{known ? ` ${share(job.done, job.total)}` : ""}</span>
      <button type="button" class="quiet" disabled={id === null} onClick={() => void api.cancel(id!)}>{texts.cancel}</button>
    </div>
  );
}

/** Shows the answer, what went wrong, or how far it is. */
export function Answer<T>({asked, children}: {asked: Asked<T>; children: (answer: T) => ComponentChildren}) {
  return (
    <div class={asked.stale ? "answer stale" : "answer"}>
      {asked.working && <Progress id={asked.id} />}
      {asked.failure && <Problem failure={asked.failure} />}
      {asked.answer !== null && !asked.failure && children(asked.answer)}
    </div>
  );
}

/** The first of `all` at once, the others in pieces whenever the browser has nothing else to do: a click comes before them. */
export function useGradually<T>(all: T[], first = 12, piece = 24): T[] {
  const [shown, setShown] = useState(first);
  const latest = useRef(all);
  if (latest.current !== all && shown !== first) setShown(first);
  latest.current = all;
  useEffect(() => {
    if (shown >= all.length) return;
    const id = requestIdleCallback(() => setShown((before) => before + piece), {timeout: 1000});
    return () => cancelIdleCallback(id);
  }, [shown, all]);
  return shown >= all.length ? all : all.slice(0, shown);
}

/** Bars side by side: a distribution. */
export function Spread({label, bars, title}: {label: string; bars: Array<{label: string; rows: number}>; title: (label: string, rows: number) => string}) {
  const most = Math.max(1, ...bars.map((bar) => bar.rows));
  return (
    <div class="spread" role="img" aria-label={label}>
      {bars.map((bar, at) => (
        <span key={at} title={title(bar.label, bar.rows)} style={{height: `${bar.rows === 0 ? 0 : Math.max(4, (100 * bar.rows) / most)}%`}} />
      ))}
    </div>
  );
}

/** Bars below each other, with their labels and numbers. */
export function Bars({rows, unit}: {rows: Array<{label: string; value: number; note?: string; mark?: boolean}>; unit?: (value: number) => string}) {
  const most = Math.max(1e-12, ...rows.map((row) => row.value));
  return (
    <ul class="bars">
      {rows.map((row, at) => (
        <li key={at} class={row.mark ? "mark" : ""}>
          <span class="label"><bdi>{row.label}</bdi></span>
          <span class="track"><span style={{width: `${(100 * row.value) / most}%`}} /></span>
          <span class="value">{(unit ?? n)(row.value)}{row.note && <small> {row.note}</small>}</span>
        </li>
      ))}
    </ul>
  );
}

export function Figure({label, value, note}: {label: string; value: string; note?: string}) {
  return (
    <div class="figure">
      <dt>{label}</dt>
      <dd>{value}{note && <small> {note}</small>}</dd>
    </div>
  );
}

/** A number that counts once it is complete. */
export function Number_(props: {label: string; value: number; min: number; step: number; change: (value: number) => void}) {
  const [text, setText] = useState(String(props.value));
  useEffect(() => setText(String(props.value)), [props.value]);
  return <input type="number" aria-label={props.label} value={text} min={props.min} step={props.step}
    onInput={(event) => setText(event.currentTarget.value)}
    onChange={(event) => {
      const value = Number(event.currentTarget.value);
      if (Number.isFinite(value) && value >= props.min) props.change(value);
      else setText(String(props.value));
    }} />;
}

export function Copy({text, label}: {text: string; label: string}) {
  const [done, setDone] = useState(false);
  const copy = () => navigator.clipboard.writeText(text).then(() => {
    setDone(true);
    setTimeout(() => setDone(false), 2000);
  }, () => undefined);
  return (
    <div class="command">
      <code tabIndex={0} role="region" aria-label={label}>{text}</code>
      <button type="button" class="quiet" onClick={() => void copy()} aria-live="polite">{done ? texts.copied : texts.copy}</button>
    </div>
  );
}

export function Notes({notes}: {notes: string[]}) {
  if (notes.length === 0) return null;
  return <ul class="notes">{notes.map((note) => <li key={note}><bdi>{note}</bdi></li>)}</ul>;
}

/** Class sizes in powers of two. */
export function bySize(sizes: Array<{size: number; classes: number; rows: number}>) {
  const out: Array<{low: number; high: number; classes: number; rows: number}> = [];
  for (let low = 1; low <= Math.max(0, ...sizes.map((one) => one.size)); low *= 2) {
    const inside = sizes.filter((one) => one.size >= low && one.size < low * 2);
    if (inside.length > 0)
      out.push({low, high: low * 2 - 1, classes: inside.reduce((sum, one) => sum + one.classes, 0), rows: inside.reduce((sum, one) => sum + one.rows, 0)});
  }
  return out;
}
