// Light and dark: the system's choice unless the reader chose. Colours live in the style sheet; charts ask for them here.

export type Choice = "auto" | "light" | "dark";

const KEY = "holter-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");
const listeners = new Set<() => void>();
let chosen: Choice = "auto";
let cache = new Map<string, string>();

export function choice(): Choice {
  return chosen;
}

export function choose(theme: Choice): void {
  chosen = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Nothing to remember it in.
  }
  show();
}

/** The value of a custom property of the style sheet: `colour("--ink")`. */
export function colour(name: string): string {
  let found = cache.get(name);
  if (found === undefined) {
    found = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
    cache.set(name, found);
  }
  return found;
}

/** Call back when colours change; returns how to stop. */
export function onChange(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function start(): void {
  try {
    const kept = localStorage.getItem(KEY);
    if (kept === "light" || kept === "dark") chosen = kept;
  } catch {
    // A page without storage follows the system.
  }
  show();
  dark.addEventListener("change", () => show());
  // Paper is white: whatever is on the screen, charts are drawn in light colours for printing.
  const { dataset } = document.documentElement;
  addEventListener("beforeprint", () => {
    dataset["printing"] = "";
    show("light");
  });
  addEventListener("afterprint", () => {
    delete dataset["printing"];
    show();
  });
}

function show(theme: Choice = chosen): void {
  document.documentElement.dataset["theme"] = theme === "auto" ? (dark.matches ? "dark" : "light") : theme;
  cache = new Map();
  for (const listener of listeners) listener();
}
