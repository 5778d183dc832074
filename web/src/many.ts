// Many lines in one chart, each over steps of its own. Aligning them all on one axis, as a table has to, costs more than drawing.

import uPlot from "uplot";

export interface Line {
  xs: Float64Array;
  ys: Float64Array;
}

/** uPlot's flag of paths that are stroked. */
const STROKED = 2;
/** From how many curves on a chart is drawn so. */
export const MANY = 7;

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
    let pen = false;
    for (let i = 0; i < xs.length; i++) {
      const [x, y] = [xs[i] as number, ys[i] as number];
      // One value beyond either end, so that the line reaches the edge.
      if ((xs[i + 1] ?? x) < low) continue;
      if (!Number.isFinite(y)) pen = false;
      else {
        const [left, top] = [u.valToPos(x, "x", true), u.valToPos(y, "y", true)];
        if (pen) stroke.lineTo(left, top);
        else stroke.moveTo(left, top);
        pen = true;
      }
      if (x > high) break;
    }
    return { stroke, flags: STROKED };
  };
}
