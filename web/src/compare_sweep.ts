// What swept settings did to which signal: in sentences, as a table of rank correlations, and over parallel axes.

import { num } from "./columns";
import { Parallel } from "./compare_parallel";
import type { ComparePayload, Influence, Sweep } from "./compare_payload";
import { scrolled } from "./compare_settings";
import { short, signalOf } from "./compare_words";
import { h } from "./dom";
import { listed } from "./phrases";
import { t } from "./text";

const MOST_SENTENCES = 8;

/** The section, and how to take it down. */
export function sweepSection(payload: ComparePayload, sweep: Sweep): { root: HTMLElement; destroy: () => void } {
  const parallel = new Parallel(payload, sweep);
  const stands = sweep.influences.filter((i) => i.stands);
  const sentences = stands.map((i) => h("li", {}, sentence(payload, i)));
  const root = h(
    "section",
    { class: "sweep" },
    h("h2", {}, t("What the swept settings did")),
    h(
      "div",
      { class: "sweep-parts" },
      h(
        "div",
        { class: "influences" },
        stands.length
          ? h("ul", {}, ...sentences.slice(0, MOST_SENTENCES))
          : h(
              "p",
              { class: "nothing" },
              sweep.too_few
                ? t(
                    "Ranks of so few runs and values cannot show it; the differences between the settings say what can be said.",
                  )
                : t("Nothing that stands out beside the seeds and the number of signals looked at."),
            ),
        sentences.length > MOST_SENTENCES
          ? h(
              "details",
              {},
              h("summary", {}, t("and {n} more", { n: sentences.length - MOST_SENTENCES })),
              h("ul", {}, ...sentences.slice(MOST_SENTENCES)),
            )
          : null,
        ...sweep.together.map((names) =>
          h(
            "p",
            { class: "together" },
            t("{names} always change together: their effects cannot be told apart.", { names: listed(names) }),
          ),
        ),
        correlations(payload, sweep),
      ),
      parallel.root,
    ),
  );
  return { root, destroy: () => parallel.destroy() };
}

function sentence(payload: ComparePayload, i: Influence): string {
  const values = {
    setting: i.setting,
    metric: signalOf(payload, i.signal)?.metric ?? i.signal,
    rho: rho(i),
    p: short(num(i.p)),
  };
  return num(i.rho) > 0
    ? t("a larger {setting} raises {metric} (rank correlation {rho}, p {p})", values)
    : t("a larger {setting} lowers {metric} (rank correlation {rho}, p {p})", values);
}

function correlations(payload: ComparePayload, sweep: Sweep): HTMLElement {
  const of = (setting: string, signal: string): Influence | undefined =>
    sweep.influences.find((i) => i.setting === setting && i.signal === signal);
  const signals = payload.signals.filter((s) => sweep.influences.some((i) => i.signal === s.key));
  const order = [...signals].sort((a, b) => Number(b.outcome) - Number(a.outcome));
  return h(
    "details",
    { class: "correlations", open: order.length <= 12 },
    h("summary", {}, t("Rank correlation of every setting with every signal ({n})", { n: order.length })),
    scrolled(
      t("Rank correlations"),
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          h("th", { scope: "col" }, t("at the end")),
          ...sweep.settings.map((s) => h("th", { scope: "col" }, h("code", {}, s.name))),
        ),
      ),
      h(
        "tbody",
        {},
        ...order.map((s) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, h("code", {}, s.metric)),
            ...sweep.settings.map((setting) => cell(of(setting.name, s.key))),
          ),
        ),
      ),
    ),
    h("p", { class: "more" }, t("Bold: stands beside all that were tested together (false discovery rate 5 %).")),
  );
}

function cell(i: Influence | undefined): HTMLElement {
  if (!i) return h("td", { class: "number" }, "–");
  const strength = Math.min(4, Math.floor(Math.abs(num(i.rho)) * 5));
  return h(
    "td",
    {
      class: `number rho ${num(i.rho) > 0 ? "up" : "down"}${strength} ${i.stands ? "stands" : ""}`,
      title: `p ${short(num(i.p))}`,
    },
    rho(i),
  );
}

function rho(i: Influence): string {
  const said = num(i.rho).toFixed(2).replace("-", "−");
  return num(i.rho) > 0 ? `+${said}` : said;
}
