// The values under the crosshair, beside a chart: of every line, or of the outermost and the middle one where there are too many to read.

import type { Curve } from "./curve";
import { nearest } from "./curve";
import { h, replace } from "./dom";
import type { Axis } from "./format";
import { exact, place, value } from "./format";
import { t } from "./text";
import { paint, swatch } from "./tones";

/** From how many lines on only three of them are named. */
export const MANY = 7;
/** Letters at the end of a name that are shown where there is no room for all of it: at least, and at most to begin with a word. */
const [LEAST, MOST] = [10, 18];
/** Between the words of a name. */
const JOINT = /[/_.-]/g;

interface Row {
  root: HTMLElement;
  swatch: HTMLElement;
  name: HTMLElement;
  readout: HTMLElement;
  curve: Curve;
}

export class Readouts {
  readonly root = h("ul", { class: "lines" });
  private readonly rows: Row[];

  /**
   * @param curves What the chart shows.
   * @param explain Opens what is known of a line, beside the element that asked.
   */
  constructor(curves: Curve[], explain: (curve: Curve, beside: HTMLElement) => void) {
    const named = curves.length < MANY ? curves : curves.slice(0, 3);
    const ranks = curves.length < MANY ? [] : [t("max"), t("mid"), t("min")];
    this.rows = named.map((curve, i) => {
      const row: Row = {
        root: h("li", {}),
        swatch: swatch(curve),
        name: h("button", { class: "metric", type: "button", click: () => explain(row.curve, row.name) }),
        readout: h("output", { class: "readout" }),
        curve,
      };
      row.root.append(...(ranks[i] ? [h("span", { class: "rank" }, ranks[i])] : []), row.swatch, row.name, row.readout);
      name(row, curve);
      return row;
    });
    this.root.append(...this.rows.map((r) => r.root));
  }

  /** Show the values nearest to a step, the last ones where none is looked at; says them too. */
  show(curves: Curve[], at: number | null, axis: Axis): string[] {
    const read = curves.map((curve) => {
      const i = at === null ? curve.xs.length - 1 : nearest(curve, at);
      return { curve, x: curve.xs[i], y: curve.ys[i] };
    });
    const shown = curves.length < MANY ? read : ranked(read);
    for (const [i, row] of this.rows.entries()) {
      const { curve, x, y } = shown[i] ?? { curve: row.curve, x: undefined, y: undefined };
      if (curve.label !== row.curve.label) name(row, curve);
      row.curve = curve;
      row.readout.textContent = value(y);
      row.readout.title = y === undefined ? "" : `${exact(y)} · ${place(x ?? NaN, axis)}`;
      row.readout.classList.toggle("broken", y !== undefined && !Number.isFinite(y));
    }
    return shown.map(({ curve, y }) => `${curve.label} ${value(y)}`);
  }
}

/** The greatest, the middle and the least; what is no number comes first, because it has to be seen. */
function ranked<T extends { y: number | undefined }>(read: T[]): T[] {
  const height = (y: number | undefined): number => (y === undefined ? -Infinity : Number.isNaN(y) ? Infinity : y);
  const there = read.filter((r) => r.y !== undefined);
  const order = (there.length >= 3 ? there : read).sort((a, b) => height(b.y) - height(a.y) || 0);
  return [0, order.length >> 1, order.length - 1].flatMap((i) => order[i] ?? []);
}

function name(row: Row, curve: Curve): void {
  const { label } = curve;
  // Where there is no room for all of it the middle goes: names of one strip are told apart by their ends.
  const cut = end(label);
  const head = cut ? h("span", { class: "metric-head" }, label.slice(0, cut)) : null;
  replace(row.name, head, h("span", { class: "metric-end" }, label.slice(cut)));
  row.name.title = label;
  row.name.setAttribute("aria-label", label);
  paint(row.swatch, curve);
}

/** Where the end of a name begins: with one of its words, or in the middle of a long one. */
function end(label: string): number {
  const joints = [...label.matchAll(JOINT)].map((found) => found.index);
  const fits = (at: number): boolean => label.length - at >= LEAST && label.length - at <= MOST;
  return joints.find((at) => at > 0 && fits(at)) ?? Math.max(label.length - LEAST, 0);
}
