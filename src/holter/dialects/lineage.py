"""Every dialect, found by walking this package and the entry points, and what each inherits."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from holter import dialects, discovery
from holter.dialects.base import Dialect
from holter.discovery import unknown_name

if TYPE_CHECKING:
    from collections.abc import Iterator

GENERIC = "generic"
"""Name of the dialect of logs that no framework wrote."""


@cache
def all_dialects() -> dict[str, Dialect]:
    """All dialects by name."""
    return discovery.members(dialects, "dialects", lambda value: isinstance(value, Dialect), lambda d: d.name)


def dialect(name: str) -> Dialect:
    """The dialect called `name`.

    Raises:
        UnknownNameError: With the nearest known names.
    """
    try:
        return all_dialects()[name]
    except KeyError:
        raise unknown_name("dialect", name, all_dialects()) from None


def lineage(spoken: Dialect) -> Iterator[Dialect]:
    """The dialect, then those it inherits from."""
    current: Dialect | None = spoken
    while current is not None:
        yield current
        current = dialect(current.inherits) if current.inherits else None
