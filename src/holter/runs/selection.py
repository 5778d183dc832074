"""Reading only some signals of a log: of one that is larger than the memory, ten columns still fit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holter.dialects.registry import detect, dialect, meaning
from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read as read_logs
from holter.runs.run import signal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from holter.dialects.base import Dialect
    from holter.readers.base import RawLog

TOLD_BY = 1 << 20
"""Bytes at the beginning of a log that tell its dialect."""


def only(signals: Collection[str], *, speaks: str | None = None) -> Callable[[Source], list[RawLog]]:
    """What reads these signals of a log, and its axes.

    Args:
        signals: Canonical keys, with or without ``eval/``, concepts, or the log's own names.
        speaks: Name of the dialect, when the caller knows better than the signatures.
    """
    wanted = frozenset(signals)

    def read(source: Source) -> list[RawLog]:
        spoken = dialect(speaks) if speaks else _spoken(source)

        def keep(raw: str) -> bool:
            return raw in wanted or _is_wanted(spoken, raw, wanted)

        return [
            replace(
                log,
                columns={raw: column for raw, column in log.columns.items() if keep(raw)},
                dialects=(spoken.name,) if spoken is not None else log.dialects,
            )
            for log in read_logs(replace(source, keep=keep if spoken is not None else None))
        ]

    return read


def _spoken(source: Source) -> Dialect | None:
    """The dialect, as far as the beginning of the log tells; None where that is no log of its own."""
    with source.open() as stream:
        head = stream.read(TOLD_BY)
    try:
        logs = read_logs(Source(source.name, data=head))
    except UnreadableLogError:
        return None
    return detect(logs[0].columns.keys(), logs[0].dialects)


def _is_wanted(spoken: Dialect | None, raw: str, wanted: frozenset[str]) -> bool:
    found = meaning(spoken, raw) if spoken is not None else None
    looked_up = signal_of(found.full_key) if found is not None else None
    if found is None or looked_up is None:
        # Without a dialect nothing is known to be unwanted.
        return spoken is None
    signal = looked_up[0]
    return signal.concept == "axis" or not wanted.isdisjoint((found.full_key, signal.key, signal.concept))
