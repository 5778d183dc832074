// From a comparison to strips: each setting's mean with its band, its runs behind it, and where two settings part.

import { decode, num } from "./columns";
import type { Compared, ComparePayload, Pair } from "./compare_payload";
import type { Band } from "./compare_spread";
import { direction, interval, markOf, sameText, shortLabels, word } from "./compare_words";
import type { Curve } from "./curve";
import { steps } from "./curve";
import { h } from "./dom";
import type { Link, Range } from "./link";
import type { Group } from "./model";
import { titleOf } from "./model";
import type { Facts } from "./payload";
import type { StripModel } from "./strip";
import { told } from "./text";
import { tone } from "./tones";

export interface Drawn {
  /** Positions of the settings that are drawn. */
  groups: Set<number>;
  /** Whether every run has its own thin line. */
  members: boolean;
  /** The two settings whose differences are shown. */
  pair: Pair | undefined;
}

/** Strips by vital sign. */
export function strips(payload: ComparePayload, drawn: Drawn): Group[] {
  const all = payload.signals.map((signal) => ({ sign: signal.sign, model: strip(payload, signal, drawn) }));
  return payload.signs
    .map((sign) => ({
      id: sign.id,
      title: told(sign.title),
      strips: all.filter((s) => s.sign === sign.id && s.model.curves.length).map((s) => s.model),
    }))
    .filter((g) => g.strips.length);
}

/** The identifier of a signal's strip. */
export function stripOf(key: string): string {
  return `compare/${key}`;
}

/** Ends of everything that is drawn. */
export function range(payload: ComparePayload): Range {
  const ends = payload.signals.flatMap((s) =>
    s.lines.flatMap((l) => {
      const xs = steps(payload.axes[l.axis]);
      return xs.length ? [xs[0] ?? NaN, xs[xs.length - 1] ?? NaN] : [];
    }),
  );
  const [low, high] = ends.length ? [Math.min(...ends), Math.max(...ends)] : [0, 1];
  return low < high ? [low, high] : [low - 0.5, high + 0.5];
}

function strip(payload: ComparePayload, signal: Compared, drawn: Drawn): StripModel {
  const page = signal.page === null ? undefined : payload.pages[signal.page];
  const title = page ? titleOf(told(page.title), signal.page ?? "", signal.label, signal.held_out) : signal.metric;
  const labels = shortLabels(payload);
  const means: Curve[] = [];
  const bands: Band[] = [];
  const xs = steps(payload.axes[signal.axis]);
  for (const [g, group] of signal.groups.entries()) {
    if (!group || !drawn.groups.has(g)) continue;
    const ys = decode(group.mean);
    means.push({
      ...tone(g),
      metric: signal.metric,
      label: labels[g] ?? "",
      run: g,
      series: signal.page === null ? null : { key: signal.key, signal: signal.page },
      facts: factsOf(xs, ys),
      xs,
      ys,
      middle: null,
      weight: "mean",
    });
    if (!group.half) continue;
    const half = decode(group.half);
    const edge = (side: number): Float64Array => ys.map((y, i) => y + side * (half[i] ?? NaN));
    bands.push({ xs, low: edge(-1), high: edge(1), colour: tone(g).colour });
  }
  const difference = drawn.pair?.differences.find((d) => d.signal === signal.key);
  return {
    id: stripOf(signal.key),
    title,
    unit: signal.unit,
    curves: [...(drawn.members ? members(payload, signal, drawn) : []), ...means],
    band: null,
    findings: [],
    resumes: [],
    spread: {
      bands,
      parting: difference?.parts_at === null || difference === undefined ? null : num(difference.parts_at),
    },
    note: note(signal, drawn),
  };
}

function members(payload: ComparePayload, signal: Compared, drawn: Drawn): Curve[] {
  return signal.lines.flatMap((line) => {
    const g = payload.groups.findIndex((group) => group.runs.includes(line.run));
    if (!drawn.groups.has(g)) return [];
    return [
      {
        ...tone(g),
        metric: line.metric,
        label: payload.runs[line.run]?.short_name ?? "",
        run: line.run,
        series: null,
        facts: line.facts,
        xs: steps(payload.axes[line.axis]),
        ys: decode(line.values),
        middle: null,
        weight: "member" as const,
      },
    ];
  });
}

function note(signal: Compared, { pair }: Drawn): HTMLElement | null {
  const difference = pair?.differences.find((d) => d.signal === signal.key);
  if (!pair || !difference) return null;
  const way = direction(difference, signal);
  return h(
    "p",
    { class: `strip-note ${way}`, title: way === "same" ? sameText(pair) : word(way) },
    h("span", { "aria-hidden": "true" }, `${markOf(way)} `),
    way === "same" || way === "unknown" ? word(way) : interval(difference),
  );
}

function factsOf(xs: Float64Array, ys: Float64Array): Facts {
  const finite = [...ys.keys()].filter((i) => Number.isFinite(ys[i]));
  const last = ys.length - 1;
  const facts: Facts = { n: ys.length, nan: 0, infinite: 0, last: ys[last] ?? NaN, last_step: xs[last] ?? NaN };
  if (!finite.length) return facts;
  const sorted = [...finite].sort((a, b) => (ys[a] ?? 0) - (ys[b] ?? 0));
  const [low, high] = [sorted[0] ?? 0, sorted[sorted.length - 1] ?? 0];
  const middle = sorted.length / 2;
  const [a, b] = [sorted[Math.ceil(middle) - 1] ?? 0, sorted[Math.floor(middle)] ?? 0];
  return {
    ...facts,
    first: ys[finite[0] ?? 0] ?? NaN,
    median: ((ys[a] ?? NaN) + (ys[b] ?? NaN)) / 2,
    min: ys[low] ?? NaN,
    min_step: xs[low] ?? NaN,
    max: ys[high] ?? NaN,
    max_step: xs[high] ?? NaN,
  };
}

/** Bring a signal's strip into view and give it the keyboard. */
export function reveal(root: HTMLElement, link: Link, key: string, at: number | null): void {
  const found = [...root.querySelectorAll<HTMLElement>(".strip")].find((s) => s.dataset["strip"] === stripOf(key));
  if (!found) return;
  const closed = found.closest("details");
  if (closed) closed.open = true;
  found.scrollIntoView({ block: "center" });
  found.querySelector<HTMLElement>(".plot")?.focus({ preventScroll: true });
  link.look(at);
}
