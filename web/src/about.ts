// What to know besides: advice for the whole run, what was not checked, settings, versions, how the log was read.

import { h } from "./dom";
import type { Payload, Run } from "./payload";
import { first } from "./phrases";
import { inline } from "./prose";
import { t, told } from "./text";

/** Names that nobody knows that are listed. */
const NAMED = 40;

export function advice(run: Run): HTMLElement | null {
  if (!run.advice.length) return null;
  return h(
    "section",
    { class: "advice" },
    h("h2", {}, t("What to try, in this order")),
    h("ol", {}, ...run.advice.map((a) => h("li", {}, ...inline(told(a))))),
  );
}

export function about(payload: Payload, run: Run): HTMLElement {
  return h(
    "section",
    { class: "about" },
    h("h2", {}, t("About this run and this report")),
    h(
      "div",
      { class: "about-parts" },
      h(
        "div",
        { class: "about-part" },
        h("h3", {}, t("The log")),
        pairs({
          [t("path")]: run.path,
          [t("dialect")]: run.dialect,
          [t("step axis")]: told(run.step_axis),
          [t("rows")]: run.rows === null ? "–" : String(run.rows),
        }),
        ...run.notes.map((n) => h("p", { class: "note" }, told(n))),
        run.unknown_names.length
          ? h(
              "p",
              { class: "note" },
              t("Not understood ({n}): {names}", {
                n: run.unknown_names.length,
                names: first(run.unknown_names, NAMED),
              }),
            )
          : null,
        ...payload.refused.map((r) => h("p", { class: "note" }, t("Not read: {what}", { what: told(r) }))),
      ),
      unchecked(payload, run),
      folded(t("Configuration"), run.config),
      folded(t("Versions, machine, code"), run.made_with),
    ),
  );
}

/** Silence is no health: what could not be looked at, and what to log for it. */
function unchecked(payload: Payload, run: Run): HTMLElement {
  const ignored = Object.entries(run.ignored);
  const whole = run.unchecked.length;
  return h(
    "div",
    { class: "about-part" },
    h("h3", {}, t("What was not checked ({n})", { n: whole + ignored.length })),
    whole
      ? h(
          "details",
          {},
          h("summary", {}, whole === 1 ? t("1 detector lacked something") : t("{n} detectors lacked something", { n: whole })),
          h(
            "ul",
            {},
            ...run.unchecked.map((u) =>
              h(
                "li",
                {},
                h("code", { title: told(payload.detectors[u.detector]?.summary ?? "") }, u.detector),
                " ",
                told(u.why),
              ),
            ),
          ),
        )
      : h("p", {}, t("Every detector had what it needs.")),
    ignored.length
      ? h(
          "ul",
          {},
          ...ignored.map(([name, reason]) =>
            h("li", {}, h("code", {}, name), ` ${t("ignored: {reason}", { reason })}`),
          ),
        )
      : null,
  );
}

function folded(title: string, entries: Record<string, string>): HTMLElement {
  const count = Object.keys(entries).length;
  return h(
    "div",
    { class: "about-part" },
    h("h3", {}, title),
    count
      ? h("details", {}, h("summary", {}, count === 1 ? t("1 entry") : t("{n} entries", { n: count })), pairs(entries))
      : h("p", { class: "note" }, t("The log does not say.")),
  );
}

function pairs(entries: Record<string, string>): HTMLElement {
  return h(
    "dl",
    { class: "pairs" },
    ...Object.entries(entries).flatMap(([name, said]) => [h("dt", {}, name), h("dd", {}, said)]),
  );
}
