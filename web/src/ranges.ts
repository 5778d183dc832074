// Zoomed in, the strips draw every value of the range that is shown: it is fetched, thinned to the width of the chart.

import type { Stretch } from "./api";
import { answerOf, Refusal } from "./api";
import type { Curve } from "./curve";
import { isThinned } from "./curve";
import { frames, numbers } from "./frames";
import type { Link } from "./link";
import type { Line } from "./many";
import type { Strip } from "./strip";

/** Milliseconds that a zoom must last before it is worth a request. */
const REST = 120;
/** Values asked for one pixel of a chart: a least, a greatest and a middle one for every two. */
const PER_PIXEL = 1.5;

export class Ranges {
  private readonly strips = new Set<Strip>();
  private timer = 0;
  private under: AbortController | null = null;
  private end: (() => void) | null = null;
  private link: Link | null = null;

  constructor(private readonly ids: string[]) {}

  follow(link: Link): void {
    this.link = link;
    this.end = link.onZoom(() => this.soon());
  }

  destroy(): void {
    this.end?.();
    this.under?.abort();
    clearTimeout(this.timer);
  }

  /** A strip came into view. */
  seen(strip: Strip): void {
    this.strips.add(strip);
    if (this.link?.range) this.soon();
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.under?.abort();
    this.timer = setTimeout(() => void this.fetch(), REST);
  }

  private async fetch(): Promise<void> {
    for (const strip of this.strips) if (!strip.root.isConnected) this.strips.delete(strip);
    const { range, axis } = this.link ?? {};
    if (!range || !axis) {
      for (const strip of this.strips) strip.refine(null);
      return;
    }
    const strips = [...this.strips].filter((s) => s.shows.curves.some(isThinned));
    const curves = strips.flatMap((s) => s.shows.curves);
    if (!curves.length) return;
    const width = Math.max(300, ...strips.map((s) => s.root.clientWidth));
    const under = (this.under = new AbortController());
    try {
      const answer = await answerOf(
        "/api/curves",
        [
          ...[...new Set(curves.map((c) => this.ids[c.run] ?? ""))].map((id): [string, string] => ["run", id]),
          ...[...new Set(curves.map(keyOf))].map((key): [string, string] => ["key", key]),
          ["along", axis],
          ["from", range[0]],
          ["to", range[1]],
          ["points", Math.round(width * PER_PIXEL)],
        ],
        under.signal,
      );
      for await (const frame of frames<{ curves: Stretch[] }>(answer)) {
        const columns = numbers(frame);
        const found = new Map(frame.said.curves.map((s) => [`${s.run} ${s.key}`, s]));
        for (const strip of strips) strip.refine(strip.shows.curves.map((c) => finer(c, found.get(`${this.ids[c.run]} ${keyOf(c)}`), columns)));
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      // Superseded, or the server is away: the coarser curve stays, and the page says when the connection is lost.
    }
  }
}

function keyOf(curve: Curve): string {
  return curve.series?.key ?? curve.metric;
}

function finer(curve: Curve, stretch: Stretch | undefined, columns: Float64Array[]): Curve {
  if (!stretch) return curve;
  const { steps, values, middle } = stretch;
  const line = (x: number, y: number): Line => ({ xs: columns[x] ?? curve.xs, ys: columns[y] ?? curve.ys });
  return { ...curve, ...line(steps, values), middle: middle && line(middle.steps, middle.values) };
}
