// store.ts: what the page knows: the session as the program keeps it, the jobs, and the answers to questions. The program's copy
// is the one that counts: a reload, or another tab, shows the same.
// SPDX-License-Identifier: Apache-2.0
import {createContext} from "preact";
import {useContext, useEffect, useMemo, useRef, useState} from "preact/hooks";
import * as api from "./api";
import type {StudioFailure, StudioJob, StudioSession} from "./answers";
import {Release} from "./release";
import {texts} from "./texts";

/** The jobs as they were last told. News come many times a second while the engine works: only who listens is drawn again. */
const MOST_JOBS = 64;
class Board {
  private readonly jobs = new Map<number, StudioJob>();
  private readonly listeners = new Set<() => void>();

  get(id: number | null): StudioJob | null {
    return id === null ? null : (this.jobs.get(id) ?? null);
  }

  last(kind: string): StudioJob | null {
    return [...this.jobs.values()].filter((job) => job.kind === kind).at(-1) ?? null;
  }

  take(news: StudioJob[]): void {
    for (const job of news) this.jobs.set(job.id, job);
    for (const id of [...this.jobs.keys()].sort((a, b) => a - b).slice(0, -MOST_JOBS)) this.jobs.delete(id);
    for (const tell of this.listeners) tell();
  }

  listen(tell: () => void): () => void {
    this.listeners.add(tell);
    return () => this.listeners.delete(tell);
  }
}
const board = new Board();

/** What `look` sees of the jobs; drawn again only when that is another value. */
function useBoard<T>(look: (from: Board) => T): T {
  const [, draw] = useState(0);
  const seen = look(board);
  const latest = useRef({look, seen});
  latest.current = {look, seen};
  useEffect(() => board.listen(() => {
    if (latest.current.look(board) !== latest.current.seen) draw((before) => before + 1);
  }), []);
  return seen;
}

/** A job with every step of its progress. */
export const useJob = (id: number | null): StudioJob | null => useBoard((from) => from.get(id));
export const useLast = (kind: string): StudioJob | null => useBoard((from) => from.last(kind));
const useStateOf = (id: number | null): StudioJob["state"] | null => useBoard((from) => from.get(id)?.state ?? null);

export interface Store {
  session: StudioSession;
  release: Release;
  failure: StudioFailure | null;
  /** what a change took away beside what it was about */
  notice: string | null;
  lost: boolean;
  /** a change is on its way to the program */
  busy: boolean;
  /** Changes a copy of the release file and sends it; with files: those too. */
  edit(change: (release: Release) => void, files?: Record<string, string>): Promise<boolean>;
  replace(text: string): Promise<StudioFailure | null>;
  step(way: "undo" | "redo"): Promise<void>;
  save(replace: boolean): Promise<StudioFailure | null>;
  dismiss(): void;
}

export const Context = createContext<Store | null>(null);
export const useStore = (): Store => useContext(Context)!;

export function useSession(): {store: Store | null; refused: string | null} {
  const [session, setSession] = useState<StudioSession | null>(null);
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const [lost, setLost] = useState(false);
  const [busy, setBusy] = useState(false);
  const [notice, setNotice] = useState<string | null>(null);
  const latest = useRef<StudioSession | null>(null);

  const take = (next: StudioSession) => {
    if (latest.current && latest.current.revision > next.revision) return;
    latest.current = next;
    setSession(next);
  };
  const refresh = () => api.getSession().then(take, (problem: Error) => setRefused(problem.message));

  useEffect(() => {
    void refresh();
    void api.listen((event) => {
      board.take(event.jobs);
      const known = latest.current;
      if (!known?.open || event.revision !== known.revision || event.saved !== known.saved) void refresh();
    }, () => setLost(true));
  }, []);

  const release = useMemo(() => new Release(session?.release ?? ""), [session?.release]);
  if (!session) return {store: null, refused};

  const send = async (text: string, files: Record<string, string>): Promise<StudioFailure | null> => {
    try {
      take(await api.request<StudioSession>("PUT", "/api/session", {revision: latest.current!.revision, release: text, files}));
      return null;
    } catch (problem) {
      if (!(problem instanceof api.Refused)) throw problem;
      if (problem.code === 409) {
        take(problem.body as StudioSession);
        return {message: texts.otherTab};
      }
      return problem.failure;
    }
  };
  const store: Store = {
    session,
    release,
    failure,
    notice,
    lost,
    busy,
    async edit(change, files) {
      setBusy(true);
      const copy = new Release(latest.current!.release ?? "");
      change(copy);
      const problem = await send(copy.text(), {...(latest.current!.files ?? {}), ...files}).finally(() => setBusy(false));
      setFailure(problem);
      setNotice(problem === null && copy.removed.length > 0 ? texts.promises.removed(copy.removed) : null);
      return problem === null;
    },
    replace: (text) => send(text, latest.current!.files ?? {}),
    async step(way) {
      setBusy(true);
      take(await api.request<StudioSession>("POST", `/api/${way}`).finally(() => setBusy(false)));
    },
    async save(replace) {
      setBusy(true);
      try {
        take(await api.request<StudioSession>("POST", "/api/save", {replace}));
        return null;
      } catch (problem) {
        if (problem instanceof api.Refused) return problem.failure;
        throw problem;
      } finally {
        setBusy(false);
      }
    },
    dismiss: () => {
      setFailure(null);
      setNotice(null);
    },
  };
  return {store, refused};
}

export interface Asked<T> {
  answer: T | null;
  /** the job that works on it; none: there is nothing to wait for, or it is on its way to the program */
  id: number | null;
  /** it is being worked on, or about to be */
  working: boolean;
  failure: StudioFailure | null;
  /** the answer is to the question before this one */
  stale: boolean;
}

/** Asks whenever the question or the release file changes, and cancels what is no longer of interest. `kind` null: asks nothing. */
export function useAnswer<T>(kind: string | null, params: object = {}, revision?: number): Asked<T> {
  const store = useStore();
  const key = JSON.stringify([kind, params, revision ?? store.session.revision]);
  const [id, setId] = useState<number | null>(null);
  const [got, setGot] = useState<{key: string; answer: T} | null>(null);
  const [failure, setFailure] = useState<{key: string; failure: StudioFailure} | null>(null);
  const state = useStateOf(id);

  useEffect(() => {
    if (kind === null) return;
    let asked: number | null = null;
    let gone = false;
    const timer = setTimeout(() => {
      api.ask(kind, params).then((one) => {
        asked = one.id;
        if (gone) void api.cancel(one.id).catch(() => undefined);
        else setId(one.id);
      }, (problem: Error) => gone || setFailure({key, failure: {message: problem.message}}));
    }, 60);
    return () => {
      gone = true;
      clearTimeout(timer);
      setId(null);
      if (asked !== null) void api.cancel(asked).catch(() => undefined);
    };
  }, [key]);

  useEffect(() => {
    if (id === null) return;
    let gone = false;
    if (state === "done") api.answerOf<T>(id).then((answer) => gone || setGot({key, answer}), () => undefined);
    if (state === "failed") setFailure({key, failure: board.get(id)?.error ?? {message: state}});
    if (state === "cancelled") setFailure({key, failure: {message: texts.cancelled}});
    return () => {
      gone = true;
    };
  }, [state, id]);

  const failed = failure?.key === key ? failure.failure : null;
  const here = got?.key === key;
  return {answer: failed ? null : (got?.answer ?? null), id: state === "waiting" || state === "running" ? id : null,
    working: kind !== null && !failed && !here, failure: failed, stale: got !== null && !here};
}

/** The last answer of each kind that is worth keeping while other screens are looked at, and the release file that it is of. */
const kept = new Map<string, {revision: number; answer: unknown}>();

/** A question that is asked by a click. `keep`: who comes back to its screen finds the answer, unless the release file changed. */
export function useAction<T>(kind: string, keep = false): Asked<T> & {run(params?: object): Promise<void>} {
  const {revision} = useStore().session;
  const before = keep ? kept.get(kind) : undefined;
  const [id, setId] = useState<number | null>(null);
  const [answer, setAnswer] = useState<T | null>(before?.revision === revision ? (before.answer as T) : null);
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const [working, setWorking] = useState(false);
  const state = useStateOf(id);
  useEffect(() => {
    if (id === null) return;
    const end = (problem: StudioFailure | null) => {
      setFailure(problem);
      setWorking(false);
    };
    if (state === "done") void api.answerOf<T>(id).then((found) => {
      if (keep) kept.set(kind, {revision, answer: found});
      setAnswer(found);
      end(null);
    }, (problem: Error) => end({message: problem.message}));
    if (state === "failed") end(board.get(id)?.error ?? {message: state});
    if (state === "cancelled") end({message: texts.cancelled});
  }, [state, id]);
  return {
    answer,
    failure,
    id: state === "waiting" || state === "running" ? id : null,
    working,
    stale: false,
    async run(params = {}) {
      kept.delete(kind);
      setAnswer(null);
      setFailure(null);
      setWorking(true);
      try {
        setId((await api.ask(kind, params)).id);
      } catch (problem) {
        setFailure({message: (problem as Error).message});
        setWorking(false);
      }
    },
  };
}
