// Smoothing that hides nothing: a running median is drawn over the raw line, never instead of it.

export type Level = "off" | "light" | "strong";

const SHARE: Record<Exclude<Level, "off">, number> = { light: 0.02, strong: 0.08 };
/** Below this many values a line needs no smoothing. */
const FEW = 40;

/** The running median over a centred window; NaN stays where it is. Null where there is nothing to smooth. */
export function smoothed(ys: Float64Array, level: Level): Float64Array | null {
  if (level === "off" || ys.length < FEW) return null;
  const half = Math.max(2, Math.round((ys.length * SHARE[level]) / 2));
  const out = new Float64Array(ys.length);
  const window: number[] = [];
  for (let i = 0; i < Math.min(half, ys.length); i++) insert(window, ys[i] ?? NaN);
  for (let i = 0; i < ys.length; i++) {
    if (i + half < ys.length) insert(window, ys[i + half] ?? NaN);
    if (i - half - 1 >= 0) remove(window, ys[i - half - 1] ?? NaN);
    out[i] = Number.isFinite(ys[i]) ? median(window) : NaN;
  }
  return out;
}

function median(sorted: number[]): number {
  const middle = sorted.length >> 1;
  const high = sorted[middle] ?? NaN;
  return sorted.length % 2 ? high : ((sorted[middle - 1] ?? NaN) + high) / 2;
}

function insert(sorted: number[], y: number): void {
  if (Number.isFinite(y)) sorted.splice(place(sorted, y), 0, y);
}

function remove(sorted: number[], y: number): void {
  if (Number.isFinite(y)) sorted.splice(place(sorted, y), 1);
}

/** First position whose value is not less than `y`. */
function place(sorted: number[], y: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle] ?? 0) < y) low = middle + 1;
    else high = middle;
  }
  return low;
}
