// What the dashboard's server answers, and how it is asked.

import type { Column, Num } from "./columns";
import type { Payload, Status } from "./payload";

export type State = "running" | "finished" | "failed" | "stalled" | "dead" | "resting";

/** One run in a line, as holter.dashboard.summary makes it. */
export interface Summary {
  id: string;
  name: string;
  version: number;
  state: State;
  /** Seconds since the last row, when the answer was given. */
  age: number | null;
  gap: number | null;
  why: string;
  progress: number | null;
  /** Null before the log was read; the last step is then that of the end of its file, where that tells. */
  rows: number | null;
  last_step: Num | null;
  dialect: string;
  /** Null before the detectors looked. */
  status: Status | null;
  title: string;
  findings: string[];
  config: Record<string, string>;
  curve: { metric: string; steps: Column; values: Column } | null;
}

export interface Listed {
  /** The server's version, of this process only. */
  version: string;
  root: string;
  /** Whether all runs are listed that were there when the server began. */
  looked: boolean;
  ids: string[];
  runs: Summary[];
  refused: { file: string; line: number | null; why: string }[];
  texts: Record<string, Record<string, string>>;
}

/** The first frame of a page: which runs there are. A frame for each of them follows. */
export interface Page {
  version: string;
  summaries: Summary[];
  samples: boolean[];
  page: Omit<Payload, "texts">;
  texts: Record<string, Record<string, string>>;
}

export interface Stretch {
  run: string;
  key: string;
  whole: boolean;
  /** Positions among the numbers of the frame. */
  steps: number;
  values: number;
  middle: { steps: number; values: number } | null;
}

export interface SampleRow {
  step: Num;
  prompt: string;
  completion: string;
  numbers: Record<string, Num | null>;
}

export interface SamplePage {
  rows: SampleRow[];
  next: number | null;
}

export interface Words {
  language: string;
  languages: Record<string, string>;
  texts: Record<string, Record<string, string>>;
}

/** An answer that is none: what the server said of it; of status 0 where it could not be asked. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export async function ask<T>(path: string, query: Query = [], signal?: AbortSignal): Promise<T> {
  return (await (await answerOf(path, query, signal)).json()) as T;
}

export type Query = [string, string | number][];

/** An answer; a refusal where it is none. */
export async function answerOf(path: string, query: Query, signal?: AbortSignal): Promise<Response> {
  const search = new URLSearchParams(query.map(([name, value]) => [name, String(value)]));
  const answer = await fetch(`${path}?${search}`, signal ? { signal } : {}).catch((error: unknown) => {
    throw new Refusal(0, String(error));
  });
  if (!answer.ok) throw new Refusal(answer.status, await answer.text());
  return answer;
}
