"""Finds the page of whatever a user names: a signal, a concept, a detector, a dialect, a reader, a framework's own name."""

from __future__ import annotations

import difflib
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from holter.detectors.registry import all_detectors
from holter.dialects.registry import ANY_SCORE, GENERIC, all_dialects, dialect, lineage, meaning
from holter.errors import UnknownNameError
from holter.language import told
from holter.readers.registry import all_readers
from holter.reports.pages import (
    Page,
    concept_page,
    detector_page,
    dialect_page,
    name_page,
    readable,
    reader_page,
    signal_page,
)
from holter.signals.catalog import catalog, concepts, find

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from holter.dialects.registry import Meaning

T = TypeVar("T")


def look_up(name: str) -> Page:
    """The page of `name`, whatever kind of thing it names.

    Where kinds share a name, a signal's key comes before a detector, a detector before a concept, and a framework's own
    names come last.

    Raises:
        UnknownNameError: With the nearest names of every kind.
    """
    name = name.strip()
    members = (_member(all_dialects(), name, dialect_page), _member(all_readers(), name, reader_page))
    pages = [p for p in (_signal(name), _detector(name), _concept(name), *members) if p]
    if not pages and (named := _raw(name)):
        pages = [named]
    if not pages and name.startswith("eval/") and len(name) > len("eval/"):
        pages = [signal_page(catalog()[ANY_SCORE], name)]
    if not pages:
        raise UnknownNameError(_unknown(name))
    return _with_namesakes(name, *pages)


def _with_namesakes(name: str, page: Page, *others: Page) -> Page:
    """The page, and where to find what else is called so; a signal's page shows its concept anyway."""
    said = [
        told(
            "`{name}` is also a {kind}, {title}: `holter explain {key}`.",
            name=name,
            kind=told(other.kind),
            title=other.title,
            key=other.facts.get("key", other.name),
        )
        for other in others
        if {page.kind, other.kind} - {"signal", "concept"}
    ]
    return replace(page, markdown="\n".join([page.markdown, *said, ""])) if said else page


def look_up_in(name: str, dialect_name: str) -> Page:
    """The page of a raw name as one dialect means it.

    Raises:
        UnknownNameError: For a dialect that does not exist, or a name that it does not know.
    """
    spoken = dialect(dialect_name)
    found = meaning(spoken, name)
    if found is None:
        known = [readable(n) for table in lineage(spoken) for n in table.names]
        near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
        raise UnknownNameError(
            told("{dialect} has no metric {name!r} that Holter knows.", dialect=told(spoken.title), name=name)
            + _hint(near)
            + told(" `holter explain {dialect}` shows all its names.", dialect=spoken.name)
        )
    return name_page(name, {spoken.name: found})


def members(kind: str) -> list[dict[str, str]]:
    """Everything of one kind (``signals``, ``detectors``, ``readers``, ``dialects``), one entry each."""
    if kind == "signals":
        return [
            {"name": s.key, "title": told(s.title), "unit": str(s.unit), "concept": s.concept}
            for s in catalog().values()
        ]
    if kind == "detectors":
        pages = {d.code: detector_page(d) for d in all_detectors().values()}
        return [{"name": page.name, "title": page.title, "code": code} for code, page in pages.items()]
    if kind == "readers":
        return [{"name": r.name, "title": told(r.title)} for r in all_readers().values()]
    return [{"name": d.name, "title": told(d.title), "versions": told(d.spoken_by)} for d in all_dialects().values()]


def _signal(name: str) -> Page | None:
    found = find(name)
    if found is not None and found[0].key != ANY_SCORE:
        return signal_page(found[0], name)
    if name == ANY_SCORE:
        return signal_page(catalog()[ANY_SCORE])
    evaluated = find(name.removeprefix("eval/")) if name.startswith("eval/") else None
    return signal_page(evaluated[0], name) if evaluated is not None else None


def _concept(name: str) -> Page | None:
    known = concepts().get(name)
    if known is None:
        return None
    return concept_page(name) if len(known) > 1 else signal_page(known[0])


def _detector(name: str) -> Page | None:
    asked = {name.lower().replace("_", "-"), name.upper()}
    return next((detector_page(d) for d in all_detectors().values() if {d.name, d.code} & asked), None)


def _member(known: Mapping[str, T], name: str, page: Callable[[T], Page]) -> Page | None:
    """The page of a dialect or a reader, however its name is typed."""
    found = known.get(name.lower().replace("_", "-"))
    return page(found) if found is not None else None


def _raw(name: str) -> Page | None:
    """What the frameworks that have this name mean by it; what only the generic table knows where none has."""
    meanings = {d: found for d, s in all_dialects().items() if d != GENERIC and (found := _listed(s.name, name))}
    if not meanings and (guessed := _listed(GENERIC, name)):
        meanings = {GENERIC: guessed}
    return name_page(name, meanings) if meanings else None


def _listed(dialect_name: str, name: str) -> Meaning | None:
    """What a dialect's tables say of a name; a score that only its prefix tells is left out."""
    found = meaning(dialect(dialect_name), name)
    return found if found is not None and not found.key.startswith("eval/") else None


def _unknown(name: str) -> str:
    kinds: dict[str, Iterable[str]] = {
        "signal": catalog(),
        "concept": concepts(),
        "detector": [n for d in all_detectors().values() for n in (d.name, d.code)],
        "dialect": all_dialects(),
        "reader": all_readers(),
    }
    of = {n: kind for kind, known in reversed(kinds.items()) for n in known}
    near = difflib.get_close_matches(name, list(of), n=4, cutoff=0.65)
    near += [n for n in of if n not in near and len(name) > 2 and name.lower() in n.lower()][: max(0, 4 - len(near))]
    return (
        told("Nothing is called {name!r}.", name=name)
        + _hint([told("{title} ({aside})", title=n, aside=told(of[n])) for n in near])
        + told(" `holter list signals` (or detectors, readers, dialects) shows them all.")
    )


def _hint(near: Sequence[str]) -> str:
    return told(" Did you mean {names}?", names=told(", ").join(near)) if near else ""
