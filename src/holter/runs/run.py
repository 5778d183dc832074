"""The canonical run: signals over rows, in columns, with their units."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit
from holter.dialects.registry import ANY_SCORE
from holter.signals import catalog

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from holter.readers.base import Skipped
    from holter.signals.base import Estimator, Reduction, Signal, Unit


HEAD = 20
"""Rows that decide which of several series of one concept is asked first."""


class Split(StrEnum):
    """Which data a series was measured on."""

    TRAIN = "train"
    EVAL = "eval"


def signal_of(key: str) -> tuple[Signal, dict[str, str], Split] | None:
    """The signal that a canonical key names, the labels in it, and the data it was measured on.

    ``eval/reward`` is a signal of its own; ``eval/kl`` is ``kl``, evaluated; ``eval/helpful`` is a score of that name.
    """
    split = Split.EVAL if key.startswith("eval/") else Split.TRAIN
    direct = catalog.find(key)
    if direct is None or direct[0].key == ANY_SCORE:
        bare = catalog.find(key.removeprefix("eval/"))
        direct = bare if bare is not None else direct
    return None if direct is None else (*direct, split)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Series:
    """One signal's values over the rows of a run. NaN is a value that was logged, never a gap.

    A derived series was not logged: it follows from others by arithmetic. Its `metric` is the formula over the names of the
    log (``1 - completions/eos_ratio``), so that a finding that quotes it says what it quotes, and `inputs` are those names.

    Attributes:
        key: Canonical key with labels filled in; ``eval/...`` for evaluation series.
        metric: The name as the user's log writes it.
        signal: What it is.
        split: Training or evaluation data.
        labels: Labels of the key, ``{"name": "accuracy"}``.
        unit: Unit of the values.
        estimator: How it was estimated, where that is known.
        reduction: What a value was reduced over, where that is known.
        fit: How well the log's number is this signal.
        at: Row positions of the run that hold a value, increasing. Shape ``(n,)``.
        steps: Steps of those rows. Shape ``(n,)``.
        values: Values in `unit`. Shape ``(n,)``.
        derived: Whether it was computed from other series instead of read from the log.
        inputs: Raw names that a derived series was computed from; or, of a metric that was renamed on the way, its names in
            turn. Empty where `metric` is its only name.
    """

    key: str
    metric: str
    signal: Signal
    split: Split
    labels: Mapping[str, str]
    unit: Unit
    estimator: Estimator | None
    reduction: Reduction | None
    fit: Fit
    at: NDArray[np.int64]
    steps: NDArray[np.float64]
    values: NDArray[np.float64]
    derived: bool = False
    inputs: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.values)

    @property
    def concept(self) -> str:
        """What it is, whatever it is called."""
        return self.signal.concept

    def where(self, keep: NDArray[np.bool_]) -> Series:
        """The part of the series that `keep` selects. Shape of `keep`: ``(n,)``."""
        return replace(self, at=self.at[keep], steps=self.steps[keep], values=self.values[keep])

    def finite(self) -> Series:
        """The series without NaN and infinities, which are `not-finite`'s business."""
        return self.where(np.isfinite(self.values))

    def upto(self, at: NDArray[np.int64]) -> NDArray[np.int64]:
        """Index of the newest value at or before each row position in `at`; -1 where there is none yet."""
        return np.searchsorted(self.at, at, side="right") - 1


@dataclass(frozen=True, slots=True)
class Unknown:
    """A raw name that the dialect does not know: kept, shown, never guessed.

    Attributes:
        metric: The name as the log writes it.
        at: Rows that hold a value. Shape ``(n,)``.
        values: The values as logged. Shape ``(n,)``.
    """

    metric: str
    at: NDArray[np.int64]
    values: NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, weakref_slot=True)
class Run:
    """One training run, whatever wrote it.

    Attributes:
        name: What to call it.
        path: Where it was read from.
        dialect: Name of the dialect its log speaks.
        step_axis: What a step is here, in words, with the raw name it came from.
        steps: Step of each row, strictly increasing. Shape ``(n,)``.
        series: Series by canonical key; what was logged first, what was derived last.
        spare: Series by raw name whose canonical key another raw name of the log already gave; kept and shown, but no
            detector asks for them.
        unknown: Names nobody knows, by raw name.
        config: Hyper-parameters, as far as the log or the caller gives them.
        resumes: Row positions at which the log went back and a newer segment replaced the older one.
        replaced: Row position of each older row that a newer row of the same step replaced, ascending.
        never: Concepts that this dialect's framework never logs, and that this log does not hold either.
        skipped: What could not be read.
        notes: Remarks on how the log was read.
    """

    name: str
    path: str
    dialect: str
    step_axis: str
    steps: NDArray[np.float64]
    series: Mapping[str, Series]
    spare: Mapping[str, Series] = field(default_factory=dict)
    unknown: Mapping[str, Unknown] = field(default_factory=dict)
    config: Mapping[str, object] = field(default_factory=dict)
    resumes: tuple[int, ...] = ()
    replaced: tuple[int, ...] = ()
    never: tuple[str, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.steps)

    @property
    def repeated(self) -> int:
        """Number of older rows that a newer row of the same step replaced."""
        return len(self.replaced)

    def __contains__(self, key: str) -> bool:
        return key in self.series

    def __getitem__(self, key: str) -> Series:
        return self.series[key]

    def get(self, concept: str, split: Split = Split.TRAIN) -> Series | None:
        """The best series of a concept, as `all` orders them. None when there is none."""
        found = self.all(concept, split)
        return found[0] if found else None

    def all(self, concept: str, split: Split = Split.TRAIN) -> list[Series]:
        """Every series of a concept, the best first: begun early, logged, lowest rank of its signal, best fit, most values.

        A series that begins after the first `HEAD` rows comes after those that were there, whatever its rank, and values are
        counted over `HEAD` rows only: what is the best by then stays the best, and live and afterwards agree.
        """
        found = [s for s in self.series.values() if s.concept == concept and s.split is split and len(s)]
        return sorted(found, key=_preference)

    def until(self, step: float) -> Run:
        """The run as it stood when `step` had just been logged."""
        n = int(np.searchsorted(self.steps, step, side="right"))
        return replace(
            self,
            steps=self.steps[:n],
            series={k: s.where(s.at < n) for k, s in self.series.items()},
            spare={k: s.where(s.at < n) for k, s in self.spare.items()},
            unknown={k: Unknown(u.metric, u.at[u.at < n], u.values[u.at < n]) for k, u in self.unknown.items()},
            resumes=tuple(r for r in self.resumes if r < n),
            replaced=self.replaced[: bisect_left(self.replaced, n)],
        )


def _preference(series: Series) -> tuple[int, bool, int, int, int, str]:
    """Place among the series of one concept, from its beginning alone; the least is the best."""
    begins = int(series.at[0])
    held = int(np.searchsorted(series.at, begins + HEAD))
    late = begins if begins >= HEAD else 0
    return late, series.derived, series.signal.rank, list(Fit).index(series.fit), -held, series.key
