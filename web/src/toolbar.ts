// The bar that stays in view: the step looked at, the zoom, smoothing, language, theme.

import { h } from "./dom";
import { place, span } from "./format";
import type { Link } from "./link";
import type { Level } from "./smooth";
import { language, t } from "./text";
import type { Choice } from "./theme";
import { choice, choose } from "./theme";

export interface ToolbarContext {
  link: Link;
  /** How the lines of the page can be drawn. */
  lines: (HTMLElement | null)[];
  languages: Record<string, string>;
  speak: (code: string) => void;
}

/** The bar, and how to take it down. */
export function toolbar(context: ToolbarContext): { root: HTMLElement; destroy: () => void } {
  const { link } = context;
  const at = h("output", { class: "at" });
  const reset = h("button", { type: "button", class: "reset", click: () => link.zoom(null) }, t("All steps"));
  const look = (): void => {
    at.textContent =
      link.at === null ? span(...link.shown, link.axis) : place(Number(link.at.toPrecision(7)), link.axis);
  };
  const zoom = (): void => {
    reset.hidden = link.range === null;
    look();
  };
  const ends = [link.onLook(look), link.onZoom(zoom)];
  zoom();
  const themes: [Choice, string][] = [
    ["auto", t("as the system")],
    ["light", t("light theme")],
    ["dark", t("dark theme")],
  ];
  const root = h(
    "div",
    { class: "toolbar", role: "group", "aria-label": t("Charts") },
    at,
    reset,
    h("span", { class: "keys" }, t("drag: zoom · double click: all · ← → + −: keys")),
    ...context.lines,
    picker(t("Theme"), themes, choice(), (v) => choose(v)),
    picker(t("Language"), Object.entries(context.languages), language(), (v) => context.speak(v)),
  );
  return { root, destroy: () => ends.forEach((end) => end()) };
}

/** How strongly lines are smoothed. */
export function smoothing(now: Level, chosen: (level: Level) => void): HTMLElement {
  const levels: [Level, string][] = [
    ["off", t("off")],
    ["light", t("light")],
    ["strong", t("strong")],
  ];
  return picker(t("Smoothing"), levels, now, chosen);
}

export function picker<T extends string>(
  name: string,
  options: [T, string][],
  now: T,
  chosen: (value: T) => void,
): HTMLElement {
  const select = h(
    "select",
    { "aria-label": name, change: () => chosen(select.value as T) },
    ...options.map(([code, said]) => h("option", { value: code, selected: code === now }, said)),
  );
  return h("label", { class: "picker" }, h("span", {}, name), select);
}
