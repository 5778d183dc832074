// What is drawn beneath and above the lines of a strip: healthy bands, findings, resumes, values that are no number.

import type uPlot from "uplot";
import type { Curve } from "./curve";
import type { Finding } from "./payload";
import { colour } from "./theme";

export interface Beneath {
  /** Ends of the healthy band in the strip's unit; null at an open end, the whole null where there is none. */
  band: { low: number | null; high: number | null } | null;
  findings: { finding: Finding; drawn: Extent; selected: boolean }[];
  resumes: number[];
}

/** Where a finding lies on the axis of its chart. */
export interface Extent {
  first: number;
  last: number;
  /** Ends of the stretch in which it began. */
  early: number;
  late: number;
}

/** Bands and findings, drawn before the lines. */
export function beneath(u: uPlot, marks: Beneath): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  if (marks.band) band(u, marks.band);
  const chosen = marks.findings.find((f) => f.selected);
  // Washes over each other would make mud: one finding has the ground, the others a line where they begin and a bar below.
  const [ground, ...others] = [...marks.findings].sort((a, b) => weight(b, chosen) - weight(a, chosen));
  for (const each of others) begin(u, each, 0.55);
  if (ground && ground.finding.severity === "info" && ground !== chosen) begin(u, ground, 0.55);
  else if (ground) shade(u, ground, ground === chosen);
  for (const step of marks.resumes) vertical(u, step, colour("--ink-faint"), [4, 4]);
  ctx.restore();
}

function band(u: uPlot, ends: { low: number | null; high: number | null }): void {
  const { ctx, bbox } = u;
  const at = (y: number | null, open: number): number => {
    if (y === null) return open;
    if (u.scales["y"]?.distr === 3 && y <= 0) return bbox.top + bbox.height;
    const position = u.valToPos(y, "y", true);
    return Number.isFinite(position) ? position : open;
  };
  const top = Math.max(bbox.top, at(ends.high, bbox.top));
  const bottom = Math.min(bbox.top + bbox.height, at(ends.low, bbox.top + bbox.height));
  if (bottom <= top) return;
  ctx.fillStyle = colour("--band");
  ctx.fillRect(bbox.left, top, bbox.width, bottom - top);
  ctx.strokeStyle = colour("--band-edge");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  for (const y of [top, bottom]) {
    if (y > bbox.top && y < bbox.top + bbox.height) {
      ctx.moveTo(bbox.left, y);
      ctx.lineTo(bbox.left + bbox.width, y);
    }
  }
  ctx.stroke();
  ctx.setLineDash([]);
}

type Marked = Beneath["findings"][number];

const GRAVITY = { critical: 3, warning: 2, info: 1 };

function weight(f: Marked, chosen: Marked | undefined): number {
  return f === chosen ? 10 : GRAVITY[f.finding.severity];
}

/** The ground of a finding, from its onset to its last step; darker where it may have begun. */
function shade(u: uPlot, marked: Marked, selected: boolean): void {
  const { ctx } = u;
  const { finding, drawn } = marked;
  const from = u.valToPos(drawn.first, "x", true);
  const to = u.valToPos(drawn.last, "x", true);
  ctx.fillStyle = colour(`--${finding.severity}`);
  ctx.globalAlpha = selected ? 0.17 : 0.08;
  ctx.fillRect(from, u.bbox.top, Math.max(to - from, 2 * devicePixelRatio), u.bbox.height);
  const { early, late } = drawn;
  if (late > early) {
    const left = u.valToPos(early, "x", true);
    ctx.globalAlpha = selected ? 0.12 : 0.07;
    ctx.fillRect(left, u.bbox.top, u.valToPos(late, "x", true) - left, u.bbox.height);
  }
  begin(u, marked, 1);
}

/** The step where a finding begins, and how long it lasts as a bar along the lower edge. */
function begin(u: uPlot, { finding, drawn }: Marked, alpha: number): void {
  const { ctx, bbox } = u;
  const tone = colour(`--${finding.severity}`);
  const from = u.valToPos(drawn.first, "x", true);
  const to = u.valToPos(drawn.last, "x", true);
  ctx.globalAlpha = alpha;
  vertical(u, drawn.first, tone, []);
  ctx.fillStyle = tone;
  ctx.fillRect(
    from,
    bbox.top + bbox.height - 2 * devicePixelRatio,
    Math.max(to - from, 2 * devicePixelRatio),
    2 * devicePixelRatio,
  );
  ctx.globalAlpha = 1;
}

function vertical(u: uPlot, step: number, tone: string, dash: number[]): void {
  const { ctx, bbox } = u;
  const x = Math.round(u.valToPos(step, "x", true)) + 0.5;
  ctx.strokeStyle = tone;
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash(dash.map((d) => d * devicePixelRatio));
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
}

/** A mark at every step whose value is no number: a cross for NaN, an arrow for an infinity. */
export function notFinite(u: uPlot, curves: Curve[]): void {
  const { ctx, bbox } = u;
  const size = 3.2 * devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = colour("--critical");
  ctx.lineWidth = 1.4 * devicePixelRatio;
  for (const [row, curve] of curves.entries()) {
    if (!curve.facts.nan && !curve.facts.infinite) continue;
    let drawn = -Infinity;
    const y = bbox.top + bbox.height - (6 + 9 * Math.min(row, 3)) * devicePixelRatio;
    for (let i = 0; i < curve.ys.length; i++) {
      const value = curve.ys[i] ?? NaN;
      if (Number.isFinite(value)) continue;
      const x = u.valToPos(curve.xs[i] ?? NaN, "x", true);
      if (!(x >= bbox.left && x <= bbox.left + bbox.width) || x - drawn < 2.5 * size) continue;
      drawn = x;
      ctx.beginPath();
      if (Number.isNaN(value)) cross(ctx, x, y, size);
      else arrow(ctx, x, y, value > 0 ? -size : size);
      ctx.stroke();
    }
  }
  ctx.restore();
}

function cross(ctx: CanvasRenderingContext2D, x: number, y: number, size: number): void {
  ctx.moveTo(x - size, y - size);
  ctx.lineTo(x + size, y + size);
  ctx.moveTo(x - size, y + size);
  ctx.lineTo(x + size, y - size);
}

function arrow(ctx: CanvasRenderingContext2D, x: number, y: number, up: number): void {
  ctx.moveTo(x - Math.abs(up), y);
  ctx.lineTo(x, y + up);
  ctx.lineTo(x + Math.abs(up), y);
}
