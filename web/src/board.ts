// The strips of a page, by vital sign; drawn when they come into view, linked by one Link.

import { h } from "./dom";
import type { Group } from "./model";
import type { StripContext } from "./strip";
import { Strip } from "./strip";
import { t } from "./text";

/** Groups that are closed until somebody asks. */
const CLOSED = new Set(["other", "unknown"]);

export class Board {
  readonly root: HTMLElement;
  private readonly strips = new Map<Element, Strip>();
  private readonly seen: IntersectionObserver;
  private readonly sized: ResizeObserver;
  private readonly printing = (): void => this.drawAll();

  constructor(
    private groups: Group[],
    private readonly context: StripContext,
  ) {
    this.seen = new IntersectionObserver(
      (entries) => {
        for (const { target, isIntersecting } of entries) {
          const strip = this.strips.get(target);
          if (!strip) continue;
          strip.near = isIntersecting;
          if (isIntersecting) this.drawOnce(target);
        }
      },
      { rootMargin: "400px" },
    );
    this.sized = new ResizeObserver((entries) => {
      for (const entry of entries) this.strips.get(entry.target)?.resize();
    });
    this.root = h("div", { class: "board" }, ...groups.map((g) => this.group(g, context)));
    addEventListener("beforeprint", this.printing);
  }

  /** Show newer data; false where the strips are not the same ones and the board has to be made anew. */
  update(groups: Group[]): boolean {
    if (JSON.stringify(groups.map(outline)) !== JSON.stringify(this.groups.map(outline))) return false;
    this.groups = groups;
    const strips = [...this.strips.values()];
    for (const [i, model] of groups.flatMap((g) => g.strips).entries()) strips[i]?.update(model);
    return true;
  }

  /** Draw every strip that was drawn before anew. */
  refresh(): void {
    for (const strip of this.strips.values()) if (strip.drawn) strip.draw();
  }

  /** Draw marks anew, when the chosen finding changed. */
  mark(): void {
    for (const strip of this.strips.values()) strip.redraw();
  }

  destroy(): void {
    this.seen.disconnect();
    this.sized.disconnect();
    removeEventListener("beforeprint", this.printing);
    for (const strip of this.strips.values()) strip.destroy();
  }

  /** Every strip as wide as it is now. */
  private drawAll(): void {
    for (const [root, strip] of this.strips) {
      strip.near = true;
      strip.resize();
      this.drawOnce(root);
    }
  }

  private drawOnce(root: Element): void {
    const strip = this.strips.get(root);
    if (!strip || strip.drawn) return;
    strip.draw();
    this.context.seen?.(strip);
  }

  private group(group: Group, context: StripContext): HTMLElement {
    const strips = group.strips.map((model, i) => {
      const strip = new Strip(model, context, i === group.strips.length - 1);
      this.strips.set(strip.root, strip);
      this.seen.observe(strip.root);
      this.sized.observe(strip.root);
      return strip.root;
    });
    const title = h("h3", {}, group.title);
    if (!CLOSED.has(group.id)) return h("section", { class: "sign", "data-sign": group.id }, title, ...strips);
    const [n, all] = [strips.length, group.all ?? 0];
    const said = all > n ? t("{n} of {all} strips", { n, all }) : n === 1 ? t("1 strip") : t("{n} strips", { n });
    const count = h("span", { class: "count" }, said);
    return h("details", { class: "sign closed", "data-sign": group.id }, h("summary", {}, title, count), ...strips);
  }
}

/** What must be the same for a strip to show newer data in place. */
function outline(group: Group): unknown {
  return [group.id, group.strips.map((s) => [s.id, s.band, s.curves.map((c) => [c.run, c.label, c.colour])])];
}
