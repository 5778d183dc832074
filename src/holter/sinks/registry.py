"""Every tracker, found by walking this package and the entry points; and which of them a run reports to."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holter import discovery, sinks
from holter.discovery import unknown_name
from holter.errors import SettingsError
from holter.language import said
from holter.sinks.base import Destination, Sink, Tracker
from holter.sinks.holter import RunFolderSink
from holter.sinks.isolated import Isolated

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

ALL = "all"
NONE = "none"


@cache
def all_trackers() -> dict[str, Tracker]:
    """All trackers by name."""
    return discovery.members(sinks, "sinks", lambda value: isinstance(value, Tracker), lambda t: t.name)


def chosen(
    report_to: str | Iterable[str] | None, *, foreign: Collection[str] = ()
) -> tuple[tuple[Tracker, ...], tuple[str, ...]]:
    """What ``report_to`` names: our own trackers, and those that somebody else drives.

    Args:
        report_to: A name, several, ``"all"`` (whatever is installed) or ``"none"``; None is the run folder alone.
        foreign: Names that the caller can drive itself, those installed: a trainer passes what transformers integrates.

    Returns:
        Our trackers, the run folder first, so that a row is there before anybody else sees it; then the foreign names.

    Raises:
        UnknownNameError: For a name that neither knows, with the nearest ones.
        SettingsError: For one that is not installed, or ``"all"`` or ``"none"`` among others.
    """
    if report_to is None:
        report_to = "holter"
    names = list(dict.fromkeys([report_to] if isinstance(report_to, str) else report_to))
    known = all_trackers()
    for word in (ALL, NONE):
        if word in names and len(names) > 1:
            raise SettingsError(
                said("report_to: {word!r} stands alone, not in a list; got {names}", word=word, names=names)
            )
    if names == [NONE]:
        return (), ()
    if names == [ALL]:
        ours = [t for t in known.values() if t.installed and t.name != "jsonl" and not _left_to(t, foreign)]
        return _in_order(ours), tuple(sorted(set(foreign) - {t.name for t in ours}))
    ours, theirs = [], []
    for name in names:
        if name in known and not _left_to(known[name], foreign):
            if not known[name].installed:
                package = known[name].package.split("|")[0]
                raise SettingsError(
                    said("report_to: {name!r} needs {package}: pip install {package}", name=name, package=package)
                )
            ours.append(known[name])
        elif name in foreign:
            theirs.append(name)
        else:
            raise unknown_name("tracker", name, dict.fromkeys([*known, *foreign, ALL, NONE]), listing=None)
    return _in_order(ours), tuple(theirs)


def _left_to(tracker: Tracker, foreign: Collection[str]) -> bool:
    return tracker.gives_way and tracker.name in foreign


def _in_order(trackers: Iterable[Tracker]) -> tuple[Tracker, ...]:
    return tuple(sorted(trackers, key=lambda t: (t.name != "holter", not t.direct, t.name)))


def sinks_for(trackers: Iterable[Tracker], destination: Destination) -> list[Sink]:
    """A sink for each tracker, the run folder first; those that may fail or hang are isolated and fed from it."""
    out: list[Sink] = []
    folder: RunFolderSink | None = None
    for tracker in _in_order(trackers):
        sink = tracker.create(destination)
        if isinstance(sink, RunFolderSink):
            folder = sink
        replay = folder.written_after if folder is not None else None
        out.append(sink if tracker.direct else Isolated(sink, replay=replay))
    return out
