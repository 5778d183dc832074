// From payload to strips: runs laid over each other by the identifiers of their strips.

import type { Placed } from "./along";
import { mover, placedOn } from "./along";
import type { Num } from "./columns";
import { num } from "./columns";
import type { LoggedCurve } from "./curve";
import { curve } from "./curve";
import type { Axis } from "./format";
import type { Extent } from "./marks";
import type { Finding, Payload, Run, Series } from "./payload";
import type { StripModel } from "./strip";
import { t, told } from "./text";
import { runTone, tone } from "./tones";

export interface Group {
  id: string;
  title: string;
  strips: StripModel[];
  /** How many there would be, where not all are drawn. */
  all?: number;
}

/**
 * The groups of strips of a page.
 *
 * @param shown Positions of the runs that are drawn.
 * @param chosen The run whose findings are shaded.
 * @param axis What the runs are laid along.
 */
export function groups(payload: Payload, shown: number[], chosen: number, axis: Axis = "step"): Group[] {
  const several = payload.runs.length > 1;
  const names = shortNames(payload.runs);
  const strips = new Map<string, { sign: string; model: StripModel }>();
  for (const at of shown) {
    const run = payload.runs[at];
    if (!run) continue;
    const moved = mover(run, axis);
    for (const strip of run.strips) {
      // What was measured on held-out data has the colour of the same signal in training, and a dashed line.
      const kinds = [...new Set(strip.series.map((s) => trainKey(run.series[s])))];
      const drawn = strip.series.flatMap((s) => {
        const series = run.series[s];
        if (!series) return [];
        const plain = tone(kinds.indexOf(trainKey(series)));
        const own = series.split === "eval" ? { ...plain, stroke: 1 } : plain;
        const c = moved(curve(run, at, series, several ? runTone(payload, at) : own));
        return [several ? { ...c, label: names[at] ?? run.name } : c];
      });
      // Lines of several runs and several metrics in one strip could not be told apart.
      for (const curves of several ? drawn.map((c) => [c]) : [drawn]) {
        const id = several ? `${strip.id}/${curves[0]?.series?.key ?? ""}` : strip.id;
        const known = strips.get(id);
        if (known) known.model.curves.push(...curves);
        else strips.set(id, { sign: strip.sign, model: model(payload, id, curves, several) });
      }
    }
  }
  const focus = payload.runs[chosen];
  for (const { model } of strips.values()) if (focus) mark(model, focus, chosen, placedOn(focus, axis));
  const named = payload.signs.map((sign) => ({
    id: sign.id,
    title: told(sign.title),
    strips: [...strips.values()].filter((s) => s.sign === sign.id).map((s) => s.model),
  }));
  return [...named, unknown(payload, shown, axis)].filter((g) => g.strips.length);
}

/** The key that a series has, or would have, in training. */
function trainKey(series: Series | undefined): string | undefined {
  return series?.key.replace(/^eval\//, "");
}

/** Names of runs without what all of them share at either end, and without their files where they need none. */
export function shortNames(runs: { name: string }[]): string[] {
  const parts = runs.map((r) => r.name.split("/"));
  const same = (at: (p: string[]) => string | undefined): boolean =>
    parts.length > 1 && parts.every((p) => p.length > 1 && at(p) === at(parts[0] ?? []));
  while (same((p) => p[0])) for (const p of parts) p.shift();
  while (same((p) => p[p.length - 1])) for (const p of parts) p.pop();
  // The name of the file says nothing where that of the folder tells the runs apart.
  const folders = parts.map((p) => p.slice(0, -1).join("/"));
  const told = new Set(folders).size === parts.length && folders.every(Boolean);
  return told ? folders : parts.map((p) => p.join("/"));
}

function model(payload: Payload, id: string, curves: LoggedCurve[], one: boolean): StripModel {
  const first = curves[0]?.series;
  const titled = first ? told(payload.signals[first.signal]?.title ?? first.metric) : id;
  const title = one && first ? titleOf(titled, first.signal, first.label, first.split === "eval") : titled;
  return { id, title, unit: first?.unit ?? "", curves, band: first?.band ?? null, findings: [], resumes: [] };
}

/** A strip of one metric says which: the reward function, the evaluation. Signals of evaluations only say so by their titles. */
export function titleOf(titled: string, signal: string, label: string, heldOut: boolean): string {
  return [titled, label, heldOut && !signal.startsWith("eval/") ? t("held out") : ""].filter(Boolean).join(" · ");
}

function mark(model: StripModel, run: Run, at: number, placed: Placed): void {
  const metrics = new Set(model.curves.filter((c) => c.run === at).map((c) => c.metric));
  model.findings = run.findings.flatMap((finding, i) =>
    finding.metrics.some((m) => metrics.has(m)) ? [{ finding, at: i, drawn: extent(finding, placed) }] : [],
  );
  model.resumes = run.resumes.map(num).map(placed);
}

function extent(finding: Finding, placed: Placed): Extent {
  const [early, late] = finding.onset;
  const on = (step: Num): number => placed(num(step));
  return { first: on(finding.first_step), last: on(finding.last_step), early: on(early), late: on(late) };
}

/** Names that no dialect knows: shown as they are, under their own heading. */
function unknown(payload: Payload, shown: number[], axis: Axis): Group {
  const strips = new Map<string, StripModel>();
  for (const at of shown) {
    const run = payload.runs[at];
    for (const series of run?.unknown ?? []) {
      if (!run) continue;
      const several = payload.runs.length > 1;
      const drawn = mover(run, axis)(curve(run, at, series, several ? runTone(payload, at) : tone(0)));
      const known = strips.get(series.metric);
      if (known) known.curves.push(drawn);
      else
        strips.set(series.metric, {
          id: `unknown/${series.metric}`,
          title: series.metric,
          unit: "",
          curves: [drawn],
          band: null,
          findings: [],
          resumes: [],
        });
    }
  }
  const names = new Set(shown.flatMap((at) => payload.runs[at]?.unknown_names ?? []));
  return { id: "unknown", title: t("Names nobody knows"), strips: [...strips.values()], all: names.size };
}
