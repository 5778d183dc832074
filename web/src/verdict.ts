// The head of a run: what it comes to, how sure, and the phases it went through.

import type { Placed } from "./along";
import { num } from "./columns";
import { h } from "./dom";
import { span, step } from "./format";
import type { Link } from "./link";
import type { Head, Run, Status } from "./payload";
import { after, labelled } from "./phrases";
import { t, told } from "./text";

const MARKS: Record<Status, string> = { critical: "✗", warning: "!", info: "i", healthy: "✓", "cannot-tell": "?", unjudged: "…" };

export function word(status: Status): string {
  const words: Record<Status, string> = {
    critical: t("critical"),
    warning: t("warning"),
    info: t("info"),
    healthy: t("healthy"),
    "cannot-tell": t("cannot tell"),
    unjudged: t("checking"),
  };
  return words[status];
}

/** A status as a mark and a word: never by colour alone. */
export function badge(status: Status): HTMLElement {
  return h(
    "span",
    { class: `badge ${status}` },
    h("span", { class: "badge-mark", "aria-hidden": "true" }, MARKS[status]),
    word(status),
  );
}

export function verdict(run: Head): HTMLElement {
  const { verdict } = run;
  return h(
    "section",
    { class: `verdict ${verdict.status}`, "aria-label": t("Verdict") },
    h(
      "div",
      { class: "verdict-head" },
      badge(verdict.status),
      verdict.status === "unjudged" || verdict.title.toLowerCase().includes(verdict.sure) ? null : h("span", { class: "sure" }, told(verdict.sure)),
    ),
    h("h1", {}, told(verdict.title)),
    h("p", {}, told(verdict.text)),
    run.last_good_step === null
      ? null
      : h("p", { class: "good" }, t("Last good step: {step}", { step: step(num(run.last_good_step)) })),
  );
}

/**
 * The phases as a bar over the steps; pressing one zooms to it.
 *
 * @param placed Where steps lie on the axis of the charts.
 */
export function phases(run: Run, link: Link, placed: Placed): HTMLElement | null {
  if (!run.phases.length) return null;
  const [low, high] = link.whole;
  const parts = run.phases.map((phase, i) => {
    const [first, last] = [num(phase.first_step), num(phase.last_step)];
    const next = run.phases[i + 1];
    const end = next ? num(next.first_step) : last;
    const share = (placed(end) - placed(first)) / (high - low);
    const bar = h(
      "button",
      {
        type: "button",
        class: `phase ${phase.status}`,
        title: labelled(span(first, last), told(phase.title)),
        "aria-label": labelled(after(word(phase.status), span(first, last)), told(phase.title)),
        click: () => link.zoom([placed(first), placed(last)]),
      },
      h("span", {}, span(first, last)),
    );
    bar.style.flexGrow = String(run.phases.length > 1 ? Math.max(share, 0.004) : 1);
    return bar;
  });
  const lines = run.phases.map((phase) =>
    h(
      "li",
      { class: phase.status },
      badge(phase.status),
      h("span", { class: "when" }, span(num(phase.first_step), num(phase.last_step))),
      h("span", {}, told(phase.title)),
    ),
  );
  return h(
    "section",
    { class: "phases", "aria-label": t("Phases") },
    h("h2", {}, t("Phases")),
    h("div", { class: "bar" }, ...parts),
    h("ol", {}, ...lines),
  );
}
