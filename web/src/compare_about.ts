// How runs were compared: grouping, axis, what some did not log, the runs themselves, what could not be read.

import type { ComparePayload } from "./compare_payload";
import { scrolled } from "./compare_settings";
import { h } from "./dom";
import { step } from "./format";
import { counted, listed } from "./phrases";
import { t, told } from "./text";
import { badge } from "./verdict";

export function about(payload: ComparePayload): HTMLElement {
  const only = Object.entries(payload.only_in);
  return h(
    "section",
    { class: "about" },
    h("h2", {}, t("How this was compared")),
    h(
      "div",
      { class: "about-parts" },
      h(
        "div",
        { class: "about-part" },
        h("p", {}, t("Grouped: {how}; --group-by says otherwise.", { how: told(payload.grouped) })),
        h("p", { class: "note" }, told(payload.method)),
        ...payload.refused.map((r) => h("p", { class: "note" }, t("Not read: {what}", { what: told(r) }))),
      ),
      only.length
        ? h(
            "div",
            { class: "about-part" },
            h("h3", {}, t("Not in all settings ({n})", { n: only.length })),
            h(
              "details",
              {},
              h("summary", {}, t("{n} signals cannot be compared everywhere", { n: only.length })),
              h(
                "ul",
                {},
                ...only.map(([key, labels]) =>
                  h("li", {}, h("code", {}, key), " ", t("only in {labels}", { labels: listed(labels) })),
                ),
              ),
            ),
          )
        : null,
    ),
    runs(payload),
  );
}

function runs(payload: ComparePayload): HTMLElement {
  const heads = [t("run"), t("setting"), t("seed"), t("rows"), t("verdict"), t("what was found"), t("path")];
  return h(
    "details",
    { class: "overview all-runs" },
    h("summary", {}, counted(payload.runs.length)),
    scrolled(
      t("Runs"),
      h("thead", {}, h("tr", {}, ...heads.map((x) => h("th", { scope: "col" }, x)))),
      h(
        "tbody",
        {},
        ...payload.runs.map((run, r) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, run.short_name)),
            h("td", {}, payload.groups.find((g) => g.runs.includes(r))?.label ?? ""),
            h("td", { class: "number" }, run.seed === null ? "–" : String(run.seed)),
            h("td", { class: "number" }, step(run.rows)),
            h("td", {}, badge(run.status)),
            h("td", { class: "title" }, told(run.title)),
            h("td", { class: "value" }, run.path),
          ),
        ),
      ),
    ),
  );
}
