// Runs along what they consumed instead of their steps: where a step lies in episodes or tokens.

import type { LoggedCurve } from "./curve";
import { steps } from "./curve";
import type { Axis } from "./format";
import type { Run } from "./payload";

export type Placed = (step: number) => number;

const AXES: Axis[] = ["step", "episodes", "tokens"];

/** What all of some runs count. */
export function axesOf(runs: Run[]): Axis[] {
  return AXES.filter((axis) => axis === "step" || runs.every((r) => r.counters[axis] || !r.series.length));
}

/** Where the steps of a run lie on an axis; between two rows that count it, between their counts. */
export function placedOn(run: Run | undefined, axis: Axis): Placed {
  const counter = axis === "step" ? undefined : run?.counters[axis];
  if (!run || !counter) return (step) => step;
  const xs = steps(run.axes[counter.axis]);
  const counts = steps(counter.values);
  const last = xs.length - 1;
  return (step) => {
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((xs[middle] ?? 0) < step) low = middle + 1;
      else high = middle;
    }
    // Beyond the rows that count, as fast as between the two nearest.
    const at = Math.min(Math.max(low, 1), last);
    const [a, b] = [xs[at - 1] ?? 0, xs[at] ?? 0];
    const [from, to] = [counts[at - 1] ?? 0, counts[at] ?? 0];
    return last < 1 || b === a ? (counts[0] ?? step) : from + ((step - a) / (b - a)) * (to - from);
  };
}

/** Moves curves of a run; those over the same steps keep sharing one array. */
export function mover(run: Run, axis: Axis): (curve: LoggedCurve) => LoggedCurve {
  if (axis === "step") return (curve) => curve;
  const placed = placedOn(run, axis);
  const known = new Map<Float64Array, Float64Array>();
  const moved = (xs: Float64Array): Float64Array => {
    let own = known.get(xs);
    if (!own) known.set(xs, (own = xs.map(placed)));
    return own;
  };
  return (curve) => ({
    ...curve,
    xs: moved(curve.xs),
    middle: curve.middle && { ...curve.middle, xs: moved(curve.middle.xs) },
  });
}
