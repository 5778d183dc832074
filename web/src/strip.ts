// One strip of the page: what it shows and its values on the left, the chart on the right. Strips share steps by a Link.

import { after, labelled, listed, stated } from "./phrases";
import type uPlot from "uplot";
import { num } from "./columns";
import type { Band } from "./compare_spread";
import { reachOf, spread } from "./compare_spread";
import type { Curve } from "./curve";
import { isThinned, nearest } from "./curve";
import { h, replace } from "./dom";
import { flags, laneHeight } from "./flags";
import { place, span, value } from "./format";
import type { Link } from "./link";
import type { Extent } from "./marks";
import { beneath, notFinite } from "./marks";
import type { Finding } from "./payload";
import { fullHeight, plot } from "./plot";
import type { Choice } from "./scale";
import { MANY, Readouts } from "./readouts";
import { choices } from "./scale";
import type { Level } from "./smooth";
import { t, told } from "./text";
import { onChange } from "./theme";

export interface StripModel {
  id: string;
  title: string;
  unit: string;
  curves: Curve[];
  band: { low: number | null; high: number | null; rule: string } | null;
  /** Findings that rest on what this strip shows, with their positions in the run's list. */
  findings: { finding: Finding; at: number; drawn: Extent }[];
  resumes: number[];
  /** Bands around lines that stand for several, and where settings part. */
  spread?: { bands: Band[]; parting: number | null };
  /** What a comparison says of the strip. */
  note?: HTMLElement | null;
}

export interface StripContext {
  link: Link;
  smoothing: () => Level;
  selected: () => number | null;
  select: (finding: number) => void;
  /** Opens what is known of a metric, beside the element that asked. */
  explain: (curve: Curve, beside: HTMLElement) => void;
  /** Called when a strip is drawn for the first time. */
  seen?: (strip: Strip) => void;
}

/** Height of the lines' room: so much, and as much as what stands beside it takes. */
const HEIGHT = 92;
const ROW = 17;
const BESIDE = 64;

export class Strip {
  readonly root: HTMLElement;
  /** The chart with its flags; within it the part that takes the keyboard. */
  private readonly chart: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly readouts: Readouts;
  private readonly scales: [Choice, Choice];
  private scale: Choice;
  private u: uPlot | null = null;
  /** The curves as they are drawn: the model's, or finer ones of the range that is shown. */
  private curves: Curve[];
  /** Where the mouse went down, to tell a click from a drag. */
  private pressed = 0;
  private readonly ends: (() => void)[];
  private isNear = true;
  /** What changed while it was out of view. */
  private missed = false;

  constructor(
    private model: StripModel,
    private readonly context: StripContext,
    private readonly steps: boolean,
  ) {
    this.curves = model.curves;
    this.scales = choices(model.curves);
    this.scale = this.scales[0];
    this.plot = h("div", {
      class: "plot",
      tabindex: 0,
      role: "slider",
      "aria-label": this.summary(),
      "aria-valuemin": context.link.whole[0],
      "aria-valuemax": context.link.whole[1],
      "aria-valuenow": context.link.whole[1],
      keydown: (event) => this.key(event as KeyboardEvent),
    });
    this.chart = h("div", { class: "chart" }, this.plot);
    this.readouts = new Readouts(this.listed, (curve, beside) => context.explain(curve, beside));
    this.chart.style.height = `${this.height}px`;
    this.root = h("section", { class: "strip", "data-strip": model.id }, this.gutter(), this.chart);
    this.ends = [
      context.link.onLook(() => this.look()),
      context.link.onZoom(() => this.zoom()),
      onChange(() => this.u?.redraw(false)),
    ];
    this.look();
  }

  /** Whether it is in view, or nearly; what is not is brought up to date when it comes. */
  set near(yes: boolean) {
    this.isNear = yes;
    if (!yes || !this.missed) return;
    this.missed = false;
    this.zoom();
    this.look();
  }

  /** Draw, or draw anew: when first seen, when the width or the smoothing changed. */
  draw(): void {
    const width = this.chart.clientWidth;
    if (!width) return;
    this.u?.destroy();
    this.u = plot(this.curves, {
      width,
      height: this.room,
      lane: laneHeight(this.model.findings.length),
      scale: this.scale,
      reach: this.model.spread ? reachOf(this.model.spread.bands) : null,
      smoothing: this.context.smoothing(),
      steps: this.steps,
      whole: this.curves.every((c) => c.xs.every(Number.isInteger)),
      beneath: (u) => {
        beneath(u, {
          band: this.model.band,
          findings: this.model.findings.map((f) => ({
            finding: f.finding,
            drawn: f.drawn,
            selected: f.at === this.context.selected(),
          })),
          resumes: this.model.resumes,
        });
        if (this.model.spread) spread(u, this.model.spread.bands, this.model.spread.parting);
      },
      above: (u) => {
        notFinite(u, this.curves);
        flags(u, this.chart, this.model.findings, this.context);
      },
      moved: (step) => this.context.link.look(step === null ? null : this.logged(step)),
      selected: (from, to) => this.context.link.zoom([from, to]),
      reset: () => this.context.link.zoom(null),
    });
    this.u.over.addEventListener("mousedown", (event) => (this.pressed = event.clientX));
    this.u.over.addEventListener("click", (event) => this.click(event));
    replace(this.plot, this.u.root);
    this.zoom();
    this.look();
  }

  private get height(): number {
    return fullHeight({ height: this.room, lane: laneHeight(this.model.findings.length), steps: this.steps });
  }

  private get room(): number {
    const lines = this.listed.length < MANY ? this.listed.length : 0;
    return Math.max(HEIGHT, BESIDE + ROW * lines - laneHeight(this.model.findings.length) + (this.model.note ? ROW : 0));
  }

  /** The curves that are named beside the chart; others stand behind them. */
  private get listed(): Curve[] {
    return this.curves.filter((c) => c.weight !== "member");
  }

  get drawn(): boolean {
    return this.u !== null;
  }

  /** What it shows: the model, as the page carries it. */
  get shows(): StripModel {
    return this.model;
  }

  /** Draw these curves of the model's for the time being; null for the model's own. */
  refine(curves: Curve[] | null): void {
    if (curves === null && this.curves === this.model.curves) return;
    this.curves = curves ?? this.model.curves;
    if (this.u) this.draw();
  }

  /** Show newer data of the same curves. */
  update(model: StripModel): void {
    this.model = model;
    this.curves = model.curves;
    this.chart.style.height = `${this.height}px`;
    this.plot.setAttribute("aria-label", this.summary());
    this.plot.setAttribute("aria-valuemax", String(this.context.link.whole[1]));
    if (this.u) this.draw();
    this.look();
  }

  resize(): void {
    const width = this.chart.clientWidth;
    if (this.u && width && width !== this.u.width) this.u.setSize({ width, height: this.height });
  }

  redraw(): void {
    this.u?.redraw(false);
  }

  destroy(): void {
    for (const end of this.ends) end();
    this.u?.destroy();
    this.u = null;
  }

  private gutter(): HTMLElement {
    const { model } = this;
    const first = this.listed[0];
    const info = h(
      "button",
      {
        class: "ask",
        type: "button",
        "aria-label": t("What is {metric}?", { metric: model.title }),
        click: (e) => first && this.context.explain(first, e.currentTarget as HTMLElement),
      },
      "?",
    );
    const scale = h(
      "button",
      {
        class: "scale",
        type: "button",
        "aria-label": labelled(t("Vertical scale"), scaleName(this.scale)),
        click: () => this.otherScale(scale),
      },
      scaleName(this.scale),
    );
    return h(
      "header",
      { class: "gutter" },
      h("div", { class: "gutter-head" }, h("h4", {}, model.title), info),
      this.readouts.root,
      model.note,
      h("div", { class: "gutter-foot" }, h("span", { class: "unit" }, unitText(model)), scale),
    );
  }

  private otherScale(button: HTMLElement): void {
    this.scale = this.scale === this.scales[0] ? this.scales[1] : this.scales[0];
    button.textContent = scaleName(this.scale);
    button.setAttribute("aria-label", labelled(t("Vertical scale"), scaleName(this.scale)));
    if (this.u) this.draw();
  }

  private zoom(): void {
    if (!this.isNear) {
      this.missed = true;
      return;
    }
    const [min, max] = this.context.link.shown;
    this.u?.setScale("x", { min, max });
  }

  private look(): void {
    if (!this.isNear) {
      this.missed = true;
      return;
    }
    const { at, axis } = this.context.link;
    const said = this.readouts.show(this.listed, at, axis);
    if (this.u) this.u.setCursor({ left: at === null ? -10 : this.u.valToPos(at, "x"), top: 0 }, false);
    if (document.activeElement === this.plot && at !== null) {
      this.plot.setAttribute("aria-valuenow", String(at));
      this.plot.setAttribute("aria-valuetext", labelled(place(at, axis), listed(said)));
    }
  }

  /** The logged step nearest to a place on the axis. */
  private logged(step: number): number {
    const steps = this.listed.flatMap((c) => c.xs[nearest(c, step)] ?? []);
    return steps.reduce((best, s) => (Math.abs(s - step) < Math.abs(best - step) ? s : best), steps[0] ?? step);
  }

  /** A click on the ground of a finding opens it; where several lie over each other, the gravest. */
  private click(event: MouseEvent): void {
    if (!this.u || Math.abs(event.clientX - this.pressed) > 4) return;
    const step = this.u.posToVal(event.clientX - this.u.over.getBoundingClientRect().left, "x");
    const gravity = ["critical", "warning", "info"];
    const [hit] = this.model.findings
      .filter(({ drawn }) => drawn.first <= step && step <= drawn.last)
      .sort((a, b) => gravity.indexOf(a.finding.severity) - gravity.indexOf(b.finding.severity));
    if (hit) this.context.select(hit.at);
  }

  private key(event: KeyboardEvent): void {
    const { link } = this.context;
    const curve = this.listed[0];
    const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, PageDown: -20, PageUp: 20 };
    const by = moves[event.key];
    if (curve && by !== undefined) {
      const from = link.at === null ? curve.xs.length - 1 : nearest(curve, link.at);
      link.look(curve.xs[Math.max(0, Math.min(curve.xs.length - 1, from + by))] ?? null);
    } else if (event.key === "Home") link.look(link.shown[0]);
    else if (event.key === "End") link.look(link.shown[1]);
    else if (event.key === "+" || event.key === "=") link.scale(0.5);
    else if (event.key === "-") link.scale(2);
    else if (event.key === "Escape" || event.key === "0") link.zoom(null);
    else return;
    event.preventDefault();
  }

  /** What a screen reader says of the chart. */
  private summary(): string {
    const lines = this.listed.map((c) => {
      const { facts } = c;
      const parts = [
        facts.first === undefined
          ? t("no finite value")
          : t("from {first} to {last}", { first: value(num(facts.first)), last: value(num(facts.last)) }),
        facts.min === undefined || facts.max === undefined
          ? ""
          : t("least {min}, greatest {max}", { min: value(num(facts.min)), max: value(num(facts.max)) }),
        facts.nan ? t("{n} NaN", { n: facts.nan }) : "",
        isThinned(c) ? t("drawn from {n} values", { n: facts.n }) : "",
      ];
      return labelled(c.label, parts.filter(Boolean).reduce(after));
    });
    const found = this.model.findings.map(
      (f) => `${f.finding.detector} ${span(num(f.finding.first_step), num(f.finding.last_step))}`,
    );
    return stated([this.model.title, ...lines, ...found]);
  }
}

function scaleName(choice: Choice): string {
  return choice.kind === "linear" ? t("linear") : choice.kind === "log" ? t("log") : t("asinh");
}

function unitText(model: StripModel): string {
  const unit = model.unit === "1" ? "" : told(model.unit);
  const { band } = model;
  if (!band) return unit;
  const limits =
    band.low !== null && band.high !== null
      ? `${value(band.low)} – ${value(band.high)}`
      : band.high !== null
        ? `≤ ${value(band.high)}`
        : `≥ ${value(band.low)}`;
  return [unit, t("band {limits}", { limits })].filter(Boolean).join(" · ");
}
