// One line of a chart: the numbers of one series of one run, ready to draw and to ask.

import { decode, num } from "./columns";
import type { Column, Encoded } from "./columns";
import type { Facts, Run, Series, UnknownSeries } from "./payload";
import type { Tone } from "./tones";

export interface Curve extends Tone {
  metric: string;
  /** What a legend calls it: the metric, or which run it is of where several are drawn. */
  label: string;
  run: number;
  /** What the catalogue knows it as; null for names that nobody knows. */
  series: Named | null;
  facts: Facts;
  xs: Float64Array;
  ys: Float64Array;
  /** The line through a thinned curve, whose own values are the extremes only. */
  middle: { xs: Float64Array; ys: Float64Array } | null;
  /** How it is drawn: a line among others, one that stands for others, or one of those that it stands for. */
  weight?: "mean" | "member";
}

export type Named = Pick<Series, "key" | "signal">;

/** A curve of a report, of which the page knows all that the payload says. */
export interface LoggedCurve extends Curve {
  series: Series | null;
}

const NONE: Column = { n: 0 };
const decoded = new WeakMap<Encoded, Float64Array>();

/** The steps of an axis; the same array for every curve over it, so that charts need not align them. */
export function steps(column: Column = NONE): Float64Array {
  if (column instanceof Float64Array || typeof column === "number") return decode(column);
  let known = decoded.get(column);
  if (!known) decoded.set(column, (known = decode(column)));
  return known;
}

export function curve(
  run: Pick<Run, "axes">,
  at: number,
  series: Series | UnknownSeries,
  look: Tone,
): LoggedCurve {
  return {
    metric: series.metric,
    label: series.metric,
    run: at,
    series: "key" in series ? series : null,
    facts: series.facts,
    xs: steps(run.axes[series.axis]),
    ys: decode(series.values),
    middle: series.middle && { xs: steps(run.axes[series.middle.axis]), ys: decode(series.middle.values) },
    ...look,
  };
}

/** Whether the page carries the extremes of a longer series instead of every value. */
export function isThinned(c: Curve): boolean {
  return c.xs.length < c.facts.n;
}

/** Position of the value nearest to a step; -1 where there is none. */
export function nearest(c: { xs: Float64Array }, step: number): number {
  const { xs } = c;
  if (!xs.length) return -1;
  let low = 0;
  let high = xs.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((xs[middle] ?? 0) < step) low = middle + 1;
    else high = middle;
  }
  return low > 0 && step - (xs[low - 1] ?? 0) < (xs[low] ?? 0) - step ? low - 1 : low;
}

/** Ends of all runs, on an axis. */
export function wholeRange(runs: Run[], placed: (run: Run) => (step: number) => number): [number, number] {
  const ends = runs.flatMap((r) =>
    r.first_step === null || r.last_step === null ? [] : [num(r.first_step), num(r.last_step)].map(placed(r)),
  );
  const low = ends.length ? Math.min(...ends) : 0;
  const high = ends.length ? Math.max(...ends) : 1;
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}
