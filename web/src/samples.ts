// Completions: quoted as text, with what was measured beside them.

import { num } from "./columns";
import { h } from "./dom";
import { step, value } from "./format";
import type { Run, Sample } from "./payload";
import { t } from "./text";

/** Completions of a few steps; null where there are none. */
export function sampleList(title: string, steps: Run["samples"]): HTMLElement | null {
  if (!steps.length) return null;
  return h(
    "details",
    { class: "samples" },
    h("summary", {}, title),
    ...steps.map((s) =>
      h(
        "section",
        {},
        h("p", { class: "at-step" }, t("step {step}", { step: step(num(s.step)) })),
        ...s.rows.map(sample),
      ),
    ),
  );
}

export function sample(row: Sample): HTMLElement {
  const numbers = Object.entries(row.numbers).map(([name, x]) =>
    h("li", {}, h("code", {}, name), ` ${x === null ? "–" : value(num(x))}`),
  );
  return h(
    "figure",
    { class: "sample" },
    row.prompt ? h("blockquote", { class: "prompt" }, row.prompt) : null,
    h("blockquote", { class: "completion" }, row.completion || t("(empty)")),
    row.completion.length < row.characters
      ? h("p", { class: "more" }, t("cut here; {n} characters in all", { n: row.characters }))
      : null,
    h("figcaption", {}, h("ul", {}, ...numbers)),
  );
}
