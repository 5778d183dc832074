// One run in the list.

import type { State, Summary } from "./api";
import { decode, num } from "./columns";
import { h, replace, svg } from "./dom";
import { statusOf } from "./filter";
import { step } from "./format";
import { link } from "./place";
import { t, told } from "./text";
import { paint, swatch, tone } from "./tones";
import { badge } from "./verdict";

export interface RowContext {
  /** Position of the run's colour; -1 where it is not chosen. */
  slot: (id: string) => number;
  toggle: (id: string) => void;
}

const SPARK = { width: 120, height: 26 };

export function stateWord(state: State): string {
  const words: Record<State, string> = {
    running: t("running"),
    finished: t("finished"),
    failed: t("failed"),
    stalled: t("stalled"),
    dead: t("dead"),
    resting: t("resting"),
  };
  return words[state];
}

/** A length of time in one number. */
export function ago(seconds: number): string {
  if (seconds < 1) return t("now");
  if (seconds < 120) return t("{n} s", { n: Math.round(seconds) });
  if (seconds < 7200) return t("{n} min", { n: Math.round(seconds / 60) });
  if (seconds < 172800) return t("{n} h", { n: Math.round(seconds / 3600) });
  return t("{n} d", { n: Math.round(seconds / 86400) });
}

export class Row {
  readonly root: HTMLElement;
  private readonly age = h("span", { class: "age", role: "cell" });
  private readonly box: HTMLInputElement;
  private readonly swatch = swatch(tone(0));
  private heard = 0;

  constructor(
    public run: Summary,
    private readonly context: RowContext,
  ) {
    this.box = h("input", { type: "checkbox", change: () => context.toggle(this.run.id) });
    this.root = h("div", { class: "run-row", role: "row", "data-run": run.id });
    this.update(run);
  }

  update(run: Summary): void {
    this.run = run;
    this.heard = performance.now();
    this.box.setAttribute("aria-label", t("Choose {run}", { run: run.name }));
    const last = run.last_step === null ? "–" : step(num(run.last_step));
    replace(
      this.root,
      h("span", { role: "cell", class: "pick" }, h("label", {}, this.box, this.swatch)),
      h("span", { class: "status", role: "cell" }, badge(statusOf(run))),
      h("span", { class: "name", role: "rowheader" }, link({ page: "runs", ids: [run.id] }, { class: "run-link" }, ...named(run.name)), h("span", { class: "says", title: told(run.title) }, told(run.title))),
      h("span", { class: "state", role: "cell" }, h("span", { class: `state-mark ${run.state}`, title: run.why }, stateWord(run.state))),
      h("span", { class: "progress", role: "cell" }, h("span", { class: "step" }, last), bar(run.progress)),
      this.age,
      h("span", { class: "found", role: "cell", title: run.findings.join(", ") }, run.findings.length ? String(run.findings.length) : "–"),
      h("span", { class: "spark", role: "cell" }, spark(run)),
    );
    this.mark();
    this.tick();
  }

  /** Show whether it is chosen. */
  mark(): void {
    const slot = this.context.slot(this.run.id);
    this.box.checked = slot >= 0;
    this.root.classList.toggle("chosen", slot >= 0);
    if (slot >= 0) paint(this.swatch, tone(slot));
    this.swatch.hidden = slot < 0;
  }

  /** Seconds since the last row, by the clock of this page. */
  tick(): void {
    const { age } = this.run;
    const said = age === null ? "–" : ago(age + (performance.now() - this.heard) / 1000);
    if (this.age.textContent !== said) this.age.textContent = said;
  }
}

/** A name whose folder is what people call the run. */
function named(name: string): (Node | string)[] {
  const end = name.lastIndexOf("/");
  return end < 0 ? [name] : [name.slice(0, end), h("span", { class: "file" }, name.slice(end))];
}

function bar(progress: number | null): HTMLElement | null {
  if (progress === null) return null;
  const percent = Math.round(progress * 100);
  return h("progress", { max: 100, value: percent, "aria-label": t("Progress"), title: `${percent} %` });
}

function spark(run: Summary): Node | null {
  if (!run.curve) return null;
  const xs = decode(run.curve.steps);
  const ys = decode(run.curve.values);
  const finite = ys.filter((y) => Number.isFinite(y));
  if (!finite.length) return null;
  const [low, high] = [Math.min(...finite), Math.max(...finite)];
  const [first, last] = [xs[0] ?? 0, xs[xs.length - 1] ?? 1];
  const x = (v: number): string => (((v - first) / (last - first || 1)) * (SPARK.width - 2) + 1).toFixed(1);
  const y = (v: number): string => ((1 - (v - low) / (high - low || 1)) * (SPARK.height - 4) + 2).toFixed(1);
  let path = "";
  let pen = "M";
  for (const [i, v] of ys.entries()) {
    if (Number.isFinite(v)) path += `${pen}${x(xs[i] ?? 0)},${y(v)}`;
    pen = Number.isFinite(v) ? "L" : "M";
  }
  const picture = svg("svg", { viewBox: `0 0 ${SPARK.width} ${SPARK.height}`, "aria-hidden": "true" }, svg("path", { d: path }));
  return h("span", { title: run.curve.metric }, picture);
}
