"""TensorBoard event files: the scalars of a run, every one of them, without TensorBoard."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from holter.errors import UnreadableLogError, reason
from holter.language import listed, phrase, said
from holter.readers.base import RawColumn, RawLog, Skipped, Source
from holter.readers.tensorboard.framing import HEADER, length_in
from holter.readers.tensorboard.gathered import Gathered
from holter.readers.tensorboard.rows import Stretches
from holter.readers.tensorboard.stream import EventStream
from holter.readers.unpacking import damage, torn

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holter.readers.growth import Growing
    from holter.readers.tensorboard.rows import Rows

CHUNK = 1 << 20
"""Bytes parsed at a time."""
STEP, WALL_TIME = "step", "wall_time"
TORN = "the last record is not complete; the file is still being written, or was cut."
_IN_NAME = ".tfevents."
_TIMESTAMP = re.compile(r"\.tfevents\.(\d+)")
_NUMBER_OR_TEXT = re.compile(r"(\d+)|(\D+)")


class EventFiles:
    """Reads ``events.out.tfevents.*``, as torch, tensorboardX, TensorFlow and the trainers on top of them write it."""

    name = "tensorboard"
    title = "TensorBoard event files"
    priority = 10

    def recognises(self, name: str, head: bytes) -> bool:
        """By name, or by the checksum of a first record's length."""
        return _IN_NAME in Path(name).name or (len(head) >= HEADER and length_in(head[:HEADER]) > 0)

    def gathers(self, name: str) -> bool:
        """Every event file of a folder belongs to one run: a resumed run begins another file."""
        return _IN_NAME in Path(name).name

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log."""
        yield read_files(source.parts, source.name) if source.parts else _read([source], source.name)

    def grow(self, source: Source) -> Growing:
        """One log, record by record."""
        from holter.readers.tensorboard.growing import GrowingEvents

        return GrowingEvents(source.name, tuple(in_order(source.files)))


def read_files(paths: Sequence[Path], name: str) -> RawLog:
    """The event files of one folder as one log: a resumed run begins another file, and so may a second writer.

    Args:
        paths: The files, in any order. A compressed copy beside its original is not read again.
        name: What to call the log.

    Raises:
        UnreadableLogError: When a file cannot be opened, or none of them holds a record.
    """
    return _read([Source.of(path) for path in in_order(paths)], name)


def in_order(paths: Sequence[Path]) -> list[Path]:
    """Event files by the time in their names, then by name with its numbers counted, each once.

    The time is in whole seconds. What tells two files of one second apart is the writer's number at the end of the name, of
    which the tenth comes after the ninth.
    """
    plain = set(paths)
    once = [path for path in plain if path.suffix != ".gz" or path.with_suffix("") not in plain]

    def age(path: Path) -> tuple[int, list[tuple[int, str]], str]:
        found = _TIMESTAMP.search(path.name)
        counted = [(int(digits) if digits else -1, text) for digits, text in _NUMBER_OR_TEXT.findall(path.name)]
        return int(found[1]) if found else 0, counted, str(path)

    return sorted(once, key=age)


def _read(sources: Sequence[Source], name: str) -> RawLog:
    gathered = Gathered.as_before()
    notes: list[str] = []
    failures: list[Skipped] = []
    for source in sources:
        _parse(source, gathered, failures, notes)
    gathered.pass_on()
    return log_of(gathered, name, failures, notes)


def log_of(gathered: Gathered, name: str, failures: Sequence[Skipped], notes: list[str]) -> RawLog:
    """The log of files that were read to their ends.

    Args:
        gathered: What they say.
        name: What to call it.
        failures: What kept them from being read to their ends.
        notes: Remarks on single files.

    Raises:
        UnreadableLogError: When none of them holds a record.
    """
    skipped = (*gathered.skipped(), *failures)
    if not gathered.records:
        raise UnreadableLogError.of(
            name,
            said("no sound TensorBoard record in it; {why}", why=phrase(skipped[0].why))
            if skipped
            else "no sound TensorBoard record in it.",
            "Copy the file again, or check that it is an event file (events.out.tfevents.*).",
        )
    rows = gathered.stretches.rows()
    if gathered.sessions and len(rows.steps) <= 1:
        # What add_hparams writes into a folder of its own: a table of results, no course of a run.
        notes = [*notes, "hyper-parameters and their results only; there is no run in it."]
        rows = Stretches().rows()
    notes = [*notes, *_about(gathered, rows)]
    return RawLog(
        name=name,
        reader=EventFiles.name,
        rows=len(rows.steps),
        columns=columns_of(rows),
        config=gathered.config,
        skipped=skipped,
        notes=tuple(notes),
    )


def _parse(source: Source, gathered: Gathered, failures: list[Skipped], notes: list[str]) -> None:
    """Gather one file. A failure to read on is named, and what came before it is kept."""
    stream = EventStream(source.name, gathered)
    failure, cut = None, False
    try:
        with source.open() as opened:
            while data := opened.read(CHUNK):
                stream.feed(data)
            failure, cut = damage(opened), torn(opened)
    except OSError as error:
        failure = said("it cannot be read ({error})", error=reason(error))
    left = stream.finish()
    if failure is not None:
        failures.append(Skipped(source.name, None, failure))
    elif left or cut:
        notes.append(said("{place}: {why}", place=source.name, why=phrase(TORN)))


def columns_of(rows: Rows) -> dict[str, RawColumn]:
    """Step and wall time of the rows, then the tags; a tag of one of these names gets another."""
    if not len(rows.steps):
        return {}
    everywhere = np.arange(len(rows.steps))
    columns = {STEP: RawColumn(everywhere, rows.steps.astype(np.float64))}
    if not np.isnan(rows.wall_time).all():
        columns[WALL_TIME] = RawColumn(everywhere, rows.wall_time)
    for tag, column in rows.columns.items():
        columns[_free_name(tag, rows)] = column
    return columns


def _free_name(tag: str, rows: Rows) -> str:
    name = tag
    while name in (STEP, WALL_TIME) or (name != tag and name in rows.columns):
        name += " (tag)"
    return name


def _about(gathered: Gathered, rows: Rows) -> list[str]:
    """What the user should know about the log that is no fault."""
    notes: list[str] = []
    if gathered.aside:
        kinds = listed(
            said("{n} {kind}" if n == 1 else "{n} {kind}s", n=n, kind=phrase(kind))
            for kind, n in sorted(gathered.aside.items())
        )
        notes.append(said("left aside: {kinds}. Only scalars are read.", kinds=kinds))
    notes += [
        said(
            "the tag {tag!r} is called {name!r} here; {tag!r} is the records' own.", tag=tag, name=_free_name(tag, rows)
        )
        for tag in (STEP, WALL_TIME)
        if tag in rows.columns
    ]
    return notes


TENSORBOARD = EventFiles()
