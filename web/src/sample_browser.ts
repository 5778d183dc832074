// Completions of a run by step, group, reward and text, page by page.

import type { SamplePage, SampleRow } from "./api";
import { ask } from "./api";
import { num } from "./columns";
import { h, replace } from "./dom";
import { step } from "./format";
import { sample } from "./samples";
import { t } from "./text";

const SIZE = 20;
/** Milliseconds of rest after a key before the server is asked. */
const REST = 250;

type Name = "from" | "to" | "group" | "least" | "most" | "text";

export class SampleBrowser {
  readonly root: HTMLElement;
  private readonly inputs: Record<Name, HTMLInputElement>;
  private readonly list = h("div", { class: "sample-list" });
  private readonly said = h("p", { class: "count", role: "status" });
  private readonly more = h("button", { type: "button", class: "plain", click: () => void this.load(this.next ?? 0) }, t("More"));
  private next: number | null = null;
  private timer = 0;
  private under: AbortController | null = null;

  constructor(private readonly id: string) {
    const later = (): void => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => void this.load(0), REST);
    };
    const input = (type: string): HTMLInputElement => h("input", { type, step: "any", input: later });
    this.inputs = { from: input("number"), to: input("number"), group: input("number"), least: input("number"), most: input("number"), text: input("search") };
    const { from, to, group, least, most, text } = this.inputs;
    const field = (name: string, box: HTMLInputElement): HTMLElement => h("label", { class: "field" }, h("span", {}, name), box);
    let asked = false;
    this.root = h(
      "section",
      { class: "page sample-browser", "aria-label": t("Completions by step, group and reward") },
      h(
        "details",
        { toggle: () => !asked && (asked = true) && void this.load(0) },
        h("summary", {}, h("h2", {}, t("Completions by step, group and reward"))),
        h("form", { class: "fields", submit: (event) => event.preventDefault() }, field(t("from step"), from), field(t("to step"), to), field(t("group"), group), field(t("least reward"), least), field(t("greatest reward"), most), field(t("text"), text)),
        this.said,
        this.list,
        this.more,
      ),
    );
  }

  private async load(begin: number): Promise<void> {
    this.under?.abort();
    const under = (this.under = new AbortController());
    const wanted = Object.entries(this.inputs).flatMap(([name, box]): [string, string][] => (box.value.trim() ? [[name, box.value.trim()]] : []));
    try {
      const answer = await ask<SamplePage>(`/api/runs/${this.id}/samples`, [...wanted, ["begin", begin], ["size", SIZE]], under.signal);
      if (!begin) replace(this.list);
      this.list.append(...answer.rows.map(figure));
      this.next = answer.next;
      this.more.hidden = answer.next === null;
      const shown = this.list.childElementCount;
      this.said.textContent = shown ? (answer.next === null ? (shown === 1 ? t("1 completion") : t("{n} completions", { n: shown })) : t("the first {n} completions", { n: shown })) : t("No completion is like that.");
    } catch (error) {
      if (!under.signal.aborted) this.said.textContent = String(error instanceof Error ? error.message : error);
    }
  }
}

function figure(row: SampleRow): HTMLElement {
  const shown = sample({ ...row, characters: row.completion.length });
  shown.prepend(h("p", { class: "at-step" }, t("step {step}", { step: step(num(row.step)) })));
  return shown;
}
