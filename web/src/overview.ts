// Several runs: a table of verdicts. Choosing a row shows that run's findings; its box lays its lines over the others'.

import { num } from "./columns";
import { h } from "./dom";
import { step } from "./format";
import { shortNames } from "./model";
import { counted } from "./phrases";
import type { Head } from "./payload";
import { t, told } from "./text";
import { runTone, swatch } from "./tones";
import { badge } from "./verdict";

/** Columns before those of numbers. */
const NUMBERS = 4;

export interface OverviewContext {
  chosen: number;
  shown: Set<number>;
  choose: (run: number) => void;
  toggle: (run: number) => void;
}

export function overview(runs: Head[], context: OverviewContext): HTMLElement {
  const names = shortNames(runs);
  const rows = runs.map((run, at) =>
    h(
      "tr",
      { class: at === context.chosen ? "chosen" : "", "data-run": at },
      h(
        "td",
        {},
        h(
          "label",
          { class: "draw" },
          h("input", {
            type: "checkbox",
            checked: context.shown.has(at),
            "aria-label": t("Draw {run}", { run: run.name }),
            change: () => context.toggle(at),
          }),
          swatch(runTone({ runs }, at)),
        ),
      ),
      h(
        "th",
        { scope: "row" },
        h(
          "button",
          {
            type: "button",
            class: "run",
            "aria-pressed": at === context.chosen ? "true" : "false",
            title: run.name,
            click: () => context.choose(at),
          },
          names[at] ?? run.name,
        ),
      ),
      h("td", {}, badge(run.verdict.status)),
      h("td", { class: "title" }, told(run.verdict.title)),
      h("td", { class: "number" }, run.last_good_step === null ? "–" : step(num(run.last_good_step))),
      h("td", { class: "number" }, run.last_step === null ? "–" : step(num(run.last_step))),
    ),
  );
  const heads = [t("line"), t("run"), t("verdict"), t("what was found"), t("last good step"), t("last step")];
  return h(
    "section",
    { class: "overview" },
    h("h2", {}, counted(runs.length)),
    h(
      "div",
      { class: "table", tabindex: 0, role: "group", "aria-label": t("Verdicts") },
      h(
        "table",
        {},
        h("thead", {}, h("tr", {}, ...heads.map((x, i) => h("th", { scope: "col", class: i < NUMBERS ? "" : "number" }, x)))),
        h("tbody", {}, ...rows),
      ),
    ),
  );
}
