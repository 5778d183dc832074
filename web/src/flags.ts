// Flags above a strip where findings begin: a button each, so that a click or a key opens the finding.

import { after } from "./phrases";
import type uPlot from "uplot";
import { num } from "./columns";
import { h } from "./dom";
import { span } from "./format";
import type { StripContext, StripModel } from "./strip";

const ROW = 20;
const ROWS = 2;
/** Width of a flag: of a letter of its name, of what stands around it, and of one that shows its mark only. */
const LETTER = 6.5;
const AROUND = 24;
const NARROW = 21;

type Flagged = StripModel["findings"][number];

interface Place {
  left: number;
  row: number;
  narrow: boolean;
}

/** Room for the flags of a strip with so many findings. */
export function laneHeight(findings: number): number {
  return Math.min(findings, ROWS) * ROW;
}

/** Lay out the flags of a strip over the lane of its chart; called after every draw. */
export function flags(u: uPlot, chart: HTMLElement, findings: Flagged[], context: StripContext): void {
  if (!findings.length) return;
  const [low, high] = [u.scales["x"]?.min ?? 0, u.scales["x"]?.max ?? 1];
  const kept = new Map<string, HTMLElement>();
  for (const old of chart.querySelectorAll<HTMLElement>(".flag")) kept.set(old.dataset["finding"] ?? "", old);
  const seen = findings.filter(({ drawn }) => drawn.first <= high && drawn.last >= low);
  const starts = seen.map(({ drawn }) => u.valToPos(Math.max(drawn.first, low), "x"));
  const names = seen.map(({ finding }) => finding.detector);
  const places = laid(starts, names, u.over.clientWidth);
  const rows = Math.min(findings.length, ROWS);
  for (const [i, { finding, at }] of seen.entries()) {
    const place = places[i];
    if (!place) continue;
    const flag =
      kept.get(String(at)) ??
      make(finding.detector, finding.severity, span(num(finding.first_step), num(finding.last_step)), at, context);
    kept.delete(String(at));
    flag.classList.toggle("selected", context.selected() === at);
    flag.classList.toggle("narrow", place.narrow);
    flag.style.left = `${u.over.offsetLeft + place.left}px`;
    flag.style.top = `${u.over.offsetTop - (rows - place.row) * ROW}px`;
    if (!flag.isConnected) chart.append(flag);
  }
  for (const gone of kept.values()) gone.remove();
}

/** Places for flags that begin at `starts`: with their names where they fit into the rows, else as marks beside each other. */
function laid(starts: number[], names: string[], width: number): Place[] {
  const order = starts.map((_, i) => i).sort((a, b) => (starts[a] ?? 0) - (starts[b] ?? 0));
  for (const narrow of [false, true]) {
    const ends: number[] = Array.from({ length: ROWS }, () => -Infinity);
    const places: Place[] = [];
    for (const i of order) {
      const size = narrow ? NARROW : (names[i]?.length ?? 0) * LETTER + AROUND;
      const wanted = Math.max(0, Math.min(starts[i] ?? 0, width - size));
      let row = ends.findIndex((end) => end <= wanted);
      if (row < 0 && !narrow) break;
      if (row < 0) row = ends.indexOf(Math.min(...ends));
      const left = Math.max(wanted, ends[row] ?? 0);
      ends[row] = left + size + 2;
      places[i] = { left, row, narrow };
    }
    if (Object.keys(places).length === starts.length) return places;
  }
  return [];
}

const MARK = { critical: "✗", warning: "!", info: "i" };

function make(
  name: string,
  severity: "critical" | "warning" | "info",
  when: string,
  at: number,
  context: StripContext,
): HTMLElement {
  return h(
    "button",
    {
      class: `flag ${severity}`,
      type: "button",
      "data-finding": at,
      "aria-label": after(name, when),
      title: after(name, when),
      click: () => context.select(at),
    },
    h("span", { class: "flag-mark", "aria-hidden": "true", "data-mark": MARK[severity] }),
    h("span", { class: "flag-name" }, name),
  );
}
