// Which runs of the list are shown: words, verdict, state, and comparisons with the configuration (`beta>0.01`).

import type { Summary } from "./api";
import type { Status } from "./payload";
import { told } from "./text";

export interface Wanted {
  text: string;
  status: string;
  state: string;
}

type Test = (run: Summary) => boolean;

const COMPARISON = /^([\w./-]+?)(<=|>=|!=|==|=|<|>)(.*)$/;

export function statusOf(run: Summary): Status {
  return run.status ?? "unjudged";
}

export function filter(wanted: Wanted): Test {
  const tests = wanted.text.split(/\s+/).filter(Boolean).map(test);
  if (wanted.status) tests.push((run) => statusOf(run) === wanted.status);
  if (wanted.state) tests.push((run) => run.state === wanted.state);
  return (run) => tests.every((each) => each(run));
}

function test(word: string): Test {
  const [, name, sign, value] = COMPARISON.exec(word) ?? [];
  if (name && sign && value) return (run) => settings(run, name.toLowerCase()).some((x) => compare(x, sign, value));
  const needle = word.toLowerCase();
  return (run) => [run.name, run.dialect, told(run.title), ...run.findings].some((x) => x.toLowerCase().includes(needle));
}

/** Values of a setting, named in full or by the last parts of its path. */
function settings(run: Summary, name: string): string[] {
  return Object.entries(run.config).flatMap(([key, value]) => {
    const known = key.toLowerCase();
    return known === name || known.endsWith(`.${name}`) || known.endsWith(`/${name}`) ? [value] : [];
  });
}

function compare(has: string, sign: string, wanted: string): boolean {
  const [a, b] = [Number(has), Number(wanted)];
  const numbers = has.trim() !== "" && Number.isFinite(a) && Number.isFinite(b);
  const equal = numbers ? Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)) : has.toLowerCase() === wanted.toLowerCase();
  if (sign === "=" || sign === "==") return equal;
  if (sign === "!=") return !equal;
  if (!numbers) return false;
  if (equal) return sign.endsWith("=");
  return sign.startsWith("<") ? a < b : a > b;
}
