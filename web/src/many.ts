// Many lines in one chart, each over steps of its own. Aligning them all on one axis, as a table has to, costs more than drawing.

import uPlot from "uplot";

export interface Line {
  xs: Float64Array;
  ys: Float64Array;
}

/** uPlot's flag of paths that are stroked, and its number for a linear scale. */
const STROKED = 2;
const LINEAR = 1;

/** What uPlot is given in place of values: their ends, in steps and in height. */
export function ends(lines: Line[]): uPlot.AlignedData {
  const xs = lines.flatMap((l) => (l.xs.length ? [l.xs[0] ?? 0, l.xs[l.xs.length - 1] ?? 0] : []));
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  return [xs.length ? [low, high] : [], ...lines.map((l) => (xs.length ? extremes([l], low, high) : []))];
}

/** Least and greatest finite value within some steps; null where there is none. */
export function extremes(lines: Line[], from: number, to: number): [number | null, number | null] {
  let low = Infinity;
  let high = -Infinity;
  for (const { xs, ys } of lines) {
    for (let i = 0; i < xs.length; i++) {
      const [x, y] = [xs[i] as number, ys[i] as number];
      if (x < from || x > to || !Number.isFinite(y)) continue;
      if (y < low) low = y;
      if (y > high) high = y;
    }
  }
  return low <= high ? [low, high] : [null, null];
}

/** Draws a line over its own steps; values that are no number are gaps. */
export function paths({ xs, ys }: Line): uPlot.Series.PathBuilder {
  return (u) => {
    const stroke = new Path2D();
    const [low, high] = [u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 0];
    const origin = u.valToPos(low, "x", true);
    const by = (u.valToPos(high, "x", true) - origin) / (high - low || 1);
    const height = heights(u);
    let pen = false;
    for (let i = 0; i < xs.length; i++) {
      const [x, y] = [xs[i] as number, ys[i] as number];
      // One value beyond either end, so that the line reaches the edge.
      if ((xs[i + 1] ?? x) < low) continue;
      if (!Number.isFinite(y)) pen = false;
      else {
        const left = origin + (x - low) * by;
        if (pen) stroke.lineTo(left, height(y));
        else stroke.moveTo(left, height(y));
        pen = true;
      }
      if (x > high) break;
    }
    return { stroke, flags: STROKED };
  };
}

/** How high a value lies on the canvas; a straight scale needs no look at its kind for every value. */
function heights(u: uPlot): (y: number) => number {
  const { min, max, distr } = u.scales["y"] ?? {};
  if (distr !== LINEAR || min == null || max == null) return (y) => u.valToPos(y, "y", true);
  const floor = u.valToPos(min, "y", true);
  const by = (u.valToPos(max, "y", true) - floor) / (max - min || 1);
  return (y) => floor + (y - min) * by;
}
