"""Completions of a run folder, page by page: by step, group and reward, without holding the file in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.reports.html.samples import folder_of, logged
from holter.store.reading import segments

if TYPE_CHECKING:
    from holter.reports.html.samples import Sample
    from holter.runs.run import Run

MOST = 200
"""Completions in one page."""
MOST_LOOKED_AT = 200_000
"""Completions looked at for one page; beyond, the page says where to go on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Which completions.

    Attributes:
        first: First step.
        last: Last step.
        group: Group, or None for all.
        least: Least reward.
        most: Greatest reward.
        text: What prompt or completion contain, whatever the case; empty for all.
    """

    first: float = -math.inf
    last: float = math.inf
    group: float | None = None
    least: float = -math.inf
    most: float = math.inf
    text: str = ""

    def takes(self, sample: Sample) -> bool:
        """Whether a completion is wanted. One without a reward is left out only where a reward is asked for."""
        if not self.first <= sample.step <= self.last:
            return False
        if self.group is not None and sample.numbers.get("group") != self.group:
            return False
        if (self.least, self.most) != (-math.inf, math.inf) and (
            sample.reward is None or not self.least <= sample.reward <= self.most
        ):
            return False
        needle = self.text.casefold()
        return not needle or needle in sample.prompt.casefold() or needle in sample.completion.casefold()


@dataclass(frozen=True, slots=True)
class Page:
    """Some completions.

    Attributes:
        samples: The completions, in the order of the log.
        next: Where the next page begins; None at the end.
    """

    samples: list[Sample]
    next: int | None


def has_samples(run: Run) -> bool:
    """Whether completions were recorded with the run."""
    folder = folder_of(run)
    return folder is not None and any(s.samples.is_file() for s in segments(folder))


def page(run: Run, wanted: Wanted, *, begin: int = 0, size: int = 50) -> Page:
    """One page of a run's completions.

    Args:
        run: The run.
        wanted: Which ones.
        begin: `Page.next` of the page before; 0 for the first.
        size: Completions wanted, `MOST` at most.
    """
    folder = folder_of(run)
    found: list[Sample] = []
    for position, sample in enumerate(() if folder is None else logged(folder)):
        if position < begin:
            continue
        if len(found) >= min(size, MOST) or position - begin >= MOST_LOOKED_AT:
            return Page(found, position)
        if wanted.takes(sample):
            found.append(sample)
    return Page(found, None)
