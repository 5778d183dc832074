// From payload to strips: runs laid over each other by the identifiers of their strips.

import { num } from "./columns";
import type { LoggedCurve } from "./curve";
import { curve } from "./curve";
import type { Payload, Run } from "./payload";
import type { StripModel } from "./strip";
import { t, told } from "./text";

export interface Group {
  id: string;
  title: string;
  strips: StripModel[];
}

export const COLOURS = 8;

/** Colour of the n-th thing that must be told apart. */
export function tone(n: number): string {
  return `--s${(n % COLOURS) + 1}`;
}

/** Colour of one of several runs. */
export function runTone(payload: { runs: { tone?: number }[] }, at: number): string {
  return tone(payload.runs[at]?.tone ?? at);
}

/** Whether a run's lines are dashed, because another run has the same colour. */
function isDashed(payload: Payload, at: number): boolean {
  return (payload.runs[at]?.tone ?? at) % (2 * COLOURS) >= COLOURS;
}

/**
 * The groups of strips of a page.
 *
 * @param shown Positions of the runs that are drawn.
 * @param chosen The run whose findings are shaded.
 */
export function groups(payload: Payload, shown: number[], chosen: number): Group[] {
  const several = payload.runs.length > 1;
  const names = shortNames(payload.runs);
  const strips = new Map<string, { sign: string; model: StripModel }>();
  for (const at of shown) {
    const run = payload.runs[at];
    if (!run) continue;
    for (const strip of run.strips) {
      const drawn = strip.series.flatMap((s, i) => {
        const series = run.series[s];
        if (!series) return [];
        const c = curve(run, at, series, several ? runTone(payload, at) : tone(i), several ? isDashed(payload, at) : series.split === "eval");
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
  for (const { model } of strips.values()) if (focus) mark(model, focus, chosen);
  const named = payload.signs.map((sign) => ({
    id: sign.id,
    title: told(sign.title),
    strips: [...strips.values()].filter((s) => s.sign === sign.id).map((s) => s.model),
  }));
  return [...named, unknown(payload, shown)].filter((g) => g.strips.length);
}

/** Names of runs without the folders that all of them share at either end. */
export function shortNames(runs: { name: string }[]): string[] {
  const parts = runs.map((r) => r.name.split("/"));
  const same = (at: (p: string[]) => string | undefined): boolean =>
    parts.length > 1 && parts.every((p) => p.length > 1 && at(p) === at(parts[0] ?? []));
  while (same((p) => p[0])) for (const p of parts) p.shift();
  while (same((p) => p[p.length - 1])) for (const p of parts) p.pop();
  return parts.map((p) => p.join("/"));
}

function model(payload: Payload, id: string, curves: LoggedCurve[], one: boolean): StripModel {
  const first = curves[0]?.series;
  const titled = first ? told(payload.signals[first.signal]?.title ?? first.metric) : id;
  const title = one && first ? titleOf(titled, first.key, first.label, first.split === "eval") : titled;
  return { id, title, unit: first?.unit ?? "", curves, band: first?.band ?? null, findings: [], resumes: [] };
}

/** A strip of one metric says which: the reward function, the evaluation. */
export function titleOf(titled: string, key: string, label: string, heldOut: boolean): string {
  return [titled, label, heldOut && !key.startsWith("eval/reward") ? t("held out") : ""].filter(Boolean).join(" · ");
}

function mark(model: StripModel, run: Run, at: number): void {
  const metrics = new Set(model.curves.filter((c) => c.run === at).map((c) => c.metric));
  model.findings = run.findings.flatMap((finding, i) =>
    finding.metrics.some((m) => metrics.has(m)) ? [{ finding, at: i }] : [],
  );
  model.resumes = run.resumes.map(num);
}

/** Names that no dialect knows: shown as they are, under their own heading. */
function unknown(payload: Payload, shown: number[]): Group {
  const strips = new Map<string, StripModel>();
  for (const at of shown) {
    const run = payload.runs[at];
    for (const series of run?.unknown ?? []) {
      if (!run) continue;
      const several = payload.runs.length > 1;
      const drawn = curve(run, at, series, several ? runTone(payload, at) : tone(0), several && isDashed(payload, at));
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
  return { id: "unknown", title: t("Names nobody knows"), strips: [...strips.values()] };
}
