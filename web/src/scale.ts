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
  const sizes: number[] = [];
  let positive = true;
  for (const c of curves) {
    for (const y of c.ys) {
      if (!Number.isFinite(y)) continue;
      if (y <= 0) positive = false;
      if (y !== 0) sizes.push(Math.abs(y));
    }
  }
  sizes.sort((a, b) => a - b);
  const typical = sizes[sizes.length >> 1] ?? 1;
  const largest = sizes[sizes.length - 1] ?? 1;
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
