// What all strips of a page share: the range of steps that is shown and the step that is looked at.

import type { Axis } from "./format";

export type Range = [number, number];

export class Link {
  /** The range that is shown; null for all steps. */
  range: Range | null = null;
  /** The step under the crosshair; null for none. */
  at: number | null = null;
  private zoomed = new Set<() => void>();
  private looked = new Set<() => void>();

  /**
   * @param whole The steps there are.
   * @param axis What is counted along them.
   */
  constructor(
    public whole: Range,
    public axis: Axis = "step",
  ) {}

  /** Count something else along the charts. */
  count(axis: Axis, whole: Range): void {
    this.axis = axis;
    this.whole = whole;
    this.at = null;
    this.range = null;
  }

  get shown(): Range {
    return this.range ?? this.whole;
  }

  zoom(range: Range | null): void {
    const [low, high] = this.whole;
    if (range !== null) {
      const from = Math.max(low, Math.min(range[0], range[1]));
      const to = Math.min(high, Math.max(range[0], range[1]));
      range = to > from && (from > low || to < high) ? [from, to] : null;
    }
    this.range = range;
    for (const listener of this.zoomed) listener();
  }

  /** Zoom by a factor around the step looked at, or the middle. */
  scale(factor: number): void {
    const [low, high] = this.shown;
    const middle = this.at ?? (low + high) / 2;
    this.zoom([middle - (middle - low) * factor, middle + (high - middle) * factor]);
  }

  look(step: number | null): void {
    this.at = step;
    for (const listener of this.looked) listener();
  }

  onZoom(listener: () => void): () => void {
    this.zoomed.add(listener);
    return () => this.zoomed.delete(listener);
  }

  onLook(listener: () => void): () => void {
    this.looked.add(listener);
    return () => this.looked.delete(listener);
  }
}
