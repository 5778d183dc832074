// The payload `holter.page/1`, as holter.reports.html.payload makes it. The report embeds it, the dashboard fetches it.

import type { Column, Num } from "./columns";
import type { Axis } from "./format";

/** `unjudged`: the detectors did not look yet, as in the dashboard while they are at work. */
export type Status = "critical" | "warning" | "info" | "healthy" | "cannot-tell" | "unjudged";

export interface Verdict {
  status: Status;
  confidence: string;
  sure: string;
  title: string;
  text: string;
}

export interface Phase {
  first_step: Num;
  last_step: Num;
  status: Status;
  title: string;
}

export interface Evidence {
  metric: string;
  key: string;
  steps: Num[];
  values: Num[];
  unit: string;
  says: string;
  count: number;
}

export interface Finding {
  detector: string;
  code: string;
  severity: "critical" | "warning" | "info";
  confidence: string;
  sure: string;
  first_step: Num;
  last_step: Num;
  onset: [Num, Num];
  raised_step: Num;
  active: boolean;
  metrics: string[];
  title: string;
  evidence: Evidence[];
  against: string[];
  advice: string[];
  alternatives: { says: string; check: string }[];
  caused_by: string | null;
}

/** One root with its consequences, by positions in `findings`. */
export interface Story {
  root: number;
  consequences: number[];
  severity: Finding["severity"];
  active: boolean;
}

export interface Facts {
  n: number;
  nan: number;
  infinite: number;
  last: Num;
  last_step: Num;
  first?: Num;
  median?: Num;
  min?: Num;
  min_step?: Num;
  max?: Num;
  max_step?: Num;
}

export interface UnknownSeries {
  metric: string;
  axis: number;
  values: Column;
  /** The medians of the stretches that a longer series was thinned by; null where every value is there. */
  middle: { axis: number; values: Column } | null;
  facts: Facts;
}

export interface Series extends UnknownSeries {
  key: string;
  signal: string;
  concept: string;
  unit: string;
  split: "train" | "eval";
  label: string;
  band: { low: number | null; high: number | null; rule: string } | null;
}

export interface Sample {
  prompt: string;
  completion: string;
  characters: number;
  numbers: Record<string, Num | null>;
}

/** What a list of runs knows of one. */
export interface Head {
  name: string;
  /** Which colour it has among several; that of its position where nothing is said. */
  tone?: number;
  path: string;
  dialect: string;
  step_axis: string;
  /** Null where the log was not read yet, as in the dashboard. */
  rows: number | null;
  first_step: Num | null;
  last_step: Num | null;
  verdict: Verdict;
  last_good_step: Num | null;
  counts: Record<string, number>;
}

export interface Run extends Head {
  phases: Phase[];
  findings: Finding[];
  stories: Story[];
  advice: string[];
  unchecked: { detector: string; code: string; missing: string[]; why: string }[];
  ignored: Record<string, string>;
  notes: string[];
  resumes: Num[];
  series: Series[];
  strips: { id: string; sign: string; series: number[] }[];
  unknown: UnknownSeries[];
  unknown_names: string[];
  axes: Column[];
  /** What is counted along the run besides steps. */
  counters: Partial<Record<string, { axis: number; values: Column }>>;
  samples: { step: Num; rows: Sample[] }[];
  config: Record<string, string>;
  made_with: Record<string, string>;
}

export interface SignalPage {
  title: string;
  unit: string;
  what: string;
  formula?: string;
  sign?: string;
  healthy?: string;
  differs?: string;
  range?: string;
  estimator?: string;
  reduction?: string;
}

export interface DetectorPage {
  code: string;
  summary: string;
  rule?: { title: string; text: string }[];
}

export interface Payload {
  schema: string;
  signs: { id: string; title: string }[];
  runs: Run[];
  signals: Record<string, SignalPage>;
  detectors: Record<string, DetectorPage>;
  refused: string[];
  /** What the runs are laid along; steps where nothing is said. */
  along?: Axis;
  language: string;
  languages: Record<string, string>;
  texts: Record<string, Record<string, string>>;
}
