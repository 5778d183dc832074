// The findings panel: stories, each a root with its consequences, with evidence, rule, alternatives and advice.

import { num } from "./columns";
import { h } from "./dom";
import { span, step, value } from "./format";
import type { Evidence, Finding, Payload, Run, Status, Story } from "./payload";
import { after } from "./phrases";
import { prose } from "./prose";
import { sampleList } from "./samples";
import { badge } from "./verdict";
import { t, told } from "./text";

export interface FindingsContext {
  select: (finding: number | null) => void;
  zoom: (from: number, to: number) => void;
}

export class Findings {
  readonly root: HTMLElement;
  private readonly cards = new Map<number, HTMLDetailsElement>();

  constructor(
    private readonly payload: Payload,
    private readonly run: Run,
    private readonly context: FindingsContext,
  ) {
    const grave = run.stories.filter((s) => s.severity !== "info");
    const aside = run.stories.filter((s) => s.severity === "info");
    this.root = h(
      "section",
      { class: "findings", "aria-label": t("Findings") },
      h("h2", {}, t("Findings")),
      grave.length ? null : h("p", { class: "nothing" }, nothing(run.verdict.status)),
      ...grave.map((s) => this.story(s)),
      aside.length ? h("h3", { class: "aside" }, t("Worth knowing")) : null,
      ...aside.map((s) => this.story(s)),
    );
    const first = grave[0];
    // On a narrow screen an open card would push the strips out of sight.
    if (first && matchMedia("(min-width: 1080px)").matches) this.cards.get(first.root)?.setAttribute("open", "");
  }

  /** Open the card of a finding and bring it into view. */
  show(finding: number | null): void {
    for (const [at, card] of this.cards) {
      card.classList.toggle("selected", at === finding);
      if (at !== finding) continue;
      card.open = true;
      for (let outer = card.parentElement; outer; outer = outer.parentElement)
        if (outer instanceof HTMLDetailsElement) outer.open = true;
      card.scrollIntoView({
        block: "nearest",
        behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth",
      });
      card.querySelector("summary")?.focus({ preventScroll: true });
    }
  }

  /** What is open, by what it is about, so that it can be opened again in newer data. */
  open(): string[] {
    return [...this.cards].filter(([, card]) => card.open).map(([at]) => this.name(at));
  }

  reopen(names: string[]): void {
    for (const [at, card] of this.cards) card.open = names.includes(this.name(at));
  }

  private name(at: number): string {
    const finding = this.run.findings[at];
    return `${finding?.detector} ${finding?.first_step}`;
  }

  private story(story: Story): HTMLElement {
    const followers = story.consequences.map((c) => this.card(c, true));
    return h(
      "article",
      { class: `story ${story.severity}` },
      this.card(story.root, false),
      followers.length ? h("div", { class: "then" }, h("p", { class: "label" }, t("then")), ...followers) : null,
    );
  }

  private card(at: number, follows: boolean): HTMLElement | null {
    const finding = this.run.findings[at];
    if (!finding) return null;
    const card = h(
      "details",
      { class: `finding ${finding.severity}${follows ? " follows" : ""}`, "data-finding": at },
      h(
        "summary",
        { click: () => this.context.select(card.open ? null : at) },
        badge(finding.severity),
        h("span", { class: "finding-name" }, finding.detector),
        h(
          "span",
          { class: "when" },
          when(finding),
        ),
        h("span", { class: "finding-title" }, told(finding.title)),
      ),
      this.body(finding),
    );
    this.cards.set(at, card);
    return card;
  }

  private body(finding: Finding): HTMLElement {
    const [early, late] = [num(finding.onset[0]), num(finding.onset[1])];
    const page = this.payload.detectors[finding.detector];
    const facts = [
      told(finding.sure),
      early < late
        ? t("began between {first} and {last}", { first: step(early), last: step(late) })
        : t("began at {step}", { step: step(early) }),
      t("could be said at {step}", { step: step(num(finding.raised_step)) }),
    ];
    const width = Math.max(num(finding.last_step) - num(finding.first_step), 1);
    return h(
      "div",
      { class: "finding-body" },
      h("p", { class: "facts" }, facts.join(" · ")),
      h(
        "button",
        {
          type: "button",
          class: "plain",
          click: () => this.context.zoom(num(finding.first_step) - width / 2, num(finding.last_step) + width / 4),
        },
        t("Zoom to these steps"),
      ),
      section(t("Evidence"), ...finding.evidence.map(evidence)),
      finding.against.length ? section(t("Against it"), list(finding.against.map(told))) : null,
      finding.alternatives.length
        ? section(
            t("What else it could be"),
            h(
              "ul",
              {},
              ...finding.alternatives.map((a) =>
                h(
                  "li",
                  {},
                  told(a.says),
                  h("span", { class: "check" }, t("To tell: {check}", { check: told(a.check) })),
                ),
              ),
            ),
          )
        : null,
      finding.advice.length
        ? section(t("What to try"), h("ol", {}, ...finding.advice.map((a) => h("li", {}, told(a)))))
        : null,
      sampleList(t("Completions around it"), near(this.run, finding)),
      page?.rule ? rule(finding.code, page.rule) : null,
    );
  }
}

function rule(code: string, sections: { title: string; text: string }[]): HTMLElement {
  return h(
    "details",
    { class: "rule" },
    h("summary", {}, t("The rule {code}", { code })),
    ...sections.flatMap((s) => [h("h4", {}, told(s.title)), prose(told(s.text))]),
  );
}

function near(run: Run, finding: Finding): Run["samples"] {
  const [first, last] = [num(finding.first_step), num(finding.last_step)];
  const before = run.samples.filter((s) => num(s.step) < first).slice(-1);
  const within = run.samples.filter((s) => num(s.step) >= first && num(s.step) <= last);
  return [...before, ...(within.length > 2 ? [within[0], within[within.length - 1]] : within)].filter(
    (s) => s !== undefined,
  );
}

/** The steps of a finding, and whether it is over. */
function when(finding: Finding): string {
  const steps = span(num(finding.first_step), num(finding.last_step));
  return finding.active ? steps : after(steps, t("over"));
}

function section(title: string, ...content: (HTMLElement | null)[]): HTMLElement {
  return h("section", { class: "part" }, h("h3", {}, title), ...content);
}

function list(items: string[]): HTMLElement {
  return h("ul", {}, ...items.map((i) => h("li", {}, i)));
}

const MOST = 12;

function evidence(e: Evidence): HTMLElement {
  const shown = e.steps.slice(0, MOST);
  const more = e.count - shown.length;
  return h(
    "div",
    { class: "evidence" },
    h(
      "p",
      {},
      h("code", {}, e.metric),
      " ",
      h("span", { class: "unit" }, e.unit === "1" ? "" : told(e.unit)),
      " ",
      told(e.says),
    ),
    h(
      "div",
      { class: "values", tabindex: 0, role: "group", "aria-label": t("Values of {metric}", { metric: e.metric }) },
      h(
        "table",
        {},
        h("tr", {}, h("th", { scope: "row" }, t("step")), ...shown.map((s) => h("td", {}, step(num(s))))),
        h(
          "tr",
          {},
          h("th", { scope: "row" }, t("value")),
          ...shown.map((_, i) => h("td", {}, value(num(e.values[i] ?? "NaN")))),
        ),
      ),
    ),
    more > 0 ? h("p", { class: "more" }, t("and {n} more", { n: more })) : null,
  );
}

/** What it means that there is no finding: silence of detectors that did not look, or could not tell, is no health. */
function nothing(status: Status): string {
  if (status === "unjudged") return t("The detectors are still at work.");
  if (status === "cannot-tell") return t("None; the verdict says why that is no sign of health.");
  return t("Nothing at warning or above was found.");
}
