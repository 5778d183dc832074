// What is drawn beneath the lines of a comparison: the band around each setting's mean, and where two settings part.

import type uPlot from "uplot";
import { colour } from "./theme";

export interface Band {
  xs: Float64Array;
  low: Float64Array;
  high: Float64Array;
  colour: string;
}

/** Ends of all bands; null where there are none. */
export function reachOf(bands: Band[]): [number, number] | null {
  const low = bands.flatMap((b) => [...b.low].filter(Number.isFinite));
  const high = bands.flatMap((b) => [...b.high].filter(Number.isFinite));
  return low.length ? [Math.min(...low), Math.max(...high)] : null;
}

/** Bands first, then a line where the curves part for good. */
export function spread(u: uPlot, bands: Band[], parting: number | null): void {
  const { ctx, bbox } = u;
  ctx.save();
  ctx.beginPath();
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
  ctx.clip();
  for (const band of bands) for (const [from, to] of stretches(band)) fill(u, band, from, to);
  if (parting !== null) part(u, parting);
  ctx.restore();
}

/** Runs of neighbouring stretches in which the band is known. */
function stretches(band: Band): [number, number][] {
  const out: [number, number][] = [];
  let from = -1;
  for (let i = 0; i <= band.xs.length; i++) {
    const known = i < band.xs.length && Number.isFinite(band.low[i]) && Number.isFinite(band.high[i]);
    if (known && from < 0) from = i;
    if (!known && from >= 0) {
      out.push([from, i]);
      from = -1;
    }
  }
  return out;
}

function fill(u: uPlot, band: Band, from: number, to: number): void {
  const { ctx, bbox } = u;
  const x = (i: number): number => u.valToPos(band.xs[i] ?? NaN, "x", true);
  const floor = bbox.top + bbox.height;
  const y = (v: number): number => {
    // What lies below every place of a logarithmic scale is at its lower edge.
    if (u.scales["y"]?.distr === 3 && v <= 0) return floor;
    return u.valToPos(v, "y", true);
  };
  ctx.beginPath();
  for (let i = from; i < to; i++) ctx.lineTo(x(i), y(band.high[i] ?? NaN));
  for (let i = to - 1; i >= from; i--) ctx.lineTo(x(i), y(band.low[i] ?? NaN));
  ctx.closePath();
  ctx.fillStyle = colour(band.colour);
  ctx.globalAlpha = 0.16;
  ctx.fill();
  ctx.globalAlpha = 1;
}

function part(u: uPlot, at: number): void {
  const { ctx, bbox } = u;
  const x = Math.round(u.valToPos(at, "x", true)) + 0.5;
  ctx.strokeStyle = colour("--ink");
  ctx.lineWidth = devicePixelRatio;
  ctx.setLineDash([3 * devicePixelRatio, 3 * devicePixelRatio]);
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.setLineDash([]);
  // A wedge that opens to the right: from here on the curves go their own ways.
  const size = 5 * devicePixelRatio;
  ctx.fillStyle = colour("--ink");
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x + 1.6 * size, bbox.top);
  ctx.lineTo(x, bbox.top + size);
  ctx.closePath();
  ctx.fill();
}
