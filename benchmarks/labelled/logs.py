"""The labelled logs that lie in a folder, each with what would be right and what wrong to say of it.

A set is a folder below the root; a run is a folder with `meta.json` (or `expect.json` beside it). `bench/kinds.json` of the
same root says which detectors name which trouble, so that labels and detectors can change independently.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

SETS = {"runs/trl": "trl", "runs/synthetic": "trl", "cases": "cases", "runs/public": "public"}
"""Folders of the sets below the root, and the table of labels that each speaks."""
NOT_SICK = ("healthy", "too_short_to_judge", "other", "lr_schedule_end")
LEAST_SICK, LEAST_HEALTHY = 25, 20
"""Rows from which a public log is judged: with fewer its reader could not be sure either."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """A log and the truth about it.

    Attributes:
        set: Name of the set.
        id: Name within the set.
        log: The file; None for a run that is made on the spot.
        says: The label in words.
        sick: Whether one of `names` has to be said.
        healthy: Whether nothing may be said at warning or above.
        names: Detectors whose warning names the trouble rightly.
        never: Detectors whose warning contradicts the label.
        onset: Step at which the fault begins, where it was planted.
        course: ``jump``, ``ramp`` or ``start``, where that is known.
        final: Whether only what still holds at the end counts.
    """

    set: str
    id: str
    log: Path | None
    says: str
    sick: bool
    healthy: bool
    names: frozenset[str] = frozenset()
    never: frozenset[str] = frozenset()
    onset: float | None = None
    course: str = ""
    final: bool = False


class Kinds:
    """Which detectors name which trouble, by the label of each set."""

    def __init__(self, root: Path) -> None:
        """Read ``bench/kinds.json`` below `root`."""
        self._tables: dict[str, Any] = json.loads((root / "bench" / "kinds.json").read_text(encoding="utf-8"))

    def names(self, labels: Iterable[str], table: str) -> frozenset[str]:
        """Detectors that name one of `labels` of a set's table rightly."""
        kinds: list[str] = []
        for label in labels:
            found = self._tables[table].get(label, [])
            for kind in [found] if isinstance(found, str) else found:
                kinds += self._tables["instability"] if kind == "INSTABILITY" else [kind]
        return frozenset(d for kind in kinds for d in self._tables["kinds"].get(kind, []))


def labels(root: Path, name: str) -> list[Label] | None:
    """The labelled logs of a set, in the order of their folders; None when the set is not there."""
    folder = root / name
    if not folder.is_dir() or not (root / "bench" / "kinds.json").is_file():
        return None
    kinds = Kinds(root)
    return list(_labels(folder, name, kinds))


def _labels(folder: Path, name: str, kinds: Kinds) -> Iterator[Label]:
    for run in sorted({p.parent for p in folder.rglob("meta.json")}):
        meta = json.loads((run / "meta.json").read_text(encoding="utf-8"))
        about = {"set": name, "id": str(run.relative_to(folder)), "log": run / meta.get("log", "log.jsonl")}
        if SETS[name] == "cases":
            expected = json.loads((run / "expect.json").read_text(encoding="utf-8"))
            yield Label(**about, **_of_case(expected, kinds))
        elif SETS[name] == "public":
            yield Label(**about, **_of_public(meta, kinds))
        else:
            yield Label(**about, **_of_planted(meta, kinds))


def _of_case(expected: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    names = kinds.names(expected["expected"], "cases")
    return {
        "says": ", ".join(expected["expected"]) or "harmless",
        "sick": expected["severity"] == "critical",
        "healthy": expected["severity"] in ("none", "info"),
        "names": names,
        "never": kinds.names(expected["expected_not"], "cases") - names,
    }


def _of_public(meta: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    sick = [label for label in meta["labels"] if label not in NOT_SICK]
    rows = meta.get("n_steps", 0)
    return {
        "says": ", ".join(meta["labels"]),
        "sick": bool(sick) and rows >= LEAST_SICK,
        "healthy": meta["labels"] == ["healthy"] and rows >= LEAST_HEALTHY,
        "names": kinds.names(sick, "public"),
        "final": True,
    }


def _of_planted(meta: Mapping[str, Any], kinds: Kinds) -> dict[str, Any]:
    fault = meta["fault"]
    healthy = fault.startswith("healthy")
    names = kinds.names([fault], "trl")
    return {
        "says": fault,
        "sick": not healthy and bool(names),
        "healthy": healthy,
        "names": names,
        "onset": meta.get("onset_step", meta.get("onset")),
    }
