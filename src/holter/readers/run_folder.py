"""Holter's own run folder: the metrics files of a run's segments, read as one log with the manifest beside them."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.base import Skipped
from holter.readers.records import Records
from holter.store.layout import manifest_file
from holter.store.manifest import read_manifest
from holter.store.reading import lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from holter.readers.base import RawLog, Source
    from holter.store.manifest import Manifest

_NAME = re.compile(r"metrics-(\d+)\.jsonl")
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
        return _NAME.fullmatch(re.split(r"[/\\]", name)[-1]) is not None

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log. Rows of older segments that a newer one replaced stay in it; a run decides what counts.

        Raises:
            UnreadableLogError: When no segment holds a row, or a manifest is broken.
        """
        files = source.parts or ((source.path,) if source.path is not None else ())
        if not files:
            raise UnreadableLogError.of(source.name, "the lines of a run folder without the folder.")
        records = Records(source.name)
        numbered = sorted((_number(file), file) for file in files)
        manifests = [_manifest(file, number) for number, file in numbered]
        for index, (_, file) in enumerate(numbered):
            gone = _never_reached(numbered[index + 1 :], manifests[index + 1 :])
            _add(records, file, gone)
        config = next((m.config for m in reversed(manifests) if m is not None), {})
        records.config.update(config)
        if not len(records.table):
            raise UnreadableLogError.of(source.name, "it holds no row yet.")
        notes = [f"segments of a resumed run: {len(numbered)}"] if len(numbered) > 1 else []
        yield records.log(source.name, self.name, lines=len(numbered) == 1, notes=notes)


def _number(file: Path) -> int:
    match = _NAME.fullmatch(file.name)
    return int(match[1]) if match else 0


def _manifest(file: Path, number: int) -> Manifest | None:
    beside = manifest_file(file.parent, number)
    return read_manifest(beside) if beside.exists() else None


def _never_reached(later: list[tuple[int, Path]], manifests: list[Manifest | None]) -> list[tuple[float, float]]:
    """Steps between the checkpoint that a later segment resumed from and its first row: no row will ever replace them."""
    out = []
    for (_, file), manifest in zip(later, manifests, strict=True):
        parent = manifest.parent if manifest is not None else None
        if parent is not None and parent.step is not None:
            steps = (line.row["step"] for line in lines(file) if line.row is not None and "step" in line.row)
            out.append((parent.step, next((s for s in steps if isinstance(s, int | float)), math.inf)))
    return out


def _add(records: Records, file: Path, gone: list[tuple[float, float]]) -> None:
    for line in lines(file):
        if line.row is None:
            records.skipped.append(Skipped(str(file), line.number, line.fault))
        elif line.gap is not None:
            lost, why = line.gap.get("lines"), line.gap.get("why")
            records.skipped.append(Skipped(str(file), line.number, f"{lost} rows could not be written here: {why}"))
        else:
            step = line.row.get("step")
            if isinstance(step, int | float) and any(low < step < high for low, high in gone):
                continue
            records.add(line.row, line.number)


RUN_FOLDER = RunFolder()
