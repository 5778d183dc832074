// The chart of a strip: uPlot with the page's ways of drawing. It knows lines and scales, nothing of findings.

import uPlot from "uplot";
import type { Curve } from "./curve";
import { ticks } from "./format";
import { ends, extremes, paths } from "./many";
import type { Line } from "./many";
import { MANY } from "./readouts";
import type { Choice } from "./scale";
import { linearRange } from "./scale";
import type { Level } from "./smooth";
import { smoothed } from "./smooth";
import { colour } from "./theme";
import { STROKES } from "./tones";

export const AXIS_WIDTH = 58;
const AXIS_HEIGHT = 24;
/** Below this many values each of them is a dot too. */
const FEW = 60;
/** Width of one of many lines. Wider ones take a browser many times as long to draw, and hide each other. */
const HAIR = 1;
/** Share of the lines' own range that bands may add at either end. */
const BESIDE = 0.3;
/** Distances between whole steps that are written. */
const WHOLE = Array.from({ length: 14 }, (_, i) => 10 ** i).flatMap((power) => [1, 2, 5].map((n) => n * power));

export interface Look {
  width: number;
  height: number;
  /** Room above the lines, for flags. */
  lane: number;
  scale: Choice;
  /** Ends of the bands around the lines, which a linear scale makes some room for. */
  reach?: [number, number] | null;
  smoothing: Level;
  /** Whether the steps are written below. */
  steps: boolean;
  /** Whether they are whole numbers, so that nothing between two of them is written. */
  whole: boolean;
  beneath: (u: uPlot) => void;
  above: (u: uPlot) => void;
  moved: (step: number | null) => void;
  selected: (from: number, to: number) => void;
  reset: () => void;
}

export function fullHeight(look: { height: number; lane: number; steps: boolean }): number {
  return look.height + look.lane + (look.steps ? AXIS_HEIGHT : 0);
}

export function plot(curves: Curve[], look: Look): uPlot {
  if (curves.length >= MANY) return overlaid(curves, look);
  const tables: uPlot.AlignedData[] = [];
  const series: uPlot.Series[] = [{}];
  for (const c of curves) {
    const smooth = through(c, look.smoothing);
    tables.push([c.xs, drawable(c.ys)]);
    if (smooth) tables.push([smooth.xs, drawable(smooth.ys)]);
    series.push(line(c, smooth !== null));
    if (smooth) series.push({ ...line(c, false), width: 1.6, points: { show: false } });
  }
  return new uPlot(options(series, look), uPlot.join(tables));
}

/** Many curves, each over steps of its own. */
function overlaid(curves: Curve[], look: Look): uPlot {
  const series: uPlot.Series[] = [{}];
  const lines: Line[] = [];
  for (const c of curves) {
    const smooth = through(c, look.smoothing);
    const drawn: [Line, uPlot.Series][] = [[c, line(c, smooth !== null)]];
    if (smooth) drawn.push([smooth, line(c, false)]);
    for (const [each, style] of drawn) {
      lines.push(each);
      // A line that stands for others is one of few.
      const width = c.weight === "mean" ? (style.width ?? HAIR) : HAIR;
      series.push({ ...style, width, points: { show: false }, paths: paths(each) });
    }
  }
  const all = options(series, look);
  let shown: [number, number] = [0, 1];
  const { kind } = look.scale;
  const scales: uPlot.Scales = {
    x: { ...all.scales?.["x"], range: (_u, low, high) => (shown = [low, high]) },
    y: {
      ...all.scales?.["y"],
      range: () => {
        const [low, high] = extremes(lines, ...shown);
        if (kind === "linear" || low === null || high === null) return linearRange(...stretched(low, high, look.reach));
        return kind === "log" ? uPlot.rangeLog(low, high, 10, false) : uPlot.rangeAsinh(low, high, 10, false);
      },
    },
  };
  return new uPlot({ ...all, scales }, ends(lines));
}

/** The line through a curve's raw values; null where they are drawn alone. */
function through(c: Curve, level: Level): { xs: Float64Array; ys: Float64Array } | null {
  if (level === "off" || c.weight) return null;
  const { xs, ys } = c.middle ?? c;
  const smooth = smoothed(ys, level) ?? (c.middle ? ys : null);
  return smooth && { xs, ys: smooth };
}

/** Values as uPlot wants them: null is a gap. */
function drawable(ys: Float64Array): (number | null)[] {
  return Array.from(ys, (y) => (Number.isFinite(y) ? y : null));
}

function line(c: Curve, faint: boolean): uPlot.Series {
  // Values that stand alone between others that are no number make no line.
  const finite = c.facts.n - c.facts.nan - c.facts.infinite;
  const few = Math.min(c.ys.length, finite) <= FEW && c.weight === undefined;
  const strength = c.weight === "member" ? 42 : faint ? (c.middle ? 20 : 38) : 100;
  return {
    stroke: () => colour(c.colour),
    alpha: strength / 100,
    width: c.weight === "mean" ? 2 : strength < 100 ? 1 : 1.35,
    dash: [...(STROKES[c.stroke] ?? [])],
    points: {
      show: few,
      size: few && finite > 20 ? 3.5 : 5,
      fill: () => colour(c.colour),
      stroke: () => colour(c.colour),
    },
  };
}

/** A power of ten or 0; the lines between them would fill a logarithmic strip with grid. */
function decade(v: number): number | null {
  return v === 0 || Math.abs(Math.log10(Math.abs(v)) % 1) < 1e-9 ? v : null;
}

/** Room for bands, but not so much that the lines become flat. */
function stretched(
  low: number | null,
  high: number | null,
  reach: Look["reach"],
): [number | null, number | null] {
  if (!reach || low === null || high === null) return [low, high];
  const most = BESIDE * (high - low);
  return [Math.max(Math.min(low, reach[0]), low - most), Math.min(Math.max(high, reach[1]), high + most)];
}

function isShown(u: uPlot, v: number): boolean {
  const { min, max } = u.scales["y"] ?? {};
  return v >= (min ?? -Infinity) && v <= (max ?? Infinity);
}

function options(series: uPlot.Series[], look: Look): uPlot.Options {
  const { kind, threshold } = look.scale;
  const y: uPlot.Scale =
    kind === "linear"
      ? { range: (_u, low, high) => linearRange(...stretched(low, high, look.reach)) }
      : kind === "log"
        ? { distr: 3, log: 10 }
        : { distr: 4, asinh: threshold };
  return {
    width: look.width,
    height: fullHeight(look),
    series,
    legend: { show: false },
    padding: [8 + look.lane, 20, look.steps ? 0 : 6, 0],
    scales: { x: { time: false }, y },
    axes: [
      {
        show: look.steps,
        size: AXIS_HEIGHT,
        stroke: () => colour("--ink-soft"),
        font: "11px system-ui, sans-serif",
        gap: 4,
        ...(look.whole ? { incrs: WHOLE } : {}),
        grid: { stroke: () => colour("--grid"), width: 1 },
        ticks: { show: false },
        values: (_u, splits) => ticks(splits),
      },
      {
        size: AXIS_WIDTH,
        stroke: () => colour("--ink-soft"),
        font: "11px system-ui, sans-serif",
        gap: 6,
        space: 26,
        grid: {
          stroke: () => colour("--grid"),
          width: 1,
          filter: (_u, splits) => (kind === "linear" ? splits : splits.map(decade)),
        },
        ticks: { show: false },
        // On the asinh scale uPlot splits beyond the ends as well.
        values: (u, splits) => ticks(splits.map((v) => (isShown(u, v) ? v : null))),
      },
    ],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: 5 },
      points: { show: false },
      bind: {
        dblclick: () => () => {
          look.reset();
          return null;
        },
      },
    },
    hooks: {
      drawAxes: [look.beneath],
      draw: [look.above],
      setCursor: [
        (u) => look.moved(u.cursor.left === undefined || u.cursor.left < 0 ? null : u.posToVal(u.cursor.left, "x")),
      ],
      setSelect: [
        (u) => {
          if (u.select.width < 2) return;
          look.selected(u.posToVal(u.select.left, "x"), u.posToVal(u.select.left + u.select.width, "x"));
          u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        },
      ],
    },
  };
}
