// A run's page, or several runs laid over each other, kept current while they train.

import type { Page, Summary } from "./api";
import { ask, Refusal } from "./api";
import { num } from "./columns";
import { h, replace } from "./dom";
import { step } from "./format";
import { oneAtATime } from "./live";
import type { Palette } from "./palette";
import { link } from "./place";
import { Ranges } from "./ranges";
import { RunPage } from "./run_page";
import { ago, stateWord } from "./run_row";
import { SampleBrowser } from "./sample_browser";
import { know, t } from "./text";

/** Values of a curve on a page of one run and, of all its runs together, on a page of several. */
const POINTS = { one: 2000, several: 600 };

export class RunView {
  readonly root = h("div", { class: "run-view" });
  private readonly bar = h("nav", { class: "run-bar", "aria-label": t("Run") });
  private readonly body = h("div", {});
  private readonly ranges: Ranges;
  private page: RunPage | null = null;
  private samples: SampleBrowser | null = null;
  private versions = "";
  private summaries: Summary[] = [];
  private heard = 0;
  private gone = false;
  private readonly timer: ReturnType<typeof setInterval>;
  private version = -1;
  private newest = -2;
  private readonly once = oneAtATime(() => this.load());

  constructor(
    private readonly ids: string[],
    private readonly palette: Palette,
  ) {
    this.ranges = new Ranges(ids);
    for (const id of ids.length > 1 ? ids : []) palette.choose(id);
    replace(this.root, this.bar, this.body);
    replace(this.body, h("p", { class: "hint loading", role: "status" }, t("Reading …")));
    this.timer = setInterval(() => this.told(), 1000);
  }

  destroy(): void {
    this.gone = true;
    clearInterval(this.timer);
    this.ranges.destroy();
    this.page?.destroy();
  }

  /** Show what there is now; `version` is the server's, where it is known. */
  refresh(version = this.newest): Promise<void> {
    this.newest = version;
    return this.once();
  }

  private async load(): Promise<void> {
    if (this.version === this.newest) return;
    let answer: Page;
    try {
      const query = this.ids.map((id): [string, string] => ["run", id]);
      answer = await ask<Page>("/api/page", [...query, ["points", this.ids.length > 1 ? POINTS.several : POINTS.one]]);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.status && !this.gone) this.refused(error);
      return;
    }
    if (this.gone) return;
    this.version = answer.version;
    this.summaries = answer.summaries;
    this.heard = performance.now();
    this.told();
    const versions = answer.summaries.map((s) => s.version).join();
    if (versions === this.versions) return;
    this.versions = versions;
    know(answer.page.texts);
    const payload = answer.page;
    for (const [i, run] of payload.runs.entries()) run.tone = Math.max(0, this.palette.of(this.ids[i] ?? ""));
    if (this.page) this.page.update(payload);
    else {
      this.page = new RunPage(payload, (strip) => this.ranges.seen(strip));
      this.ranges.follow(this.page.link);
      replace(this.body, this.page.root);
    }
    const [only] = this.ids;
    if (only && this.ids.length === 1 && answer.samples[0] && !this.samples) {
      this.samples = new SampleBrowser(only);
      this.body.append(this.samples.root);
    }
  }

  private refused(error: Refusal): void {
    if (this.page) return;
    replace(this.body, h("p", { class: "hint loading", role: "alert" }, error.status === 404 ? t("There is no such run in this folder, or not any more.") : error.message));
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
      : [this.summaries.length ? h("span", {}, t("{n} runs", { n: this.summaries.length })) : null];
    const back = this.bar.querySelector(".back") ?? link({ page: "list" }, { class: "back" }, `‹ ${t("All runs")}`);
    const facts = h("span", { class: "run-now" }, ...parts);
    if (back.isConnected) this.bar.querySelector(".run-now")?.replaceWith(facts);
    else replace(this.bar, back, facts);
    document.title = `${alive ? first.name : t("{n} runs", { n: this.ids.length })} · Holter`;
  }
}
