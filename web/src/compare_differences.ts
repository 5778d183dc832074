// Two settings: every signal's difference with its interval as a bar about nought, what cannot be told apart, and what
// is worse.

import { num } from "./columns";
import type { ComparePayload, Difference, Pair } from "./compare_payload";
import {
  differs,
  direction,
  interval,
  known,
  labelOf,
  levelText,
  markOf,
  sameText,
  short,
  signalOf,
  within,
  word,
} from "./compare_words";
import { h, svg } from "./dom";
import { place } from "./format";
import { listed } from "./phrases";
import { t, told } from "./text";

/** Brings the strip of a signal into view, its crosshair at a place. */
export type Reveal = (key: string, at: number | null) => void;

/** Regressions that are read at once. */
const MOST_WORSE = 6;
const BAR = { width: 72, height: 14 };

/** What is worse in the second setting; null where nothing is. */
export function worse(payload: ComparePayload, pair: Pair | undefined): HTMLElement | null {
  if (!pair?.regressions.length) return null;
  const said = pair.regressions.map((r) =>
    h("li", {}, h("span", { class: "cross", "aria-hidden": "true" }, "✗"), h("span", {}, told(r.says))),
  );
  return h(
    "section",
    { class: "worse" },
    h(payload.pairs.length > 1 ? "h3" : "h2", {}, t("Worse than {first}", { first: labelOf(payload, pair.first) })),
    h("ul", {}, ...said.slice(0, MOST_WORSE)),
    said.length > MOST_WORSE
      ? h(
          "details",
          {},
          h("summary", {}, t("and {n} more", { n: said.length - MOST_WORSE })),
          h("ul", {}, ...said.slice(MOST_WORSE)),
        )
      : null,
  );
}

export function differences(payload: ComparePayload, pair: Pair, reveal: Reveal): HTMLElement {
  const other = pair.differences.filter(differs);
  const same = pair.differences.filter((d) => d.verdict === "not distinguishable");
  const unknown = pair.differences.filter((d) => d.verdict === "cannot tell");
  const outcome = (d: Difference): boolean => signalOf(payload, d.signal)?.outcome ?? false;
  const rows = (some: Difference[]): HTMLElement =>
    h("ol", { class: "differences" }, ...some.map((d) => row(payload, pair, d, reveal)));
  const rest = same.filter((d) => !outcome(d));
  return h(
    "section",
    { class: "pair" },
    h(
      "h2",
      {},
      t("{second} against {first}", { second: labelOf(payload, pair.second), first: labelOf(payload, pair.first) }),
    ),
    h(
      "p",
      { class: "more" },
      within(pair)
        ? t(
            "One run each: what differs is said of these two runs. Whether the settings did it, only more seeds can tell.",
          )
        : t(
            "Difference of the means at the end with its 95 % interval; the line in the middle is no difference. Then the step from which the curves stay apart.",
          ),
    ),
    pair.began && payload.pairs.length > 1 ? h("p", { class: "began" }, told(pair.began)) : null,
    payload.pairs.length > 1 ? worse(payload, pair) : null,
    other.length ? rows(other) : h("p", { class: "nothing" }, t("No signal differs beyond the noise.")),
    same.some(outcome) ? h("h3", {}, sameText(pair)) : null,
    same.some(outcome) ? rows(same.filter(outcome)) : null,
    rest.length ? h("details", {}, h("summary", {}, `${sameText(pair)} (${rest.length})`), rows(rest)) : null,
    unknown.length
      ? h(
          "p",
          { class: "more" },
          t("Too few rows to judge ({n}): {names}", {
            n: unknown.length,
            names: listed(unknown.map((d) => signalOf(payload, d.signal)?.metric ?? d.signal)),
          }),
        )
      : null,
  );
}

function row(payload: ComparePayload, pair: Pair, d: Difference, reveal: Reveal): HTMLElement | null {
  const signal = signalOf(payload, d.signal);
  if (!signal) return null;
  const way = direction(d, signal);
  const at = d.parts_at === null ? null : num(d.parts_at);
  const [first, second] = [signal.levels[pair.first], signal.levels[pair.second]];
  const where = (x: number): string => place(Math.round(x), payload.axis);
  const end = (level: typeof first): string => (level ? short(known(level.mean)) : "–");
  return h(
    "li",
    { class: `difference ${way}`, "data-signal": d.signal },
    h(
      "span",
      { class: "difference-head" },
      h("span", { class: "way", role: "img", "aria-label": word(way), title: word(way) }, markOf(way)),
      h("button", { type: "button", class: "metric", click: () => reveal(d.signal, at) }, signal.metric),
      h(
        "span",
        { class: "levels", title: `${levelText(first)} → ${levelText(second)}` },
        `${end(first)} → ${end(second)}`,
      ),
    ),
    h(
      "span",
      { class: "difference-body" },
      forest(d),
      h("span", { class: "interval" }, interval(d)),
      at === null
        ? null
        : h("span", { class: "when", title: t("apart from {place}", { place: where(at) }) }, where(at)),
    ),
  );
}

/** The interval about nought, on a scale of its own: units differ from signal to signal. */
function forest(d: Difference): SVGElement {
  const [low, middle, high] = [known(d.low), known(d.difference), known(d.high)];
  const reach = Math.max(...[low, middle, high].filter(Number.isFinite).map(Math.abs), 0) * 1.08 || 1;
  const x = (v: number): number => BAR.width / 2 + (v / reach) * (BAR.width / 2 - 2);
  const y = BAR.height / 2;
  const root = svg("svg", {
    class: "forest",
    viewBox: `0 0 ${BAR.width} ${BAR.height}`,
    width: BAR.width,
    height: BAR.height,
    "aria-hidden": "true",
  });
  root.append(svg("line", { class: "nought", x1: x(0), x2: x(0), y1: 0, y2: BAR.height }));
  if (Number.isFinite(low) && Number.isFinite(high))
    root.append(svg("line", { class: "reach", x1: x(low), x2: Math.max(x(high), x(low) + 1), y1: y, y2: y }));
  if (Number.isFinite(middle)) root.append(svg("circle", { class: "mean", cx: x(middle), cy: y, r: 3.2 }));
  return root;
}
