// The settings that are compared: verdict, what sets them apart, where they end; one of them is held against the first.

import type { ComparePayload } from "./compare_payload";
import { differs, labelOf, levelText } from "./compare_words";
import { h } from "./dom";
import type { Status } from "./payload";
import { listed } from "./phrases";
import { t } from "./text";
import { swatch, tone } from "./tones";
import { badge } from "./verdict";

export interface SettingsContext {
  shown: Set<number>;
  /** The setting that is held against the first. */
  second: number | undefined;
  choose: (group: number) => void;
  toggle: (group: number) => void;
}

/** Settings and outcomes that have a column of their own; the others stand in the full table. */
const MOST_COLUMNS = 5;
const MOST_OUTCOMES = 3;
const GRAVITY: Status[] = ["critical", "warning", "cannot-tell", "info", "healthy"];

export function settings(payload: ComparePayload, context: SettingsContext): HTMLElement {
  const named = payload.settings.filter((s) => !isInLabels(payload, s)).slice(0, MOST_COLUMNS);
  const outcomes = payload.signals.filter((s) => s.outcome).slice(0, MOST_OUTCOMES);
  const several = payload.pairs.length > 0;
  const heads: (HTMLElement | string)[] = [
    t("line"),
    t("setting"),
    ...named.map((s) => h("code", {}, s.name)),
    t("runs"),
    t("verdict"),
    t("what was found"),
    ...outcomes.map((s) => h("span", { class: "outcome-head" }, h("code", {}, s.metric), t("at the end"))),
    ...(several ? [t("differ"), t("worse")] : []),
  ];
  return h(
    "section",
    { class: "settings overview" },
    h("h2", {}, payload.groups.length > 1 ? t("Settings") : t("Setting")),
    scrolled(
      t("Settings"),
      h("thead", {}, h("tr", {}, ...heads.map((x) => h("th", { scope: "col" }, x)))),
      h("tbody", {}, ...payload.groups.map((_, g) => row(payload, context, g, named, outcomes, several))),
    ),
    payload.settings.length > MOST_COLUMNS ? everything(payload) : null,
  );
}

function row(
  payload: ComparePayload,
  context: SettingsContext,
  g: number,
  named: ComparePayload["settings"],
  outcomes: ComparePayload["signals"],
  several: boolean,
): HTMLElement {
  const pair = payload.pairs.find((p) => p.second === g);
  return h(
    "tr",
    { class: g === context.second ? "chosen" : "", "data-group": g },
    h(
      "td",
      {},
      h(
        "label",
        { class: "draw" },
        h("input", {
          type: "checkbox",
          checked: context.shown.has(g),
          "aria-label": t("Draw {run}", { run: labelOf(payload, g) }),
          change: () => context.toggle(g),
        }),
        swatch(tone(g)),
      ),
    ),
    h("th", { scope: "row" }, pair && payload.pairs.length > 1 ? chooser(payload, context, g) : name(payload, g)),
    ...named.map((s) => h("td", { class: "value" }, valueOf(payload, s, g))),
    h("td", { class: "number" }, String(payload.groups[g]?.runs.length ?? 0)),
    h("td", {}, h("span", { class: "badges" }, ...statuses(payload, g))),
    h("td", { class: "found" }, found(payload, g)),
    ...outcomes.map((s) => h("td", { class: "number" }, levelText(s.levels[g]))),
    ...(several
      ? [
          h("td", { class: "number" }, pair ? String(pair.differences.filter(differs).length) : "–"),
          h("td", { class: "number" }, pair ? String(pair.regressions.length) : "–"),
        ]
      : []),
  );
}

function name(payload: ComparePayload, g: number): HTMLElement {
  return h("span", { class: "setting-name" }, labelOf(payload, g));
}

function chooser(payload: ComparePayload, context: SettingsContext, g: number): HTMLElement {
  return h(
    "button",
    {
      type: "button",
      class: "run",
      "aria-pressed": g === context.second ? "true" : "false",
      title: t("Hold {second} against {first}", { second: labelOf(payload, g), first: labelOf(payload, 0) }),
      click: () => context.choose(g),
    },
    labelOf(payload, g),
  );
}

function statuses(payload: ComparePayload, g: number): HTMLElement[] {
  const runs = (payload.groups[g]?.runs ?? []).flatMap((r) => payload.runs[r]?.status ?? []);
  return GRAVITY.filter((s) => runs.includes(s)).map((status) => {
    const count = runs.filter((s) => s === status).length;
    const shown = badge(status);
    if (runs.length > 1) shown.append(` ${count}/${runs.length}`);
    return shown;
  });
}

/** What started in the setting's runs, the most frequent first. */
function found(payload: ComparePayload, g: number): string {
  const counted = new Map<string, number>();
  for (const r of payload.groups[g]?.runs ?? [])
    for (const detector of payload.runs[r]?.found ?? []) counted.set(detector, (counted.get(detector) ?? 0) + 1);
  return listed([...counted.entries()].sort((a, b) => b[1] - a[1]).map(([detector]) => detector));
}

function valueOf(payload: ComparePayload, setting: ComparePayload["settings"][number], g: number): string {
  const values = (payload.groups[g]?.runs ?? []).map((r) => setting.values[r] ?? "–");
  return [...new Set(values)].join(" | ");
}

/** Whether every label says the setting's value, so that a column would say it again. */
function isInLabels(payload: ComparePayload, setting: ComparePayload["settings"][number]): boolean {
  const name = setting.name.split(".").pop() ?? "";
  return payload.groups.every((g, i) => ` ${g.label} `.includes(` ${name}=${valueOf(payload, setting, i)} `));
}

/** Every setting that differs, one a row. */
function everything(payload: ComparePayload): HTMLElement {
  return h(
    "details",
    { class: "all-settings" },
    h("summary", {}, t("All {n} settings that differ", { n: payload.settings.length })),
    scrolled(
      t("Set otherwise"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, t("setting")),
          ...payload.groups.map((g) => h("th", { scope: "col" }, g.label)),
        ),
      ),
      h(
        "tbody",
        {},
        ...payload.settings.map((s) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, s.name)),
            ...payload.groups.map((_, g) => h("td", { class: "value" }, valueOf(payload, s, g))),
          ),
        ),
      ),
    ),
  );
}

/** A table that scrolls by itself where the page is narrower. */
export function scrolled(label: string, ...parts: HTMLElement[]): HTMLElement {
  return h("div", { class: "table", tabindex: 0, role: "group", "aria-label": label }, h("table", {}, ...parts));
}
