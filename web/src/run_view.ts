// A run's page, or several runs laid over each other, kept current while they train.

import type { Page, Query, Summary } from "./api";
import { answerOf, Refusal } from "./api";
import { num } from "./columns";
import { h, replace } from "./dom";
import { step } from "./format";
import type { Frame } from "./frames";
import { frames } from "./frames";
import { HeldRuns } from "./held";
import type { RunFrame } from "./held";
import { oneAtATime } from "./live";
import type { Palette } from "./palette";
import { counted } from "./phrases";
import { link } from "./place";
import { Ranges } from "./ranges";
import { RunPage } from "./run_page";
import { ago, stateWord } from "./run_row";
import { SampleBrowser } from "./sample_browser";
import { know, t } from "./text";

/** Values of a curve on a page of one run and, of all its runs together, on a page of several. */
const POINTS = { one: 2000, several: 600 };
/** Milliseconds without a further run after which those that came are drawn, and times as long as that took until the next time. */
const REST = 120;
const TIMES = 4;

export class RunView {
  readonly root = h("div", { class: "run-view" });
  private readonly bar = h("nav", { class: "run-bar", "aria-label": t("Run") });
  private readonly body = h("div", {});
  private ranges: Ranges | null = null;
  private page: RunPage | null = null;
  private samples: SampleBrowser | null = null;
  private summaries: Summary[] = [];
  private readonly held = new HeldRuns();
  private shown: string[] = [];
  private heard = 0;
  private gone = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private version = "";
  private newest = "?";
  private readonly once = oneAtATime(() => this.load());

  constructor(
    private readonly ids: string[],
    private readonly palette: Palette,
  ) {
    for (const id of ids.length > 1 ? ids : []) palette.choose(id);
    replace(this.root, this.bar, this.body);
    replace(this.body, h("p", { class: "hint loading", role: "status" }, t("Reading …")));
    this.timer = setInterval(() => this.told(), 1000);
  }

  destroy(): void {
    this.gone = true;
    clearInterval(this.timer);
    this.ranges?.destroy();
    this.page?.destroy();
  }

  /** Show what there is now; `version` is the server's, where it is known. */
  refresh(version = this.newest): Promise<void> {
    this.newest = version;
    return this.once();
  }

  private async load(): Promise<void> {
    if (this.version === this.newest) return;
    this.root.setAttribute("aria-busy", "true");
    try {
      const points = this.ids.length > 1 ? POINTS.several : POINTS.one;
      const query: Query = [...this.ids.map((id): [string, string] => ["run", id]), ["points", points], ...this.held.versions];
      await this.follow(await answerOf("/api/page", query));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status && !this.gone) this.refused(error);
    } finally {
      this.root.removeAttribute("aria-busy");
    }
  }

  /** Take an answer as it comes: first which runs there are, then their curves. */
  private async follow(answer: Response): Promise<void> {
    const coming = frames<Page | RunFrame>(answer);
    let page: Page | null = null;
    let news = false;
    let due = 0;
    for (;;) {
      const next = coming.next();
      // What is there is drawn while the rest is waited for; drawing costs more the more of it there is.
      if (page && news && performance.now() >= due && (await lasts(next, REST)) && !this.gone) {
        const began = performance.now();
        this.draw(page);
        news = false;
        due = performance.now() + TIMES * (performance.now() - began);
      }
      const { value, done } = await next;
      if (done || this.gone) break;
      know(value.said.texts);
      if ("summaries" in value.said) {
        page = value.said;
        this.summaries = page.summaries;
        this.heard = performance.now();
        this.told();
        const ids = page.summaries.map((s) => s.id);
        if (ids.join() !== this.shown.join()) {
          this.anew(ids);
          news = ids.some((id) => this.held.has(id));
        }
      } else {
        this.held.take(value as Frame<RunFrame>);
        news = true;
      }
    }
    if (!page || this.gone) return;
    if (news) this.draw(page);
    this.version = page.version;
    const [only] = page.summaries;
    if (only && this.ids.length === 1 && page.samples[0] && !this.samples) {
      this.samples = new SampleBrowser(only.id);
      this.body.append(this.samples.root);
    }
  }

  /** Other runs than before, because some came or went: another page. */
  private anew(ids: string[]): void {
    this.shown = ids;
    this.page?.destroy();
    this.page = null;
  }

  private draw({ page }: Page): void {
    const { signals, detectors } = this.held;
    const runs = this.summaries.map((s) => ({ ...this.held.shown(s), tone: Math.max(0, this.palette.of(s.id)) }));
    const payload = { ...page, runs, signals, detectors, texts: {} };
    if (this.page) {
      this.page.update(payload);
      return;
    }
    this.ranges?.destroy();
    this.ranges = new Ranges(this.shown);
    this.page = new RunPage(payload, (strip) => this.ranges?.seen(strip));
    this.ranges.follow(this.page.link);
    replace(this.body, this.page.root, ...(this.samples ? [this.samples.root] : []));
  }

  private refused(error: Refusal): void {
    if (this.page) return;
    // A folder that is read for the first time has runs that are not known yet; they are asked for again when something came.
    const said = error.status === 503 ? t("Reading …") : error.status === 404 ? t("There is no such run in this folder, or not any more.") : error.message;
    replace(this.body, h("p", { class: "hint loading", role: error.status === 503 ? "status" : "alert" }, said));
    this.told();
  }

  /** The line above the page: the way back, and whether the run still trains. */
  private told(): void {
    const [first] = this.summaries;
    const since = (performance.now() - this.heard) / 1000;
    const alive = first && this.ids.length === 1;
    const parts = alive
      ? [
          h("span", { class: `state-mark ${first.state}`, title: first.why }, stateWord(first.state)),
          h("span", { class: "last" }, first.last_step === null ? "–" : t("step {step}", { step: step(num(first.last_step)) })),
          first.progress === null ? null : h("progress", { max: 100, value: Math.round(first.progress * 100), "aria-label": t("Progress") }),
          first.age === null ? null : h("span", { class: "age" }, t("last row: {ago}", { ago: ago(first.age + since) })),
        ]
      : [this.summaries.length ? h("span", {}, counted(this.summaries.length)) : null];
    const back = this.bar.querySelector(".back") ?? link({ page: "list" }, { class: "back" }, `‹ ${t("All runs")}`);
    const facts = h("span", { class: "run-now" }, ...parts);
    if (back.isConnected) this.bar.querySelector(".run-now")?.replaceWith(facts);
    else replace(this.bar, back, facts);
    document.title = `${alive ? first.name : counted(this.ids.length)} · Holter`;
  }
}

/** Whether something lasts longer than so many milliseconds. */
function lasts(task: Promise<unknown>, wait: number): Promise<boolean> {
  return Promise.race([
    task.then(
      () => false,
      () => false,
    ),
    new Promise<boolean>((resolve) => setTimeout(() => resolve(true), wait)),
  ]);
}
