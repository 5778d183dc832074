"""Holter's own run folder: the metrics files of a run's segments, read as one log with the manifest beside them."""

from __future__ import annotations

import math
import re
from copy import deepcopy
from dataclasses import replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import phrase, said
from holter.readers.base import RawLog, Skipped
from holter.readers.records import Records
from holter.store.layout import manifest_file, segment_of
from holter.store.manifest import read_manifest
from holter.store.reading import is_never_reached, line_of, lines, resumed_from

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holter.readers.base import Source
    from holter.readers.growth import Growing
    from holter.store.manifest import Manifest
    from holter.store.reading import Line

CLOCK = "time"
"""Name of the column that says when a row was logged, in seconds since 1970."""
_FILE = re.compile(r"\.(?:jsonl?|ndjson|log|txt|gz|out)$", re.IGNORECASE)
_BEGINNING = re.compile(rb'\{"step":[^,{}\[\]]+,"time":')


class RunFolder:
    """Reads ``metrics-<n>.jsonl``, all segments of a folder as one log, oldest first."""

    name = "run-folder"
    title = "Holter's run folder"
    priority = 110

    def recognises(self, name: str, head: bytes) -> bool:
        """By the way every line begins; the name is that of a metrics file, or of the folder that holds several."""
        named = self.gathers(name) or not _FILE.search(name)
        return named and _BEGINNING.match(head) is not None

    def gathers(self, name: str) -> bool:
        """Segments of one run lie in one folder."""
        return segment_of(re.split(r"[/\\]", name)[-1]) is not None

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log. Rows of older segments that a newer one replaced stay in it; a run decides what counts.

        Raises:
            UnreadableLogError: When no segment holds a row.
        """
        if not source.files:
            raise UnreadableLogError.of(source.name, "the lines of a run folder without the folder.")
        folder = _Folder(source)
        for index, file in enumerate(folder.parts):
            for line in lines(file):
                folder.add(index, line)
        yield folder.end()

    def grow(self, source: Source) -> Growing | None:
        """One log, line by line; None while the segments before the newest one do not know where it goes on."""
        folder = _Folder(source)
        return folder if folder.parts and not folder.waits else None


class _Folder:
    """The segments of a run as far as they have been read."""

    outlives_rotation = False

    def __init__(self, source: Source) -> None:
        numbered = sorted((segment_of(file.name) or 0, file) for file in source.files)
        self.parts = tuple(file for _, file in numbered)
        self._name = source.name
        self._records = Records(source.name)
        self._manifests = [self._manifest(file, number) for number, file in numbered]
        self._gone = [_never_reached(numbered[i + 1 :], self._manifests[i + 1 :]) for i in range(len(numbered))]
        self._torn = [b""] * len(numbered)
        self._numbers = [1] * len(numbered)
        self._begins: dict[int, int] = {}
        self._given = 0

    def _manifest(self, file: Path, number: int) -> Manifest | None:
        """The manifest of a segment; None where it is missing or broken, which costs no row."""
        beside = manifest_file(file.parent, number)
        try:
            return read_manifest(beside) if beside.exists() else None
        except UnreadableLogError as error:
            self._records.skipped.append(Skipped.of(str(beside), error))
            return None

    @property
    def waits(self) -> bool:
        """Whether a segment has no row yet: which older rows it makes void is not known."""
        return any(high == math.inf for gone in self._gone for _, high in gone)

    def add(self, index: int, line: Line) -> None:
        """A line of a segment. The lines of older segments come first."""
        records, file = self._records, self.parts[index]
        self._begins.setdefault(index, len(records.table))
        if line.row is None:
            records.skipped.append(Skipped(str(file), line.number, line.fault))
        elif line.gap is not None:
            lost, why = line.gap.get("lines"), line.gap.get("why")
            records.skipped.append(
                Skipped(
                    str(file),
                    line.number,
                    said("{n} rows could not be written here: {why}", n=lost, why=phrase(str(why))),
                )
            )
        else:
            if not is_never_reached(line.row.get("step"), self._gone[index]):
                records.add(line.row, line.number)

    def join(self, part: Path) -> bool:  # noqa: ARG002 - which rows it makes void is told by its first row
        """Never."""
        return False

    def feed(self, part: Path, data: bytes) -> None:
        """More bytes of a segment."""
        index = self.parts.index(part)
        *whole, self._torn[index] = (self._torn[index] + data).split(b"\n")
        for each in whole:
            if each.strip():
                self.add(index, line_of(each + b"\n", self._numbers[index], 0))
            self._numbers[index] += 1

    def fresh(self) -> RawLog | None:
        """The rows that came since the last call."""
        table, first = self._records.table, self._given
        if len(table) == first:
            return None
        self._given = len(table)
        return RawLog(name=self._name, reader=RUN_FOLDER.name, rows=len(table) - first, columns=table.since(first))

    def logs(self) -> list[RawLog]:
        """The log of the lines so far."""
        return [deepcopy(self).end()]

    def end(self) -> RawLog:
        """The segments end here.

        Raises:
            UnreadableLogError: When none holds a row.
        """
        records, several = self._records, len(self.parts) > 1
        records.config.update(next((m.config for m in reversed(self._manifests) if m is not None), {}))
        if not len(records.table):
            raise UnreadableLogError.of(self._name, "it holds no row yet.")
        notes = [said("segments of a resumed run: {n}", n=len(self.parts))] if several else []
        log = records.log(self._name, RUN_FOLDER.name, lines=not several, notes=notes)
        dialect = next((m.dialect for m in reversed(self._manifests) if m is not None and m.dialect), "")
        resumes = tuple(sorted({row for row in self._begins.values() if 0 < row < log.rows}))
        return replace(log, dialects=(dialect,) if dialect else (), resumes=resumes if several else None, clock=CLOCK)


def _never_reached(later: list[tuple[int, Path]], manifests: list[Manifest | None]) -> list[tuple[float, float]]:
    """Steps between the checkpoint that a later segment resumed from and its first row: no row will ever replace them."""
    out = []
    for (_, file), manifest in zip(later, manifests, strict=True):
        checkpoint = resumed_from(manifest)
        if checkpoint < math.inf:
            steps = (line.row["step"] for line in lines(file) if line.row is not None and "step" in line.row)
            out.append((checkpoint, next((s for s in steps if isinstance(s, int | float)), math.inf)))
    return out


RUN_FOLDER = RunFolder()
