"""Reading a run folder: manifests, segments, rows; while it grows and after a crash."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.store import layout
from holter.store.encoding import decode, number
from holter.store.manifest import Manifest, read_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a file.

    Attributes:
        number: 1-based.
        row: What it says; None where it is broken.
        fault: Why it is broken; empty where it is not.
        end: Offset of the byte after it, from which reading can go on later.
    """

    number: int
    row: dict[str, Any] | None
    fault: str
    end: int

    @property
    def gap(self) -> dict[str, Any] | None:
        """What a writer said about lines that it could not write, where this line does."""
        gap = self.row.get("gap") if self.row is not None and "step" not in self.row else None
        return gap if isinstance(gap, dict) else None


@dataclass(frozen=True, slots=True)
class Segment:
    """One segment of a run.

    Attributes:
        number: 0 for the start of the run.
        metrics: Its metrics file, which may not exist yet.
        samples: Its samples file, which may not exist.
        manifest: What it was made with; None where the manifest is missing.
    """

    number: int
    metrics: Path
    samples: Path
    manifest: Manifest | None


@dataclass(frozen=True, slots=True)
class Row:
    """One logged step.

    Attributes:
        segment: Number of its segment.
        line: Its 1-based line there.
        step: The step; NaN for a row that names none.
        values: Numbers by name, in the order of the line; None for a null. Text and nested values are left aside.
    """

    segment: int
    line: int
    step: float
    values: dict[str, float | None]


def lines(file: Path, *, offset: int = 0, first: int = 1) -> Iterator[Line]:
    """The whole lines of a file from `offset` on. A torn last line is not a line yet; a broken one is told, not hidden.

    Args:
        file: The file; nothing comes from one that does not exist yet.
        offset: Byte to start at: 0, or the `Line.end` of the last line that was read.
        first: Number of the line at `offset`.
    """
    try:
        stream = file.open("rb")
    except FileNotFoundError:
        return
    with stream:
        stream.seek(offset)
        end = offset
        for at, text in enumerate(stream, start=first):
            if not text.endswith(b"\n"):
                return
            end += len(text)
            if text.strip():
                yield line_of(text, at, end)


def line_of(text: bytes, number: int, end: int) -> Line:
    """What a line says; with its 1-based number, and the offset of the byte after it."""
    try:
        return Line(number, decode(text), "", end)
    except ValueError as error:
        return Line(number, None, said("not a line of a run: {error}", error=reason(error)), end)


def segments(folder: Path) -> list[Segment]:
    """The segments of a run, oldest first.

    Raises:
        UnreadableLogError: When `folder` is no run folder, or a manifest is broken.
    """
    if not folder.is_dir() or not layout.is_run_folder(folder):
        raise UnreadableLogError.of(
            str(folder), "no run folder.", said("It would hold a {file}.", file=layout.MANIFEST)
        )
    out = []
    for each in layout.segment_numbers(folder):
        file = layout.manifest_file(folder, each)
        manifest = read_manifest(file) if file.exists() else None
        out.append(Segment(each, layout.metrics_file(folder, each), layout.samples_file(folder, each), manifest))
    return out


def resumed_from(manifest: Manifest | None) -> float:
    """Step of the checkpoint that a segment goes on from; infinite where that is not known, or it resumes nothing."""
    parent = manifest.parent if manifest is not None else None
    return math.inf if parent is None or parent.step is None else parent.step


def is_never_reached(step: object, gone: Iterable[tuple[float, float]]) -> bool:
    """Whether a row was logged after the checkpoint that a later segment resumed from, and before that segment's first row.

    No newer row will ever replace it, and it counts no more.

    Args:
        step: The step, whatever the row says for it.
        gone: Checkpoint and first step of each later segment.
    """
    return isinstance(step, int | float) and any(low < step < high for low, high in gone)


def numbers(row: dict[str, Any]) -> dict[str, float | None]:
    """The numbers of a row by name; None for a null. Text and nested values are left aside."""
    out: dict[str, float | None] = {}
    for key, value in row.items():
        if value is None:
            out[key] = None
        else:
            found = number(value)
            if found is not None:
                out[key] = found
    return out


def rows(folder: Path) -> Iterator[Row]:
    """The rows of a run as they count: where segments overlap, the newest one's.

    A row of an older segment is void when its step lies after the checkpoint that a newer segment resumed from, or, where
    that is not known, at or after the newer segment's first step.

    Raises:
        UnreadableLogError: When `folder` is no run folder, or a manifest is broken.
    """
    found = segments(folder)
    limit = math.inf
    limits: list[float] = []
    for segment in reversed(found):
        limits.append(limit)
        limit = min(limit, _begins(segment))
    for segment, before in zip(found, reversed(limits), strict=True):
        for line in lines(segment.metrics):
            row = _row(segment, line)
            if row is not None and not row.step >= before:
                yield row


def _begins(segment: Segment) -> float:
    """The first step that belongs to this segment and to none before it."""
    checkpoint = resumed_from(segment.manifest)
    steps = (row.step for line in lines(segment.metrics) if (row := _row(segment, line)) is not None)
    first = next((s for s in steps if not math.isnan(s)), math.inf)
    # The checkpoint's own step was logged before it was saved.
    return min(first, math.nextafter(checkpoint, math.inf))


def _row(segment: Segment, line: Line) -> Row | None:
    if line.row is None or line.gap is not None:
        return None
    values = numbers(line.row)
    step = values.pop("step", None)
    return Row(segment.number, line.number, math.nan if step is None else step, values)
