// api.ts: the requests to the program, and the stream of its news. The token is the address's fragment: it is sent as a header
// and to nobody else.
// SPDX-License-Identifier: Apache-2.0
import type {StudioFailure, StudioJob, StudioJobs, StudioRows, StudioSession} from "./answers";

const token = location.hash.slice(1);

export class Refused extends Error {
  constructor(readonly code: number, readonly failure: StudioFailure, readonly body: unknown) {
    super(failure.message);
  }
}

export async function request<T>(method: string, path: string, body?: unknown): Promise<T> {
  const headers: Record<string, string> = {Authorization: `Bearer ${token}`};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  const answer = await fetch(path, {method, headers, body: body === undefined ? undefined : JSON.stringify(body)});
  const value = await answer.json();
  if (!answer.ok) throw new Refused(answer.status, (value as {error?: StudioFailure}).error ?? {message: answer.statusText}, value);
  return value as T;
}

export const getSession = () => request<StudioSession>("GET", "/api/session");
export const getRows = (offset: number, count: number) => request<StudioRows>("GET", `/api/rows?offset=${offset}&count=${count}`);
export const ask = (kind: string, params: object) => request<StudioJob>("POST", "/api/jobs", {...params, kind});
export const answerOf = <T>(id: number) => request<T>("GET", `/api/jobs/${id}/answer`);
export const cancel = (id: number) => request<StudioJob>("DELETE", `/api/jobs/${id}`);

/** Reads the events until the program ends; `lost` is called then. */
export async function listen(news: (event: StudioJobs) => void, lost: () => void): Promise<void> {
  try {
    const answer = await fetch("/api/events", {headers: {Authorization: `Bearer ${token}`}});
    if (!answer.ok || !answer.body) throw new Error("no events");
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const {value, done} = await reader.read();
      if (done) break;
      text += value;
      let end: number;
      while ((end = text.indexOf("\n\n")) >= 0) {
        const event = text.slice(0, end);
        text = text.slice(end + 2);
        if (event.startsWith("data: ")) news(JSON.parse(event.slice(6)) as StudioJobs);
      }
    }
  } catch {
    /* the same as its end */
  }
  lost();
}
