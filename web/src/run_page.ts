// The page over some runs: verdict and phases on top, strips, findings beside them. The report and the dashboard show it.

import { about, advice } from "./about";
import { Board } from "./board";
import { wholeRange } from "./curve";
import { h, replace } from "./dom";
import { Explainer } from "./explain";
import { step } from "./format";
import { Findings } from "./findings";
import { frontier } from "./frontier";
import { Link } from "./link";
import { groups } from "./model";
import { overview } from "./overview";
import type { Payload } from "./payload";
import { sampleList } from "./samples";
import type { Level } from "./smooth";
import { speak, t } from "./text";
import { toolbar } from "./toolbar";
import { phases, verdict } from "./verdict";

const GRAVITY = ["critical", "warning", "cannot-tell", "info", "healthy"];

export class RunPage {
  readonly root = h("main", { class: "page" });
  readonly link: Link;
  private chosen: number;
  private selected: number | null = null;
  private shown: Set<number>;
  private smoothing: Level = "light";
  private board: Board | null = null;
  private findings: Findings | null = null;
  private bar: { root: HTMLElement; destroy: () => void } | null = null;

  constructor(private payload: Payload) {
    const statuses = payload.runs.map((r) => GRAVITY.indexOf(r.verdict.status));
    this.chosen = Math.max(0, statuses.indexOf(Math.min(...statuses)));
    this.shown = new Set(payload.runs.keys());
    this.link = new Link(wholeRange(payload.runs));
    this.render();
  }

  /** Show newer data of the same runs: zoom, choice and what is open stay as they are. */
  update(payload: Payload): void {
    const open = this.findings?.open() ?? [];
    this.payload = payload;
    this.link.whole = wholeRange(payload.runs);
    this.render();
    this.findings?.reopen(open);
  }

  /** Choose a finding of the run in focus: its strips are shaded more strongly and its card opens. */
  select(finding: number | null): void {
    this.selected = finding;
    this.board?.mark();
    this.findings?.show(finding);
  }

  destroy(): void {
    this.board?.destroy();
    this.bar?.destroy();
  }

  private render(): void {
    this.destroy();
    const { payload, link } = this;
    const run = payload.runs[this.chosen];
    if (!run) return;
    const shown = [...this.shown].sort((a, b) => a - b);
    const explainer = new Explainer(payload);
    this.findings = new Findings(payload, run, {
      select: (finding) => {
        this.selected = finding;
        this.board?.mark();
      },
      zoom: (from, to) => link.zoom([from, to]),
    });
    this.board = new Board(groups(payload, shown, this.chosen), {
      link,
      smoothing: () => this.smoothing,
      selected: () => this.selected,
      select: (finding) => this.select(finding),
      explain: (curve, beside) => explainer.show(curve, beside),
    });
    this.bar = toolbar({
      link,
      smoothing: this.smoothing,
      smooth: (level) => {
        this.smoothing = level;
        this.board?.refresh();
      },
      languages: payload.languages,
      speak: (code) => {
        speak(code);
        this.render();
      },
    });
    replace(
      this.root,
      h(
        "header",
        { class: "masthead" },
        h("span", { class: "brand" }, "Holter"),
        h("span", { class: "run-name" }, run.name),
        h(
          "span",
          { class: "run-facts" },
          `${run.dialect} · ${run.rows === 1 ? t("1 row") : t("{n} rows", { n: step(run.rows) })}`,
        ),
      ),
      payload.runs.length > 1 ? this.overview() : null,
      h("div", { class: "summary" }, verdict(run), phases(run, link)),
      this.bar.root,
      h(
        "div",
        { class: "columns" },
        h(
          "section",
          { class: "vitals", "aria-label": t("Vital signs") },
          h("h2", {}, t("Vital signs")),
          this.board.root,
        ),
        h("aside", { class: "side", "aria-label": t("Findings and advice") }, this.findings.root, advice(run)),
      ),
      frontier(payload, shown),
      run.stories.some((s) => s.severity !== "info") ? null : sampleList(t("Completions"), run.samples),
      about(payload, run),
      explainer.root,
    );
  }

  private overview(): HTMLElement {
    return overview(this.payload.runs, {
      chosen: this.chosen,
      shown: this.shown,
      choose: (run) => {
        this.chosen = run;
        this.selected = null;
        this.shown.add(run);
        this.render();
      },
      toggle: (run) => {
        if (!this.shown.delete(run)) this.shown.add(run);
        this.render();
      },
    });
  }
}
