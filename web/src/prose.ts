// The little Markdown that Holter's own pages use: paragraphs, lists, tables, fences, `code`.

import { h } from "./dom";
import { listed } from "./phrases";

/** Markdown as elements. */
export function prose(markdown: string): HTMLElement {
  return h(
    "div",
    { class: "prose" },
    ...markdown
      .split(/\n{2,}/)
      .filter((block) => block.trim())
      .map((block) => element(block.trim())),
  );
}

function element(block: string): HTMLElement {
  if (block.startsWith("```")) return h("pre", {}, block.replace(/^```\w*\n?|\n?```$/g, ""));
  if (block.startsWith("|")) return table(block);
  if (/^[-*] /.test(block)) {
    const items = block.split(/\n(?=[-*] )/).map((item) => item.replace(/^[-*] /, "").replace(/\s+/g, " "));
    return h("ul", {}, ...items.map((item) => h("li", {}, ...inline(item))));
  }
  return h("p", {}, ...inline(block.replace(/\s+/g, " ")));
}

function table(block: string): HTMLElement {
  const rows = block.split("\n").map((line) =>
    line
      .replace(/^\||\|$/g, "")
      .split("|")
      .map((cell) => cell.trim()),
  );
  const [head = [], , ...body] = rows;
  return h(
    "div",
    { class: "table", tabindex: 0, role: "group", "aria-label": listed(head) },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, ...head.map((c) => h("th", { scope: "col" }, ...inline(c))))),
      h("tbody", {}, ...body.map((r) => h("tr", {}, ...r.map((c) => h("td", {}, ...inline(c)))))),
    ),
  );
}

/** `code` in backticks; everything else is text. */
export function inline(text: string): (HTMLElement | string)[] {
  return text
    .split(/(`[^`]+`)/)
    .map((part) => (part.startsWith("`") && part.length > 2 ? h("code", {}, part.slice(1, -1)) : part));
}
