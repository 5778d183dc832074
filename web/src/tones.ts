// How things that must be told apart look: eight colours that the colour-blind can tell apart, and again with other strokes.

import { h } from "./dom";

export interface Tone {
  /** Custom property that holds the colour. */
  colour: string;
  /** Which of `STROKES` the line has. */
  stroke: number;
}

export const COLOURS = 8;
/** Lengths of dashes and gaps: solid, dashed, dotted, dash and dot, long dashes. */
export const STROKES: readonly number[][] = [[], [6, 3], [1.5, 2.5], [9, 3, 2, 3], [14, 4]];

/** The look of the n-th thing. */
export function tone(n: number): Tone {
  return { colour: `--s${(n % COLOURS) + 1}`, stroke: Math.floor(n / COLOURS) % STROKES.length };
}

/** The look of one of several runs. */
export function runTone(payload: { runs: { tone?: number }[] }, at: number): Tone {
  return tone(payload.runs[at]?.tone ?? at);
}

/** A short piece of the line, for a legend. */
export function swatch(look: Tone): HTMLElement {
  const mark = h("span", { class: "swatch" });
  paint(mark, look);
  return mark;
}

/** Give an element a look; the style sheet holds colours and strokes. */
export function paint(element: HTMLElement | SVGElement, { colour, stroke }: Tone): void {
  element.dataset["colour"] = colour.slice(2);
  if (stroke) element.dataset["stroke"] = String(stroke);
  else delete element.dataset["stroke"];
}
