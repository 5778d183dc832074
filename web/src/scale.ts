// Which vertical scale shows a strip best: linear unless a few values would press all the others flat.

import type { Curve } from "./curve";

export type Kind = "linear" | "log" | "asinh";

export interface Choice {
  kind: Kind;
  /** Where the asinh scale turns from linear to logarithmic. */
  threshold: number;
}

/** Largest over typical size, beyond which a linear scale shows nothing but the largest. */
const FLAT = 60;

/** What fits the data: the scale to begin with, and the other one that makes sense. */
export function choices(curves: Curve[]): [Choice, Choice] {
  const all = new Float64Array(curves.reduce((n, c) => n + c.ys.length, 0));
  let count = 0;
  let positive = true;
  for (const { ys } of curves) {
    for (let i = 0; i < ys.length; i++) {
      const y = ys[i] as number;
      if (!Number.isFinite(y)) continue;
      if (y <= 0) positive = false;
      if (y !== 0) all[count++] = Math.abs(y);
    }
  }
  const sizes = all.subarray(0, count).sort();
  const typical = sizes[count >> 1] ?? 1;
  const largest = sizes[count - 1] ?? 1;
  // A power of ten, because the axis is labelled at the threshold's multiples by powers of ten.
  const threshold = 10 ** Math.floor(Math.log10(typical));
  const curved: Choice = { kind: positive ? "log" : "asinh", threshold };
  const linear: Choice = { kind: "linear", threshold };
  return largest > FLAT * typical ? [curved, linear] : [linear, curved];
}

/** Ends of a linear scale around the data. */
export function linearRange(low: number | null, high: number | null): [number, number] {
  if (low === null || high === null || !Number.isFinite(low) || !Number.isFinite(high)) return [0, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  // What differs in the last digits only is flat.
  const pad = high - low > size * 1e-6 ? (high - low) * 0.08 : size * 0.1 || 0.5;
  return [low - pad, high + pad];
}
