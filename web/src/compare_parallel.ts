// Runs of a sweep as lines over parallel axes: what they were set to, then where they ended. Hover, arrow keys or a brush
// on an axis choose runs.

import { num } from "./columns";
import type { ComparePayload, Sweep } from "./compare_payload";
import { short, signalOf } from "./compare_words";
import { h, replace, svg } from "./dom";
import { labelled, listed } from "./phrases";
import { t } from "./text";
import { paint, tone } from "./tones";

const HEIGHT = 300;
const TOP = 44;
const BOTTOM = 30;
const SIDE = 48;
/** Outcomes, and other signals that the settings moved, that have an axis. */
const MOST_OUTCOMES = 3;
const MOST_MOVED = 3;
/** Greatest over least value beyond which an axis is logarithmic. */
const WIDE = 20;
/** Distance from an axis, in pixels, at which a drag brushes it. */
const NEAR = 14;
/** Distance between axes below which their names would run into each other. */
const NARROW = 130;

interface Axis {
  name: string;
  outcome: boolean;
  values: number[];
  /** Place of a value between 0, below, and 1, above; and the value of a place. */
  at: (v: number) => number;
  of: (place: number) => number;
  ticks: number[];
  /** The least and the greatest value that are kept; null for all, values that are no number among them. */
  brush: [number, number] | null;
  /** Where the same is typed. */
  fields: [HTMLInputElement, HTMLInputElement];
}

export class Parallel {
  readonly root: HTMLElement;
  private readonly axes: Axis[];
  private readonly picture = h("div", {
    class: "parallel-picture",
    tabindex: 0,
    role: "listbox",
    "aria-label": t("Runs of the sweep"),
    keydown: (event) => this.key(event as KeyboardEvent),
    pointerdown: (event) => this.press(event as PointerEvent),
    pointermove: (event) => this.move(event as PointerEvent),
    pointerup: () => this.release(),
    pointerleave: () => {
      this.release();
      this.light(null);
    },
    blur: () => this.light(null),
    dblclick: () => this.clear(),
  });
  private readonly said = h("output", { class: "parallel-said" });
  private readonly sized = new ResizeObserver(() => this.draw());
  private readonly id = `parallel-${Math.random().toString(36).slice(2, 8)}`;
  private lit: number | null = null;
  private brushing: { axis: Axis; from: number } | null = null;
  private width = 0;

  constructor(
    private readonly payload: ComparePayload,
    sweep: Sweep,
  ) {
    this.axes = axesOf(payload, sweep, (axis) => this.typed(axis));
    this.root = h(
      "figure",
      { class: "parallel" },
      h(
        "figcaption",
        { class: "more" },
        t("Every line is a run. ↑ ↓ or hover: one run; drag along an axis: those within; double click: all."),
      ),
      this.picture,
      this.said,
      this.keeping(),
    );
    this.sized.observe(this.picture);
    this.light(null);
  }

  destroy(): void {
    this.sized.disconnect();
  }

  private draw(): void {
    const width = this.picture.clientWidth;
    if (!width || width === this.width) return;
    this.width = width;
    this.paint();
  }

  private paint(): void {
    const root = svg("svg", { width: this.width, height: HEIGHT, viewBox: `0 0 ${this.width} ${HEIGHT}` });
    for (const [i, axis] of this.axes.entries()) root.append(this.rule(axis, i));
    for (const r of this.payload.runs.keys()) root.append(this.line(r));
    for (const [i, axis] of this.axes.entries()) root.append(this.words(axis, i));
    replace(this.picture, root);
    if (this.lit === null) this.picture.removeAttribute("aria-activedescendant");
    else this.picture.setAttribute("aria-activedescendant", `${this.id}-${this.lit}`);
  }

  private x(i: number): number {
    const room = this.width - 2 * SIDE;
    return this.axes.length > 1 ? SIDE + (i / (this.axes.length - 1)) * room : this.width / 2;
  }

  private y(axis: Axis, v: number): number {
    // What is no number lies below every number.
    return Number.isFinite(v) ? TOP + (1 - axis.at(v)) * (HEIGHT - TOP - BOTTOM) : HEIGHT - 8;
  }

  private rule(axis: Axis, i: number): SVGElement {
    const x = this.x(i);
    const group = svg("g", { class: `axis${axis.outcome ? " outcome" : ""}`, "aria-hidden": "true" });
    group.append(svg("line", { x1: x, x2: x, y1: TOP - 8, y2: HEIGHT - BOTTOM + 8 }));
    for (const v of axis.ticks)
      group.append(svg("line", { x1: x - 3, x2: x + 3, y1: this.y(axis, v), y2: this.y(axis, v) }));
    if (axis.brush) {
      const [low, high] = axis.brush.map((v) =>
        v === Infinity ? TOP - 8 : Math.max(TOP - 8, Math.min(HEIGHT - BOTTOM + 8, this.y(axis, v))),
      );
      group.append(svg("rect", { class: "brush", x: x - 7, width: 14, y: high, height: (low ?? 0) - (high ?? 0) }));
    }
    return group;
  }

  /** What is written at an axis; over the lines, so that it can be read. */
  private words(axis: Axis, i: number): SVGElement {
    const x = this.x(i);
    const group = svg("g", { class: "words", "aria-hidden": "true" });
    const gap = this.axes.length > 1 ? this.x(1) - this.x(0) : this.width;
    // Where axes stand close together, their names take turns on two lines.
    const close = gap < NARROW;
    const name = shortened(axis.name, Math.max(5, Math.floor((close ? 2 : 1) * (gap / 7.2))));
    const row = close && i % 2 ? TOP - 14 : TOP - 28;
    const anchor = i === 0 ? "start" : i === this.axes.length - 1 ? "end" : "middle";
    const title = svg(
      "text",
      { class: `name ${anchor}`, x: anchor === "middle" ? x : i === 0 ? 2 : this.width - 2, y: row },
      name,
    );
    title.append(svg("title", {}, axis.name));
    group.append(title);
    const [side, at] = i === 0 ? ["end", x - 6] : ["start", x + 6];
    for (const v of axis.ticks)
      group.append(svg("text", { class: `tick ${side}`, x: at, y: this.y(axis, v) + 4 }, short(v)));
    if (axis.values.some((v) => !Number.isFinite(v)))
      group.append(svg("text", { class: `tick ${side}`, x: at, y: HEIGHT - 4 }, "NaN"));
    return group;
  }

  private line(r: number): SVGElement {
    const g = this.payload.groups.findIndex((group) => group.runs.includes(r));
    const points = this.axes.map(
      (axis, i) => `${this.x(i).toFixed(1)},${this.y(axis, axis.values[r] ?? NaN).toFixed(1)}`,
    );
    const state = !this.within(r) ? " out" : this.lit === null ? "" : r === this.lit ? " lit" : " dim";
    const group = svg("g", {
      class: `run${state}`,
      id: `${this.id}-${r}`,
      role: "option",
      "aria-selected": r === this.lit ? "true" : "false",
      "aria-label": this.told(r),
      "data-run": r,
      pointerenter: () => !this.brushing && this.light(r),
    });
    paint(group, tone(g));
    group.append(svg("polyline", { class: "reach", points: points.join(" ") }));
    group.append(svg("polyline", { class: "way", points: points.join(" ") }));
    for (const [i, axis] of this.axes.entries())
      group.append(
        svg("circle", { cx: this.x(i), cy: this.y(axis, axis.values[r] ?? NaN), r: r === this.lit ? 4 : 2.6 }),
      );
    return group;
  }

  private told(r: number): string {
    const values = this.axes.map((axis) => `${axis.name} ${short(axis.values[r] ?? NaN)}`);
    return labelled(this.payload.runs[r]?.short_name ?? "", listed(values));
  }

  private within(r: number): boolean {
    return this.axes.every(({ brush, values }) => {
      const v = values[r] ?? NaN;
      return !brush || (brush[0] <= v && v <= brush[1]);
    });
  }

  private light(r: number | null): void {
    const kept = [...this.payload.runs.keys()].filter((run) => this.within(run));
    this.said.textContent =
      r !== null
        ? this.told(r)
        : kept.length < this.payload.runs.length
          ? t("{n} of {all} runs", { n: kept.length, all: this.payload.runs.length })
          : t("{n} runs", { n: kept.length });
    if (r === this.lit && this.width) return;
    this.lit = r;
    // Classes change and nothing is drawn anew: a line that moves in the tree under the pointer would be entered again.
    for (const run of this.picture.querySelectorAll<SVGElement>(".run")) {
      const own = Number(run.dataset["run"]);
      run.classList.toggle("lit", own === r);
      run.classList.toggle("dim", r !== null && own !== r);
      run.setAttribute("aria-selected", own === r ? "true" : "false");
    }
    if (r === null) this.picture.removeAttribute("aria-activedescendant");
    else this.picture.setAttribute("aria-activedescendant", `${this.id}-${r}`);
  }

  private key(event: KeyboardEvent): void {
    const runs = [...this.payload.runs.keys()].filter((r) => this.within(r));
    const at = this.lit === null ? -1 : runs.indexOf(this.lit);
    const by = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
    if (event.key === "Escape") this.clear();
    else if (by !== undefined && runs.length)
      this.light(runs[(at + by + runs.length + (at < 0 && by < 0 ? 1 : 0)) % runs.length] ?? null);
    else return;
    event.preventDefault();
  }

  private place(event: PointerEvent): [number, number] {
    const box = this.picture.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  private press(event: PointerEvent): void {
    const [x, y] = this.place(event);
    const i = this.axes.findIndex((_, at) => Math.abs(this.x(at) - x) <= NEAR);
    const axis = this.axes[i];
    if (!axis || event.button) return;
    this.brushing = { axis, from: y };
    event.preventDefault();
    this.picture.focus({ preventScroll: true });
  }

  private move(event: PointerEvent): void {
    if (!this.brushing) return;
    const y = this.place(event)[1];
    const { axis, from } = this.brushing;
    const value = (at: number): number => axis.of(1 - (at - TOP) / (HEIGHT - TOP - BOTTOM));
    axis.brush = Math.abs(y - from) < 3 ? null : [value(Math.max(from, y)), value(Math.min(from, y))];
    for (const [i, field] of axis.fields.entries()) field.value = axis.brush ? String(Number((axis.brush[i] ?? NaN).toPrecision(4))) : "";
    this.kept();
  }

  /** The brush for those who do not drag: from and to of every axis, as numbers. */
  private keeping(): HTMLElement {
    return h(
      "details",
      { class: "keeping" },
      h("summary", {}, t("Keep only runs within")),
      h(
        "div",
        { class: "fields" },
        ...this.axes.map((axis) =>
          h("fieldset", {}, h("legend", {}, h("code", {}, axis.name)), axis.fields[0], h("span", { "aria-hidden": "true" }, "–"), axis.fields[1]),
        ),
      ),
      h("button", { type: "button", class: "plain", click: () => this.clear() }, t("All runs")),
    );
  }

  /** Take what is typed for an axis. */
  private typed(axis: Axis): void {
    const [low, high] = axis.fields.map((f) => (f.value.trim() ? f.valueAsNumber : NaN));
    const none = Number.isNaN(low) && Number.isNaN(high);
    const or = (v: number | undefined, open: number): number => (v === undefined || Number.isNaN(v) ? open : v);
    axis.brush = none ? null : [or(low, -Infinity), or(high, Infinity)];
    this.kept();
  }

  /** Show which runs are kept. */
  private kept(): void {
    this.lit = null;
    this.paint();
    this.light(null);
  }

  private release(): void {
    this.brushing = null;
  }

  private clear(): void {
    for (const axis of this.axes) {
      axis.brush = null;
      for (const field of axis.fields) field.value = "";
    }
    this.kept();
  }
}

function axesOf(payload: ComparePayload, sweep: Sweep, typed: (axis: Axis) => void): Axis[] {
  const outcomes = payload.signals.filter((s) => s.outcome).slice(0, MOST_OUTCOMES);
  const moved = [...new Set(sweep.influences.filter((i) => i.stands).map((i) => i.signal))]
    .flatMap((key) => signalOf(payload, key) ?? [])
    .filter((s) => !s.outcome)
    .slice(0, MOST_MOVED);
  return [
    ...sweep.settings.map((s) => axis(s.name, s.values.map(num), false, typed)),
    ...[...moved, ...outcomes].map((s) => axis(s.metric, (sweep.ends[s.key] ?? []).map(num), true, typed)),
  ];
}

function axis(name: string, values: number[], outcome: boolean, typed: (axis: Axis) => void): Axis {
  const finite = values.filter(Number.isFinite);
  const [low, high] = finite.length ? [Math.min(...finite), Math.max(...finite)] : [0, 1];
  const log = low > 0 && high / low > WIDE;
  const scaled = (v: number): number => (log ? Math.log(v) : v);
  const span = scaled(high) - scaled(low);
  const distinct = [...new Set(finite)].sort((a, b) => a - b);
  const field = (said: string): HTMLInputElement => h("input", { type: "number", step: "any", "aria-label": said, input: () => typed(own) });
  const own: Axis = {
    name,
    outcome,
    values,
    at: (v) => (span ? (scaled(v) - scaled(low)) / span : 0.5),
    of: (place) => (log ? Math.exp(scaled(low) + place * span) : low + place * span),
    ticks: outcome || distinct.length > 6 ? [...new Set([low, high])] : distinct,
    brush: null,
    fields: [field(t("{name} from", { name })), field(t("{name} to", { name }))],
  };
  return own;
}

/** A name that fits, its end kept: what tells metrics apart stands there. */
function shortened(name: string, most: number): string {
  return name.length > most ? `…${name.slice(name.length - most + 1)}` : name;
}
