// store.ts: what the page knows: the session as the program keeps it, the jobs, and the answers to questions. The program's copy
// is the one that counts: a reload, or another tab, shows the same.
// SPDX-License-Identifier: Apache-2.0
import {createContext} from "preact";
import {useContext, useEffect, useMemo, useRef, useState} from "preact/hooks";
import * as api from "./api";
import type {StudioFailure, StudioJob, StudioSession} from "./answers";
import {Release} from "./release";

export interface Store {
  session: StudioSession;
  release: Release;
  jobs: Map<number, StudioJob>;
  failure: StudioFailure | null;
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
  const [jobs, setJobs] = useState(new Map<number, StudioJob>());
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const [refused, setRefused] = useState<string | null>(null);
  const [lost, setLost] = useState(false);
  const [busy, setBusy] = useState(false);
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
      setJobs((before) => {
        const after = new Map(before);
        for (const job of event.jobs) after.set(job.id, job);
        for (const id of [...after.keys()].sort((a, b) => a - b).slice(0, -64)) after.delete(id);
        return after;
      });
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
        return {message: "another tab changed the release file; here it is as it is now"};
      }
      return problem.failure;
    }
  };
  const store: Store = {
    session,
    release,
    jobs,
    failure,
    lost,
    busy,
    async edit(change, files) {
      setBusy(true);
      const copy = new Release(latest.current!.release ?? "");
      change(copy);
      const problem = await send(copy.text(), {...(latest.current!.files ?? {}), ...files}).finally(() => setBusy(false));
      setFailure(problem);
      return problem === null;
    },
    replace: (text) => send(text, latest.current!.files ?? {}),
    async step(way) {
      take(await api.request<StudioSession>("POST", `/api/${way}`));
    },
    async save(replace) {
      try {
        take(await api.request<StudioSession>("POST", "/api/save", {replace}));
        return null;
      } catch (problem) {
        if (problem instanceof api.Refused) return problem.failure;
        throw problem;
      }
    },
    dismiss: () => setFailure(null),
  };
  return {store, refused};
}

export interface Asked<T> {
  answer: T | null;
  job: StudioJob | null;
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
  const job = id === null ? null : (store.jobs.get(id) ?? null);

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
    if (!job || id === null) return;
    let gone = false;
    if (job.state === "done") api.answerOf<T>(id).then((answer) => gone || setGot({key, answer}), () => undefined);
    if (job.state === "failed") setFailure({key, failure: job.error ?? {message: job.state}});
    if (job.state === "cancelled") setFailure({key, failure: {message: "cancelled"}});
    return () => {
      gone = true;
    };
  }, [job?.state, id]);

  const failed = failure?.key === key ? failure.failure : null;
  return {answer: failed ? null : (got?.answer ?? null), job: job && ["waiting", "running"].includes(job.state) ? job : null,
    failure: failed, stale: got !== null && got.key !== key};
}

/** A question that is asked by a click. */
export function useAction<T>(kind: string): Asked<T> & {run(params?: object): Promise<void>} {
  const store = useStore();
  const [id, setId] = useState<number | null>(null);
  const [answer, setAnswer] = useState<T | null>(null);
  const [failure, setFailure] = useState<StudioFailure | null>(null);
  const job = id === null ? null : (store.jobs.get(id) ?? null);
  useEffect(() => {
    if (!job || id === null) return;
    if (job.state === "done") void api.answerOf<T>(id).then(setAnswer);
    if (job.state === "failed") setFailure(job.error ?? {message: job.state});
    if (job.state === "cancelled") setFailure({message: "cancelled"});
  }, [job?.state, id]);
  return {
    answer,
    failure,
    job: job && ["waiting", "running"].includes(job.state) ? job : null,
    stale: false,
    async run(params = {}) {
      setAnswer(null);
      setFailure(null);
      try {
        setId((await api.ask(kind, params)).id);
      } catch (problem) {
        setFailure({message: (problem as Error).message});
      }
    },
  };
}
