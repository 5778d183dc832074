"""Every signal Holter knows, found by key or by concept."""

from __future__ import annotations

import re
from functools import cache

from holter import discovery, signals
from holter.discovery import unknown_name
from holter.signals.base import Signal


@cache
def catalog() -> dict[str, Signal]:
    """All signals by key."""
    return discovery.members(signals, "signals", lambda value: isinstance(value, Signal), lambda s: s.key)


@cache
def _patterns() -> tuple[tuple[re.Pattern[str], Signal], ...]:
    """Signals with labels, the most literal key first, so that ``eval/{name}`` is the last resort."""
    labelled = [s for s in catalog().values() if s.labels]
    labelled.sort(key=lambda s: (-len(re.sub(r"\{\w+\}", "", s.key)), s.key))
    return tuple((s.pattern(), s) for s in labelled)


def find(key: str) -> tuple[Signal, dict[str, str]] | None:
    """The signal that `key` names, with its labels, or None when there is none.

    ``find("rewards/accuracy/mean")`` is the signal ``rewards/{name}/mean`` with ``{"name": "accuracy"}``.
    """
    known = catalog().get(key)
    if known is not None:
        return known, {}
    for pattern, labelled in _patterns():
        match = pattern.fullmatch(key)
        if match:
            return labelled, match.groupdict()
    return None


def signal(key: str) -> Signal:
    """The signal called `key`.

    Raises:
        UnknownNameError: With the nearest known keys.
    """
    found = find(key)
    if found is None:
        raise unknown_name("signal", key, catalog())
    return found[0]


@cache
def concepts() -> dict[str, tuple[Signal, ...]]:
    """Signals by concept, each in the order in which detectors should ask for them."""
    by: dict[str, list[Signal]] = {}
    for each in catalog().values():
        by.setdefault(each.concept, []).append(each)
    return {c: tuple(sorted(s, key=lambda s: (s.rank, s.key))) for c, s in sorted(by.items())}
