"""Names of run folders and of the files in them."""

from __future__ import annotations

import itertools
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MANIFEST = "run.json"
FINDINGS = "findings.jsonl"
_MANIFEST = re.compile(r"run(?:-(\d+))?\.json")
_METRICS = re.compile(r"metrics-(\d+)\.jsonl")


def manifest_file(folder: Path, segment: int) -> Path:
    """The manifest of a segment: ``run.json`` for the first, ``run-<n>.json`` after a resume."""
    return folder / (MANIFEST if segment == 0 else f"run-{segment}.json")


def metrics_file(folder: Path, segment: int) -> Path:
    """The logged steps of a segment."""
    return folder / f"metrics-{segment}.jsonl"


def samples_file(folder: Path, segment: int) -> Path:
    """The logged completions of a segment."""
    return folder / f"samples-{segment}.jsonl"


def segment_of(name: str) -> int | None:
    """The segment whose metrics file is called `name`; None for any other file."""
    match = _METRICS.fullmatch(name)
    return int(match[1]) if match else None


def findings_file(folder: Path) -> Path:
    """What the live monitor said."""
    return folder / FINDINGS


def is_run_folder(folder: Path) -> bool:
    """Whether `folder` is one: it has a manifest, or, where that was lost, metrics."""
    return (folder / MANIFEST).is_file() or metrics_file(folder, 0).is_file()


def segment_numbers(folder: Path) -> list[int]:
    """Segments that left a manifest or metrics, oldest first."""
    found = set()
    for file in folder.iterdir():
        match = _MANIFEST.fullmatch(file.name) or _METRICS.fullmatch(file.name)
        if match:
            found.add(int(match[1] or 0))
    return sorted(found)


def numbered_folders(first: Path) -> Iterator[Path]:
    """Names for run after run in one place, without end: `first`, then with ``-2``, ``-3``, ... behind it."""
    yield first
    for number in itertools.count(2):
        yield first.with_name(f"{first.name}-{number}")


def free_folder(first: Path) -> Path:
    """The first of the `numbered_folders` that does not exist."""
    return next(folder for folder in numbered_folders(first) if not folder.exists())
