// The dashboard: the list of runs, or a page over some of them, whichever the address names.

import type { Words } from "./api";
import { ask, Refusal } from "./api";
import { h, replace } from "./dom";
import { Live } from "./live";
import { Palette } from "./palette";
import { here, start as startPlaces } from "./place";
import { RunList } from "./run_list";
import { RunView } from "./run_view";
import { know, language, speak, t } from "./text";
import { choice, choose, start as startTheme } from "./theme";
import type { Choice } from "./theme";
import { picker } from "./toolbar";

const KEY = "holter-language";

class Dashboard {
  private readonly palette = new Palette();
  private readonly lost = h("div", { class: "lost", role: "alert", hidden: true });
  private readonly body = h("div", {});
  private shown: RunList | RunView | null = null;

  constructor(private readonly words: Words) {
    know(words.texts);
    speak(preferred(words));
    document.body.append(this.lost, this.body);
    startPlaces(() => this.show());
    addEventListener("keydown", (event) => this.key(event));
    this.show();
    new Live((connected) => this.connected(connected)).onVersion((version) => void this.refresh(version));
  }

  /** Show the page that the address names. */
  private show(): void {
    this.shown?.destroy();
    const place = here();
    if (place.page === "list") {
      const list = new RunList(this.palette);
      this.shown = list;
      document.title = "Holter";
      replace(this.body, h("main", { class: "page" }, this.head(), list.root));
    } else {
      const view = new RunView(place.ids, this.palette);
      this.shown = view;
      replace(this.body, view.root);
    }
    scrollTo(0, 0);
    void this.refresh();
  }

  private async refresh(version?: string): Promise<void> {
    try {
      await this.shown?.refresh(version);
    } catch (error) {
      // The stream of events tells that the connection is lost, and asks again when it is there.
      if (!(error instanceof Refusal)) throw error;
    }
  }

  private connected(yes: boolean): void {
    this.lost.hidden = yes;
    replace(this.lost, yes ? null : t("The connection to Holter is lost. What is shown may be old; it is sought again."));
  }

  private key(event: KeyboardEvent): void {
    const typing = event.target instanceof HTMLInputElement && event.target.type !== "checkbox";
    if (event.key !== "/" || typing || !(this.shown instanceof RunList)) return;
    event.preventDefault();
    this.shown.focus();
  }

  private head(): HTMLElement {
    const themes: [Choice, string][] = [["auto", t("as the system")], ["light", t("light theme")], ["dark", t("dark theme")]];
    return h(
      "header",
      { class: "masthead" },
      h("h1", { class: "brand" }, "Holter"),
      h("span", { class: "masthead-tools" }, picker(t("Theme"), themes, choice(), choose), picker(t("Language"), Object.entries(this.words.languages), language(), (code) => this.say(code))),
    );
  }

  private say(code: string): void {
    speak(code);
    try {
      localStorage.setItem(KEY, code);
    } catch {
      // A page without storage forgets it.
    }
    this.show();
  }
}

/** The language asked for in the address, else the one chosen here before, else the server's where it was told one, else the
 * browser's. */
function preferred(words: Words): string {
  let kept: string | null = null;
  try {
    kept = localStorage.getItem(KEY);
  } catch {
    // Nothing is remembered.
  }
  const known = (code: string): boolean => code in words.languages;
  const asked = new URLSearchParams(location.search).get("lang");
  if (asked && known(asked)) return asked;
  if (kept && known(kept)) return kept;
  if (words.language !== "en") return words.language;
  return navigator.languages.map((l) => l.split("-")[0] ?? "").find(known) ?? "en";
}

startTheme();
void ask<Words>("/api/words").then((words) => new Dashboard(words));
