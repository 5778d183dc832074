// What is known of a metric, beside it: definition, unit, healthy behaviour, and what this run's values come to.

import { num } from "./columns";
import type { Curve } from "./curve";
import { isThinned } from "./curve";
import { h, replace } from "./dom";
import type { Axis } from "./format";
import { place, value } from "./format";
import type { SignalPage } from "./payload";
import { inline } from "./prose";
import { t, told } from "./text";

export class Explainer {
  readonly root: HTMLElement = h("div", { class: "explain", popover: "auto", role: "dialog", tabindex: -1 });

  /** @param pages What is known of each signal, by key. */
  constructor(
    private readonly pages: Record<string, SignalPage>,
    private readonly axis: Axis = "step",
  ) {}

  show(curve: Curve, beside: HTMLElement): void {
    const page = curve.series ? this.pages[curve.series.signal] : undefined;
    this.root.setAttribute("aria-label", curve.metric);
    replace(
      this.root,
      h("h3", {}, page ? told(page.title) : curve.metric),
      h(
        "p",
        { class: "names" },
        h("code", {}, curve.metric),
        curve.series && curve.series.key !== curve.metric
          ? h("span", {}, " → ", h("code", {}, curve.series.key))
          : null,
      ),
      ...(page
        ? [
            h("p", {}, ...inline(told(page.what))),
            page.formula ? h("pre", {}, page.formula) : null,
            fact(t("Unit"), page.unit),
            fact(t("Range"), page.range),
            fact(t("Sign"), page.sign),
            fact(t("Estimator"), page.estimator),
            fact(t("One value"), page.reduction),
            fact(t("In a healthy run"), page.healthy),
            fact(t("Documentation and code"), page.differs),
          ]
        : [h("p", {}, t("No dialect knows this name: it is drawn and not interpreted."))]),
      numbers(curve, this.axis),
    );
    this.root.showPopover();
    const box = beside.getBoundingClientRect();
    const size = this.root.getBoundingClientRect();
    this.root.style.left = `${Math.max(8, Math.min(box.left, innerWidth - size.width - 8))}px`;
    // Who came by the keyboard reads it there, and Escape leads back.
    this.root.focus({ preventScroll: true });
    this.root.style.top = `${Math.max(8, Math.min(box.bottom + 6, innerHeight - size.height - 8))}px`;
  }
}

function fact(name: string, said: string | undefined): HTMLElement | null {
  return said ? h("p", { class: "fact" }, h("strong", {}, name), " ", ...inline(told(said))) : null;
}

function numbers(curve: Curve, axis: Axis): HTMLElement {
  const { facts } = curve;
  const at = (x: typeof facts.min, where: typeof facts.min): string =>
    x === undefined ? "–" : where === undefined ? value(num(x)) : `${value(num(x))} (${place(num(where), axis)})`;
  const rows: [string, string][] = [
    [t("values"), String(facts.n)],
    [t("first"), at(facts.first, undefined)],
    [t("last"), at(facts.last, facts.last_step)],
    [t("least"), at(facts.min, facts.min_step)],
    [t("median"), at(facts.median, undefined)],
    [t("greatest"), at(facts.max, facts.max_step)],
  ];
  if (facts.nan) rows.push([t("NaN"), String(facts.nan)]);
  if (facts.infinite) rows.push([t("infinite"), String(facts.infinite)]);
  return h(
    "div",
    {},
    h("dl", { class: "numbers" }, ...rows.flatMap(([name, said]) => [h("dt", {}, name), h("dd", {}, said)])),
    isThinned(curve)
      ? h("p", { class: "more" }, t("Drawn from {n} values; the extremes of every stretch are kept.", { n: facts.n }))
      : null,
  );
}
