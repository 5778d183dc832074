// The page over some runs: verdict and phases on top, strips, findings beside them. The report and the dashboard show it.

import { about, advice } from "./about";
import { axesOf, placedOn } from "./along";
import { Board } from "./board";
import { wholeRange } from "./curve";
import { h, replace } from "./dom";
import { Explainer } from "./explain";
import type { Axis } from "./format";
import { step } from "./format";
import { Findings } from "./findings";
import { frontier } from "./frontier";
import { Link } from "./link";
import { groups } from "./model";
import { overview } from "./overview";
import type { Payload, Run } from "./payload";
import { sampleList } from "./samples";
import type { Level } from "./smooth";
import type { Strip } from "./strip";
import { speak, t } from "./text";
import { picker, smoothing, toolbar } from "./toolbar";
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
  private explainer: Explainer | null = null;
  private readonly head = h("div", { class: "page-head" });
  private readonly side = h("aside", { class: "side" });
  private readonly foot = h("div", { class: "page-foot" });
  private bar: { root: HTMLElement; destroy: () => void } | null = null;

  /**
   * @param seen Called for every strip when it is drawn for the first time.
   */
  constructor(
    private payload: Payload,
    private readonly seen?: (strip: Strip) => void,
  ) {
    const statuses = payload.runs.map((r) => GRAVITY.indexOf(r.verdict.status));
    this.chosen = Math.max(0, statuses.indexOf(Math.min(...statuses)));
    this.shown = new Set(payload.runs.keys());
    const along = payload.along ?? "step";
    this.link = new Link(this.whole(along), along);
    this.render();
  }

  /** Show newer data of the same runs: zoom, choice, place and what is open stay as they are. */
  update(payload: Payload): void {
    const open = this.findings?.open() ?? [];
    const before = this.payload;
    this.payload = payload;
    this.link.whole = this.whole(this.link.axis);
    const shown = [...this.shown].sort((a, b) => a - b);
    if (!this.board?.update(groups(payload, shown, this.chosen, this.link.axis))) {
      this.render();
      this.findings?.reopen(open);
    } else {
      const run = payload.runs[this.chosen];
      const old = before.runs[this.chosen];
      if (!run || !old) return;
      this.top(run);
      if (judged(run) !== judged(old)) {
        this.beside(run);
        this.findings?.reopen(open);
      }
      this.below(run, shown);
    }
    this.link.zoom(this.link.range);
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
    this.board = new Board(groups(payload, shown, this.chosen, link.axis), {
      link,
      smoothing: () => this.smoothing,
      selected: () => this.selected,
      select: (finding) => this.select(finding),
      explain: (curve, beside) => this.explainer?.show(curve, beside),
      ...(this.seen ? { seen: this.seen } : {}),
    });
    this.bar = toolbar({
      link,
      lines: [
        this.axis(),
        smoothing(this.smoothing, (level) => {
          this.smoothing = level;
          this.board?.refresh();
        }),
      ],
      languages: payload.languages,
      speak: (code) => {
        speak(code);
        this.render();
      },
    });
    replace(
      this.root,
      this.head,
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
        this.side,
      ),
      this.foot,
    );
    this.side.setAttribute("aria-label", t("Findings and advice"));
    this.top(run);
    this.beside(run);
    this.below(run, shown);
  }

  /** Whose page it is, verdict and phases. */
  private top(run: Run): void {
    const { payload, link } = this;
    replace(
      this.head,
      h(
        "header",
        { class: "masthead" },
        h("span", { class: "brand" }, "Holter"),
        h("span", { class: "run-name" }, run.name),
        h(
          "span",
          { class: "run-facts" },
          [run.dialect, run.rows === null ? t("Reading …") : run.rows === 1 ? t("1 row") : t("{n} rows", { n: step(run.rows) })]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      payload.runs.length > 1 ? this.overview() : null,
      h("div", { class: "summary" }, verdict(run), phases(run, link, placedOn(run, link.axis))),
    );
  }

  /** Findings and advice. */
  private beside(run: Run): void {
    const { payload, link, side } = this;
    const scrolled = side.scrollTop;
    const open = openIn(side);
    this.findings = new Findings(payload, run, {
      select: (finding) => {
        this.selected = finding;
        this.board?.mark();
      },
      zoom: (from, to) => {
        const placed = placedOn(run, link.axis);
        link.zoom([placed(from), placed(to)]);
      },
    });
    replace(side, this.findings.root, advice(run));
    reopen(side, open);
    side.scrollTop = scrolled;
  }

  /** What stands below the strips. */
  private below(run: Run, shown: number[]): void {
    const { payload, foot } = this;
    const open = openIn(foot);
    this.explainer = new Explainer(payload.signals);
    replace(
      foot,
      frontier(payload, shown),
      run.stories.some((s) => s.severity !== "info") ? null : sampleList(t("Completions"), run.samples),
      about(payload, run),
      this.explainer.root,
    );
    reopen(foot, open);
  }

  private whole(axis: Axis): [number, number] {
    return wholeRange(this.payload.runs, (run) => placedOn(run, axis));
  }

  /** Chooses what several runs are laid along, where they count more than steps. */
  private axis(): HTMLElement | null {
    const { runs } = this.payload;
    const words: Record<Axis, string> = { step: t("steps"), episodes: t("episodes"), tokens: t("tokens") };
    const there = axesOf(runs).map((axis): [Axis, string] => [axis, words[axis]]);
    if (runs.length < 2 || there.length < 2) return null;
    return picker(t("Along"), there, this.link.axis, (axis) => {
      this.link.count(axis, this.whole(axis));
      this.render();
    });
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

/** Everything that the findings panel shows of a run. */
function judged(run: Run): string {
  return JSON.stringify([run.findings, run.stories, run.advice, run.samples]);
}

/** Which details are open, by what they are headed. */
function openIn(root: Element): Set<string> {
  return new Set([...root.querySelectorAll("details[open] > summary")].map((s) => s.textContent ?? ""));
}

function reopen(root: Element, open: Set<string>): void {
  for (const summary of root.querySelectorAll("details > summary")) {
    const details = summary.parentElement as HTMLDetailsElement;
    if (open.has(summary.textContent ?? "")) details.open = true;
  }
}
