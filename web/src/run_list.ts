// The list of runs: filtered, sorted, kept current. Every row is in the page; the browser skips those out of sight.

import type { Listed, Summary } from "./api";
import { ask } from "./api";
import { num } from "./columns";
import { h, replace } from "./dom";
import { filter, statusOf } from "./filter";
import { oneAtATime } from "./live";
import type { Palette } from "./palette";
import { counted, labelled } from "./phrases";
import { visit } from "./place";
import { Row, stateWord } from "./run_row";
import type { RowContext } from "./run_row";
import type { Status } from "./payload";
import { know, t, told } from "./text";
import { word } from "./verdict";

type Key = "status" | "name" | "state" | "progress" | "age" | "found";

const GRAVITY: Status[] = ["critical", "warning", "cannot-tell", "info", "healthy", "unjudged"];
const STATES = ["failed", "stalled", "running", "resting", "dead", "finished"];

const ORDER: Record<Key, (run: Summary) => number | string> = {
  status: (run) => GRAVITY.indexOf(statusOf(run)),
  name: (run) => run.name,
  state: (run) => STATES.indexOf(run.state),
  progress: (run) => -(run.last_step === null ? -1 : num(run.last_step)),
  age: (run) => run.age ?? Infinity,
  found: (run) => -run.findings.length,
};

export class RunList {
  readonly root: HTMLElement;
  private readonly rows = new Map<string, Row>();
  private readonly body = h("div", { class: "run-rows", role: "rowgroup" });
  private readonly head = h("div", { class: "run-row run-head", role: "row" });
  private readonly said = h("p", { class: "count", role: "status" });
  private readonly refused = h("div", { class: "refused" });
  private readonly text: HTMLInputElement;
  private readonly status: HTMLSelectElement;
  private readonly state: HTMLSelectElement;
  private readonly actions = h("div", { class: "list-actions" });
  private version = "";
  private looked = false;
  private sort: { key: Key; down: boolean } = { key: "status", down: false };
  private readonly timer: ReturnType<typeof setInterval>;
  private readonly context: RowContext = {
    slot: (id) => this.palette.of(id),
    toggle: (id) => this.toggle(id),
  };
  private newest = "?";
  private readonly once = oneAtATime(() => this.load());

  constructor(private readonly palette: Palette) {
    const again = (): void => this.arrange();
    this.text = h("input", { type: "search", class: "filter", placeholder: t("Filter: words, learning_rate=1e-5, beta>0.01"), "aria-label": t("Filter"), input: again });
    this.status = picker(t("Verdict"), GRAVITY.map((s) => [s, word(s)]), again);
    this.state = picker(t("State"), STATES.map((s) => [s, stateWord(s as Summary["state"])]), again);
    this.root = h(
      "section",
      { class: "run-list", "aria-label": t("Runs"), keydown: (event) => this.key(event as KeyboardEvent) },
      h("div", { class: "filters", role: "search" }, this.text, this.status, this.state, this.said, this.actions),
      h("div", { class: "run-table", role: "table", "aria-label": t("Runs") }, h("div", { role: "rowgroup" }, this.head), this.body),
      this.refused,
    );
    this.heads();
    this.said.textContent = t("Reading …");
    this.timer = setInterval(() => this.rows.forEach((row) => row.tick()), 1000);
  }

  destroy(): void {
    clearInterval(this.timer);
  }

  /** Put the cursor where a filter is typed. */
  focus(): void {
    this.text.focus();
  }

  /** Show what there is now; `version` is the server's, where it is known. */
  refresh(version = this.newest): Promise<void> {
    this.newest = version;
    return this.once();
  }

  private async load(): Promise<void> {
    if (this.version === this.newest) return;
    const answer = await ask<Listed>("/api/runs", this.version ? [["since", this.version]] : []);
    this.version = answer.version;
    this.looked = answer.looked;
    know(answer.texts);
    const known = new Set(answer.ids);
    for (const [id, row] of this.rows) {
      if (known.has(id)) continue;
      row.root.remove();
      this.rows.delete(id);
      this.palette.drop(id);
    }
    for (const run of answer.runs) {
      const row = this.rows.get(run.id);
      if (row) row.update(run);
      else this.rows.set(run.id, new Row(run, this.context));
    }
    replace(
      this.refused,
      answer.refused.length
        ? h("details", {}, h("summary", {}, answer.refused.length === 1 ? t("1 file could not be read") : t("{n} files could not be read", { n: answer.refused.length })), h("ul", {}, ...answer.refused.slice(0, 200).map((r) => h("li", {}, h("code", {}, r.file), r.line === null ? "" : `:${r.line}`, ` ${told(r.why)}`))))
        : null,
    );
    this.arrange();
  }

  /** Show the rows that are wanted, in their order. Rows that stand right are not touched, so that focus stays. */
  private arrange(): void {
    const wanted = filter({ text: this.text.value, status: this.status.value, state: this.state.value });
    const value = ORDER[this.sort.key];
    const shown = [...this.rows.values()].filter((row) => wanted(row.run));
    shown.sort((a, b) => {
      const [x, y] = [value(a.run), value(b.run)];
      const by = typeof x === "string" ? x.localeCompare(String(y), undefined, { numeric: true }) : x === y ? 0 : x < Number(y) ? -1 : 1;
      return (this.sort.down ? -by : by) || a.run.name.localeCompare(b.run.name, undefined, { numeric: true });
    });
    const kept = new Set(shown.map((row) => row.root));
    for (const child of [...this.body.children]) if (!kept.has(child as HTMLElement)) child.remove();
    let at = this.body.firstElementChild;
    for (const { root } of shown) {
      if (root === at) at = at.nextElementSibling;
      else this.body.insertBefore(root, at);
    }
    const checking = [...this.rows.values()].filter(({ run }) => !run.status).length;
    const said = shown.length === this.rows.size ? counted(shown.length) : t("{n} of {all} runs", { n: shown.length, all: this.rows.size });
    // A folder that is being looked through for the first time is not an empty one.
    if (!this.looked) this.said.textContent = t("Reading …");
    else this.said.textContent = checking ? `${said} · ${t("{n} being checked", { n: checking })}` : said;
    this.act(shown.map((row) => row.run.id));
  }

  private act(shown: string[]): void {
    const { chosen } = this.palette;
    replace(
      this.actions,
      chosen.length ? h("button", { type: "button", class: "plain primary", click: () => visit({ page: "runs", ids: chosen }) }, t("Show {n} chosen", { n: chosen.length })) : null,
      chosen.length ? h("button", { type: "button", class: "plain", click: () => this.choose([]) }, t("Choose none")) : null,
      shown.length && shown.length <= 20 && chosen.length < shown.length ? h("button", { type: "button", class: "plain", click: () => this.choose(shown) }, t("Choose these {n}", { n: shown.length })) : null,
    );
  }

  private choose(ids: string[]): void {
    if (!ids.length) this.palette.clear();
    for (const id of ids) this.palette.choose(id);
    this.marked();
  }

  private toggle(id: string): void {
    if (this.palette.of(id) >= 0) this.palette.drop(id);
    else this.palette.choose(id);
    this.marked();
  }

  private marked(): void {
    for (const row of this.rows.values()) row.mark();
    this.arrange();
  }

  private heads(): void {
    const columns: [Key, string][] = [["status", t("verdict")], ["name", t("run")], ["state", t("state")], ["progress", t("last step")], ["age", t("last row")], ["found", t("findings")]];
    replace(
      this.head,
      h("span", { role: "columnheader" }, h("span", { class: "unseen" }, t("chosen"))),
      ...columns.map(([key, said]) => {
        const now = this.sort.key === key;
        return h("span", { role: "columnheader", class: key, "aria-sort": now ? (this.sort.down ? "descending" : "ascending") : "none" }, h("button", { type: "button", "data-key": key, click: () => this.sortBy(key) }, said, h("span", { "aria-hidden": "true" }, now ? (this.sort.down ? " ▾" : " ▴") : "")));
      }),
      h("span", { role: "columnheader", class: "spark" }, t("curve")),
    );
  }

  private sortBy(key: Key): void {
    this.sort = { key, down: this.sort.key === key && !this.sort.down };
    this.heads();
    this.head.querySelector<HTMLElement>(`[data-key="${key}"]`)?.focus();
    this.arrange();
  }

  /** Arrows go from run to run, x chooses. */
  private key(event: KeyboardEvent): void {
    const row = (event.target as HTMLElement).closest<HTMLElement>(".run-rows .run-row");
    const from = event.target === this.text;
    if (event.key === "x" && row && !from) this.toggle(row.dataset["run"] ?? "");
    else if (event.key === "ArrowDown" && (row || from)) go(row ? row.nextElementSibling : this.body.firstElementChild);
    else if (event.key === "ArrowUp" && row) go(row.previousElementSibling ?? this.text);
    else return;
    event.preventDefault();
  }
}

function go(to: Element | null): void {
  const focused = to instanceof HTMLInputElement ? to : to?.querySelector<HTMLElement>(".run-link");
  focused?.focus();
}

function picker(name: string, options: [string, string][], changed: () => void): HTMLSelectElement {
  return h("select", { "aria-label": name, change: changed }, h("option", { value: "" }, labelled(name, t("all"))), ...options.map(([code, said]) => h("option", { value: code }, said)));
}
