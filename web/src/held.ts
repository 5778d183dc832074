// The runs that a page of the dashboard holds, each as its newest frame left it: of what grows only the end is sent.

import type { Summary } from "./api";
import { statusOf } from "./filter";
import type { Frame } from "./frames";
import { numbers } from "./frames";
import type { Column } from "./columns";
import type { DetectorPage, Run, Series, SignalPage, UnknownSeries } from "./payload";

/** What the frame of a run says. */
export interface RunFrame {
  id: string;
  version: string;
  /** The version that it changes; null where it is the whole run. */
  base: string | null;
  run: Partial<Run>;
  /** Of every series what is new, where the frame changes a version and the series are the same ones. */
  series?: Partial<Series>[] | null;
  signals: Record<string, SignalPage>;
  detectors: Record<string, DetectorPage>;
  texts: Record<string, Record<string, string>>;
}

interface Held {
  version: string;
  run: Run;
  columns: Float64Array[];
}

export class HeldRuns {
  readonly signals: Record<string, SignalPage> = {};
  readonly detectors: Record<string, DetectorPage> = {};
  private readonly runs = new Map<string, Held>();

  /** What the server has to know of it: which versions are here. */
  get versions(): [string, string][] {
    return [...this.runs].map(([id, { version }]) => ["have", `${id}:${version}`]);
  }

  has(id: string): boolean {
    return this.runs.has(id);
  }

  take(frame: Frame<RunFrame>): void {
    const { said } = frame;
    const old = said.base === null ? undefined : this.runs.get(said.id);
    const run = { ...old?.run, ...said.run } as Run;
    if (old && said.series) run.series = old.run.series.map((s, i) => ({ ...s, ...said.series?.[i] }));
    this.runs.set(said.id, { version: said.version, run, columns: numbers(frame, old?.columns) });
    Object.assign(this.signals, said.signals);
    Object.assign(this.detectors, said.detectors);
  }

  /** A run as the page draws it; one without curves where its frame has not come yet. */
  shown(summary: Summary): Run {
    const held = this.runs.get(summary.id);
    if (!held) return blank(summary);
    const { run, columns } = held;
    const column = (at: Column): Column => (typeof at === "number" ? (columns[at] ?? new Float64Array(0)) : at);
    const drawn = <T extends UnknownSeries>(s: T): T => ({
      ...s,
      values: column(s.values),
      middle: s.middle && { ...s.middle, values: column(s.middle.values) },
    });
    const counters = Object.entries(run.counters).map(([k, c]) => [k, c && { ...c, values: column(c.values) }]);
    return {
      ...run,
      axes: run.axes.map(column),
      counters: Object.fromEntries(counters) as Run["counters"],
      series: run.series.map(drawn),
      unknown: run.unknown.map(drawn),
    };
  }
}

function blank(summary: Summary): Run {
  const { name, dialect, rows, last_step } = summary;
  return {
    name,
    dialect,
    last_step,
    rows,
    path: "",
    step_axis: "",
    first_step: null,
    verdict: { status: statusOf(summary), confidence: "", sure: "", title: summary.title, text: "" },
    last_good_step: null,
    counts: {},
    phases: [],
    findings: [],
    stories: [],
    advice: [],
    unchecked: [],
    ignored: {},
    notes: [],
    resumes: [],
    series: [],
    strips: [],
    unknown: [],
    unknown_names: [],
    axes: [],
    counters: {},
    samples: [],
    config: {},
    made_with: {},
  };
}
