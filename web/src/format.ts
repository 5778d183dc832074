// Numbers as people read them.

import { t } from "./text";

export function value(x: number | null | undefined): string {
  if (x === null || x === undefined) return "–";
  if (Number.isNaN(x)) return "NaN";
  if (!Number.isFinite(x)) return x > 0 ? "+∞" : "−∞";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (Number.isInteger(x) && size < 1e6) return grouped(x);
  if (size >= 1e6 || size < 1e-4)
    return minus(
      x
        .toExponential(3)
        .replace(/\.?0+e/, "e")
        .replace("e+", "e"),
    );
  const digits = size >= 1000 ? 1 : size >= 100 ? 2 : size >= 1 ? 4 : 5;
  return minus(String(Number(x.toFixed(digits))));
}

/** All the digits the file holds. */
export function exact(x: number): string {
  return Number.isFinite(x) ? minus(String(Number(x.toPrecision(7)))) : value(x);
}

export function step(x: number): string {
  return Number.isInteger(x) ? grouped(x) : String(Number(x.toPrecision(6)));
}

export type Axis = "step" | "episodes" | "tokens";

/** A place on an axis. */
export function place(x: number, axis: Axis = "step"): string {
  if (axis === "episodes") return t("{n} episodes", { n: step(x) });
  return axis === "tokens" ? t("{n} tokens", { n: step(x) }) : t("step {step}", { step: step(x) });
}

export function span(first: number, last: number, axis: Axis = "step"): string {
  if (first === last) return place(first, axis);
  const ends = { first: step(first), last: step(last) };
  if (axis === "episodes") return t("{first}–{last} episodes", ends);
  return axis === "tokens" ? t("{first}–{last} tokens", ends) : t("steps {first}–{last}", ends);
}

/** Labels of an axis, with as many digits as their distance needs. */
export function ticks(values: (number | null)[]): string[] {
  const shown = values.filter((v): v is number => v !== null);
  const size = Math.max(...shown.map(Math.abs), 0);
  const far = size >= 1e5 || (size > 0 && size < 1e-3);
  return values.map((v) => {
    if (v === null) return "";
    if (v === 0) return "0";
    return minus(far ? short(v) : String(Number(v.toPrecision(8))));
  });
}

function short(v: number): string {
  const size = Math.abs(v);
  if (size >= 1e9 || size < 1e-2) return Number(v.toPrecision(6)).toExponential().replace("e+", "e");
  if (size >= 1e6) return `${Number((v / 1e6).toPrecision(4))}M`;
  return size >= 1e3 ? `${Number((v / 1e3).toPrecision(4))}k` : String(Number(v.toPrecision(6)));
}

function grouped(x: number): string {
  const [whole = "", rest] = Math.abs(x).toString().split(".");
  const text = (whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, "\u2009") : whole) + (rest ? `.${rest}` : "");
  return x < 0 ? `−${text}` : text;
}

function minus(text: string): string {
  return text.replace(/^-/, "−").replace("e-", "e−");
}
