// What a comparison says in words: intervals, what a difference means.

import { num } from "./columns";
import type { Compared, ComparePayload, Difference, Level, Pair } from "./compare_payload";
import { value } from "./format";
import { t } from "./text";

/** Whether a difference stands. */
export function differs(d: Difference): boolean {
  return d.verdict === "higher" || d.verdict === "lower";
}

export type Direction = "better" | "worse" | "otherwise" | "same" | "unknown";

export function direction(d: Difference, signal: Compared): Direction {
  if (d.verdict === "cannot tell") return "unknown";
  if (!differs(d)) return "same";
  return signal.better === "unknown" ? "otherwise" : signal.better === d.verdict ? "better" : "worse";
}

const MARKS: Record<Direction, string> = { better: "▲", worse: "▼", otherwise: "·", same: "=", unknown: "?" };

export function markOf(direction: Direction): string {
  return MARKS[direction];
}

export function word(direction: Direction): string {
  const words: Record<Direction, string> = {
    better: t("better"),
    worse: t("worse"),
    otherwise: t("otherwise"),
    same: t("not distinguishable"),
    unknown: t("cannot tell"),
  };
  return words[direction];
}

/** A difference with its interval: as many digits as can be told apart. */
export function interval(d: Difference): string {
  const difference = short(known(d.difference), true);
  if (d.low === null || d.high === null) return difference;
  return `${difference} [${short(known(d.low))}, ${short(known(d.high))}]`;
}

export function levelText(level: Level | null | undefined): string {
  if (!level) return "–";
  const mean = short(known(level.mean));
  return level.half_width === null ? mean : `${mean} ± ${short(known(level.half_width))}`;
}

/** Three significant digits. */
export function short(x: number, signed = false): string {
  const said = Number.isFinite(x) && x !== 0 ? value(Number(x.toPrecision(3))) : value(x);
  return signed && x > 0 ? `+${said}` : said;
}

export function known(x: Difference["low"]): number {
  return x === null ? NaN : num(x);
}

/** Whether only the noise within the runs could be a yardstick. */
export function within(pair: Pair): boolean {
  return pair.differences.some((d) => d.noise_from === "noise within the runs");
}

export function sameText(pair: Pair): string {
  return within(pair)
    ? t("Not distinguishable beside the noise within the runs")
    : t("Not distinguishable with these seeds");
}

export function labelOf(payload: ComparePayload, group: number): string {
  return payload.groups[group]?.label ?? "";
}

/** Labels as they fit beside a line: of settings that all say the same names only the values. */
export function shortLabels(payload: ComparePayload): string[] {
  const parts = payload.groups.map((g) => g.label.split(" ").map((part) => part.split("=")));
  const names = JSON.stringify(parts[0]?.map(([name]) => name));
  const alike = parts.every((p) => p.every((x) => x.length === 2) && JSON.stringify(p.map(([n]) => n)) === names);
  return parts.map((p, g) => (alike ? p.map(([, value]) => value).join(" · ") : labelOf(payload, g)));
}

export function signalOf(payload: ComparePayload, key: string): Compared | undefined {
  return payload.signals.find((s) => s.key === key);
}
