// The payload `holter.compare-page/1`, as holter.reports.html.compare_payload makes it.

import type { Column, Num } from "./columns";
import type { Axis } from "./format";
import type { SignalPage, Status, UnknownSeries } from "./payload";

export interface Setting {
  label: string;
  baseline: boolean;
  runs: number[];
}

export interface ComparedRun {
  name: string;
  short_name: string;
  path: string;
  seed: string | number | boolean | null;
  rows: number;
  status: Status;
  title: string;
  found: string[];
}

export interface Level {
  mean: Num | null;
  sd_between_seeds: Num | null;
  seeds: number;
  half_width: Num | null;
  not_finite: number;
}

export interface Compared {
  key: string;
  metric: string;
  unit: string;
  better: "higher" | "lower" | "unknown";
  outcome: boolean;
  sign: string;
  page: string | null;
  label: string;
  held_out: boolean;
  levels: (Level | null)[];
  axis: number;
  /** Each setting's mean over its seeds by stretch, and half its 95 % interval; null where it does not log the signal. */
  groups: ({ mean: Column; half: Column | null } | null)[];
  lines: ({ run: number } & UnknownSeries)[];
}

export interface Difference {
  signal: string;
  verdict: "higher" | "lower" | "not distinguishable" | "cannot tell";
  difference: Num | null;
  low: Num | null;
  high: Num | null;
  size: Num | null;
  p: Num | null;
  noise_from: string;
  parts_at: Num | null;
  times_noise: Num | null;
}

export interface Pair {
  first: number;
  second: number;
  differences: Difference[];
  regressions: { what: string; says: string }[];
  began: string | null;
}

export interface Influence {
  setting: string;
  signal: string;
  rho: Num;
  p: Num;
  stands: boolean;
}

export interface Sweep {
  influences: Influence[];
  together: string[][];
  /** Whether ranks of so few runs cannot stand out, whatever the settings do. */
  too_few: boolean;
  /** What each run was set to. */
  settings: { name: string; values: Num[] }[];
  /** Where each run ended, by signal. */
  ends: Record<string, Num[]>;
}

export interface ComparePayload {
  schema: string;
  headline: string;
  axis: Axis;
  grouped: string;
  method: string;
  worse: boolean;
  /** Which of several settings ends best. */
  best: string | null;
  groups: Setting[];
  runs: ComparedRun[];
  settings: { name: string; values: (string | null)[] }[];
  signs: { id: string; title: string }[];
  signals: Compared[];
  pages: Record<string, SignalPage>;
  pairs: Pair[];
  sweep: Sweep | null;
  only_in: Record<string, string[]>;
  axes: Column[];
  refused: string[];
  language: string;
  languages: Record<string, string>;
  texts: Record<string, Record<string, string>>;
}
