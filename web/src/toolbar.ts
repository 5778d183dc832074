// The bar that stays in view: the step looked at, the zoom, smoothing, language, theme.

import { h } from "./dom";
import { span, step } from "./format";
import type { Link } from "./link";
import type { Level } from "./smooth";
import { language, t } from "./text";
import type { Choice } from "./theme";
import { choice, choose } from "./theme";

export interface ToolbarContext {
  link: Link;
  smoothing: Level;
  smooth: (level: Level) => void;
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
      link.at === null ? span(...link.shown) : t("step {step}", { step: step(Number(link.at.toPrecision(7))) });
  };
  const zoom = (): void => {
    reset.hidden = link.range === null;
    look();
  };
  const ends = [link.onLook(look), link.onZoom(zoom)];
  zoom();
  const levels: [Level, string][] = [
    ["off", t("off")],
    ["light", t("light")],
    ["strong", t("strong")],
  ];
  const themes: [Choice, string][] = [
    ["auto", t("as the system")],
    ["light", t("light theme")],
    ["dark", t("dark theme")],
  ];
  const root = h(
    "div",
    { class: "toolbar", role: "toolbar", "aria-label": t("Charts") },
    at,
    reset,
    h("span", { class: "keys" }, t("drag: zoom · double click: all · ← → + −: keys")),
    picker(t("Smoothing"), levels, context.smoothing, (v) => context.smooth(v)),
    picker(t("Theme"), themes, choice(), (v) => choose(v)),
    picker(t("Language"), Object.entries(context.languages), language(), (v) => context.speak(v)),
  );
  return { root, destroy: () => ends.forEach((end) => end()) };
}

function picker<T extends string>(
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
