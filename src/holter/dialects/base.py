"""What a dialect is: one framework's names for Holter's signals. It knows a framework and no file format.

A dialect is a table. A name carries the conversion from the framework's number to the signal's
(``value = offset + scale * raw ** power``), the estimator and reduction where they differ from the signal's own, the
versions in which it holds, and how well it fits.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import TYPE_CHECKING

from holter.dialects.names import loosened

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from holter.signals.base import Estimator, Reduction, Unit


class Fit(StrEnum):
    """How well a framework's number is the signal it is mapped to."""

    EXACT = "exact"
    """Same quantity, same reduction; comparable across frameworks."""
    CLOSE = "close"
    """Same quantity, other estimator or reduction; compare within a run only."""
    PROXY = "proxy"
    """A related quantity; good for trends, not for limits."""


class Null(StrEnum):
    """What a ``null`` in this framework's log means."""

    NAN = "nan"
    """The metric was computed and no finite number came out."""
    ABSENT = "absent"
    """The metric was not computed in this row."""


@dataclass(frozen=True, slots=True)
class Name:
    """One raw name and the signal it stands for.

    Attributes:
        raw: The framework's name, after prefixes are taken off. With `pattern`, a regular expression that must match
            the whole name; its named groups fill the labels of the key.
        key: Canonical key, possibly with labels: ``rewards/{name}/mean``.
        pattern: Whether `raw` is a regular expression.
        scale: Factor to the signal's unit; a negative one turns the sign.
        power: Exponent applied before the scale; 2 undoes a square root.
        offset: Added after the scale.
        estimator: Where it differs from the signal's own.
        reduction: Where it differs from the signal's own.
        unit: Where it differs from the signal's own (a generic "KL" may be either).
        fit: How well the number is the signal.
        since: First version of the framework with this meaning; empty: all.
        until: Last version with this meaning; empty: all.
        note: A trap worth telling the user.
    """

    raw: str
    key: str
    pattern: bool = False
    scale: float = 1.0
    power: float = 1.0
    offset: float = 0.0
    estimator: Estimator | None = None
    reduction: Reduction | None = None
    unit: Unit | None = None
    fit: Fit = Fit.EXACT
    since: str = ""
    until: str = ""
    note: str = ""

    def filled(self, match: re.Match[str]) -> str:
        """The canonical key with the labels of a match filled in."""
        return self.key.format(**{k: v or "" for k, v in match.groupdict().items()})


@cache
def _signature(pattern: str, loose: bool) -> re.Pattern[str]:  # noqa: FBT001
    """A signature's pattern; there are more of them than the cache of ``re`` holds."""
    whole = f"(?:train/)?(?:{pattern})"
    return re.compile(loosened(whole) if loose else whole)


@dataclass(frozen=True, slots=True)
class Signature:
    """Raw names by which a log gives its framework away. Every entry is a regular expression on whole names.

    Attributes:
        all: Each must match at least one name.
        any: At least one must match; empty: no condition.
        none: None may match.
    """

    all: tuple[str, ...] = ()
    any: tuple[str, ...] = ()
    none: tuple[str, ...] = ()

    def matches(self, names: Collection[str], *, loose: bool = False) -> bool:
        """Whether a log with these raw names has this signature; `loose` lets any sign stand for a ``/``."""

        def hit(pattern: str) -> bool:
            return any(_signature(pattern, loose).fullmatch(n) for n in names)

        return (
            all(hit(p) for p in self.all)
            and (not self.any or any(hit(p) for p in self.any))
            and not any(hit(p) for p in self.none)
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Dialect:
    """The vocabulary of one framework. There is one of each, so none is compared table by table.

    Attributes:
        name: Kebab-case name, ``trl-grpo``.
        title: The framework and trainer in words.
        spoken_by: Versions this table was checked against.
        step: Raw names that count steps, the preferred first, prefixes taken off.
        axis: What one step is, in words: ``optimizer step``, ``rollout batch``, ``update``.
        prefixes: Prefixes that the framework or its trackers put before training metrics; taken off.
        eval_prefixes: Prefixes of evaluation metrics; taken off, and the series is marked as evaluation.
        names: The table. The first entry that gives a signal wins where several raw names do.
        ignored: Raw names known to carry no signal (regular expressions): neither mapped nor reported as unknown.
        never: Concepts that this framework never logs.
        null: What a ``null`` means here.
        inherits: Name of the dialect whose table is read after this one's own.
        signatures: Any of them gives the framework away.
        priority: Asked in rising order; sub-dialects come before what they inherit from.
        snake: Whether names are brought to snake case before they are matched, units in brackets dropped.
        row: Raw names of a typical row, for tests.
        note: Traps that concern the whole framework.
        sources: Where the names were read: repository and version.
    """

    name: str
    title: str
    spoken_by: str = ""
    step: tuple[str, ...] = ("step",)
    axis: str = "step"
    prefixes: tuple[str, ...] = ()
    eval_prefixes: tuple[str, ...] = ()
    names: tuple[Name, ...] = ()
    ignored: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    null: Null = Null.ABSENT
    inherits: str = ""
    signatures: tuple[Signature, ...] = ()
    priority: int = 100
    snake: bool = False
    row: tuple[str, ...] = ()
    note: str = ""
    sources: tuple[str, ...] = ()

    @cached_property
    def _exact(self) -> Mapping[str, Name]:
        table: dict[str, Name] = {}
        for name in self.names:
            if not name.pattern:
                table.setdefault(name.raw, name)
        return table

    @cached_property
    def _patterns(self) -> tuple[tuple[re.Pattern[str], Name], ...]:
        return tuple((re.compile(n.raw), n) for n in self.names if n.pattern)

    @cached_property
    def _ignored(self) -> re.Pattern[str]:
        return re.compile("|".join(f"(?:{p})" for p in self.ignored) or r"(?!)")

    def own(self, bare: str) -> tuple[Name, str] | None:
        """The entry of this table alone for a name without prefix, and the canonical key with its labels filled in."""
        exact = self._exact.get(bare)
        if exact is not None:
            return exact, exact.key
        for pattern, name in self._patterns:
            match = pattern.fullmatch(bare)
            if match:
                return name, name.filled(match)
        return None

    def ignores(self, bare: str) -> bool:
        """Whether a name without prefix is known to carry no signal."""
        return self._ignored.fullmatch(bare) is not None
