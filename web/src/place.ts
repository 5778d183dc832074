// Where in the dashboard one is. The only module that makes links, and it makes them of identifiers.

import { h } from "./dom";

export type Place = { page: "list" } | { page: "runs"; ids: string[] };

const ID = /^[0-9a-f]{12}$/;
let go: () => void = () => {};

export function here(): Place {
  const run = /^\/run\/([^/]+)$/.exec(location.pathname)?.[1];
  const ids = run ? [run] : location.pathname === "/overlay" ? new URLSearchParams(location.search).getAll("run") : [];
  const known = ids.filter((id) => ID.test(id));
  return known.length ? { page: "runs", ids: known } : { page: "list" };
}

export function addressOf(place: Place): string {
  if (place.page === "list") return "/";
  const [only] = place.ids;
  return place.ids.length === 1 ? `/run/${only}` : `/overlay?${new URLSearchParams(place.ids.map((id) => ["run", id]))}`;
}

export function visit(place: Place): void {
  history.pushState(null, "", addressOf(place));
  go();
}

/** Call `shown` whenever the place changed. */
export function start(shown: () => void): void {
  go = shown;
  addEventListener("popstate", shown);
}

/** A link within the dashboard; opened in a new tab it leads to the same place. */
export function link(place: Place, attributes: Record<string, string>, ...children: (Node | string)[]): HTMLElement {
  return h(
    "a",
    {
      ...attributes,
      href: addressOf(place),
      click: (event) => {
        const { metaKey, ctrlKey, shiftKey, button } = event as MouseEvent;
        if (metaKey || ctrlKey || shiftKey || button) return;
        event.preventDefault();
        visit(place);
      },
    },
    ...children,
  );
}
