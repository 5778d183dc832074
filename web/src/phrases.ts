// Parts of a text, put together as the language spoken does.

import { t } from "./text";

/** Names one after the other. */
export function listed(names: readonly string[]): string {
  return names.join(t(", "));
}

/** So many runs. */
export function counted(runs: number): string {
  return runs === 1 ? t("1 run") : t("{n} runs", { n: runs });
}

/** The first of some names, and how many there are besides. */
export function first(names: readonly string[], most: number): string {
  const shown = listed(names.slice(0, most));
  return names.length > most ? t("{names} and {n} more", { names: shown, n: names.length - most }) : shown;
}

/** Statements one after the other. */
export function stated(parts: readonly string[]): string {
  return parts.join(t("; "));
}

/** What something is called, and what there is to say of it. */
export function labelled(what: string, says: string): string {
  return t("{what}: {says}", { what, says });
}

/** What is said, and more of it. */
export function after(before: string, more: string): string {
  return t("{before}, {after}", { before, after: more });
}
