// The page over a comparison: what it comes to, the settings, what a sweep did, strips, and two settings' differences.

import { Board } from "./board";
import { about } from "./compare_about";
import { differences, worse } from "./compare_differences";
import { range, reveal, strips } from "./compare_model";
import type { ComparePayload, Pair } from "./compare_payload";
import { settings } from "./compare_settings";
import { sweepSection } from "./compare_sweep";
import { h, replace } from "./dom";
import { Explainer } from "./explain";
import { Link } from "./link";
import { counted } from "./phrases";
import { speak, t, told } from "./text";
import { toolbar } from "./toolbar";
import { badge } from "./verdict";

/** More settings than this are not drawn at once: lines could not be told apart. */
const MOST_DRAWN = 16;
/** More runs than this do not have a thin line each unless somebody asks. */
const MOST_MEMBERS = 24;
/** The same for settings: their runs' noise would cover the means. */
const MOST_SETTINGS = 4;

export class ComparePage {
  readonly root = h("main", { class: "page compare" });
  readonly link: Link;
  private shown: Set<number>;
  private members: boolean;
  private pair: Pair | undefined;
  private ends: (() => void)[] = [];

  constructor(private readonly payload: ComparePayload) {
    this.link = new Link(range(payload), payload.axis);
    this.pair = payload.pairs.find((p) => p.regressions.length) ?? payload.pairs[0];
    this.shown = new Set([...payload.groups.keys()].slice(0, MOST_DRAWN));
    this.members = payload.runs.length <= MOST_MEMBERS && payload.groups.length <= MOST_SETTINGS;
    this.render();
  }

  private render(): void {
    const { payload, link, pair } = this;
    for (const end of this.ends) end();
    const explainer = new Explainer(payload.pages, payload.axis);
    const board = new Board(strips(payload, { groups: this.shown, members: this.members, pair }), {
      link,
      smoothing: () => "off",
      selected: () => null,
      select: () => {},
      explain: (curve, beside) => explainer.show(curve, beside),
    });
    const sweep = payload.sweep && sweepSection(payload, payload.sweep);
    const bar = toolbar({
      link,
      lines: [this.lines()],
      languages: payload.languages,
      speak: (code) => {
        speak(code);
        this.render();
      },
    });
    this.ends = [() => board.destroy(), () => bar.destroy(), () => sweep?.destroy()];
    const title = h("h1", {}, told(payload.headline));
    replace(
      this.root,
      this.masthead(),
      h("div", { class: "summary" }, this.verdict(title), payload.pairs.length === 1 ? worse(payload, pair) : null),
      settings(payload, {
        shown: this.shown,
        second: pair?.second,
        choose: (group) => this.choose(group),
        toggle: (group) => {
          if (!this.shown.delete(group)) this.shown.add(group);
          this.again(`[data-group="${group}"] input`);
        },
      }),
      sweep?.root,
      bar.root,
      h(
        "div",
        { class: "columns" },
        h("section", { class: "vitals", "aria-label": t("Curves") }, h("h2", {}, t("Curves")), this.key(), board.root),
        pair
          ? h(
              "aside",
              { class: "side", "aria-label": t("Differences") },
              differences(payload, pair, (key, at) => reveal(this.root, link, key, at)),
            )
          : null,
      ),
      about(payload),
      explainer.root,
    );
  }

  private masthead(): HTMLElement {
    const { groups, runs, axis } = this.payload;
    const counts = [
      groups.length === 1 ? t("1 setting") : t("{n} settings", { n: groups.length }),
      counted(runs.length),
      axis === "step" ? t("aligned on steps") : axis === "tokens" ? t("aligned on tokens") : t("aligned on episodes"),
    ];
    return h(
      "header",
      { class: "masthead" },
      h("span", { class: "brand" }, "Holter"),
      h("span", { class: "run-facts" }, counts.join(" · ")),
    );
  }

  private verdict(title: HTMLElement): HTMLElement {
    const { payload, pair } = this;
    const status = payload.worse ? "critical" : "info";
    return h(
      "section",
      { class: `verdict ${status}`, "aria-label": t("Verdict") },
      payload.worse ? h("div", { class: "verdict-head" }, worseBadge()) : null,
      title,
      payload.best ? h("p", { class: "good" }, told(payload.best)) : null,
      pair?.began && payload.pairs.length === 1 ? h("p", {}, told(pair.began)) : null,
    );
  }

  /** What the lines mean. */
  private key(): HTMLElement {
    const several = this.payload.groups.some((g) => g.runs.length > 1);
    const parts = [
      several
        ? t("Thick: mean over the seeds; band: its 95 % interval.")
        : t("Thick: mean by stretch over the range that all runs cover."),
      this.members ? t("Thin: every run as it logged.") : "",
      this.pair ? t("Wedge: from here on the two settings lie apart.") : "",
    ];
    return h("p", { class: "more" }, parts.filter(Boolean).join(" "));
  }

  private lines(): HTMLElement {
    const box = h("input", {
      type: "checkbox",
      class: "members",
      checked: this.members,
      change: () => {
        this.members = box.checked;
        this.again(".members");
      },
    });
    return h("label", { class: "picker" }, box, t("single runs"));
  }

  private choose(second: number): void {
    this.pair = this.payload.pairs.find((p) => p.second === second) ?? this.pair;
    this.shown.add(0).add(second);
    this.again(`[data-group="${second}"] button`);
  }

  /** Render anew and leave the focus where it was. */
  private again(focused: string): void {
    const { scrollY } = window;
    this.render();
    window.scrollTo(0, scrollY);
    this.root.querySelector<HTMLElement>(focused)?.focus({ preventScroll: true });
  }
}

function worseBadge(): HTMLElement {
  const shown = badge("critical");
  shown.lastChild?.replaceWith(t("worse"));
  return shown;
}
