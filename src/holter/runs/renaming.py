"""A metric that changes its name on the way: a run that was resumed with newer code, a logger that was replaced.

Two names of one signal are as a rule two measurements of it, and the better one is read. Where one ends before the other
begins they are one measurement, and to read only one of them would be to look away from half of the run.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit
from holter.runs.unlogged import has_ended

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.runs.run import Series


def joined(best: Series, others: Iterable[Series], rows: int) -> Series:
    """The series with those before and after it that are the same metric by another name; itself where there are none.

    It bears the first of the names, so that what was said of the run before the name changed stays true word for word.

    Args:
        best: The series that is read.
        others: Further series of its key.
        rows: Rows of the run.
    """
    found = [best]
    for other in sorted(others, key=lambda s: int(s.at[0])):
        if _follows(found[-1], other, rows):
            found.append(other)
    for other in sorted(others, key=lambda s: -int(s.at[0])):
        if _follows(other, found[0], rows):
            found.insert(0, other)
    if len(found) == 1:
        return best
    first = found[0]
    return replace(
        first,
        estimator=first.estimator if len({s.estimator for s in found}) == 1 else None,
        reduction=first.reduction if len({s.reduction for s in found}) == 1 else None,
        fit=max((s.fit for s in found), key=list(Fit).index),
        at=np.concatenate([s.at for s in found]),
        steps=np.concatenate([s.steps for s in found]),
        values=np.concatenate([s.values for s in found]),
        inputs=tuple(s.metric for s in found),
    )


def changes(series: Series) -> Iterator[tuple[str, str]]:
    """The names that a joined series had, each with the one after it."""
    if not series.derived:
        yield from zip(series.inputs, series.inputs[1:], strict=False)


def _follows(before: Series, after: Series, rows: int) -> bool:
    """Whether a name had ended when another one began."""
    return before.at[-1] < after.at[0] and before.unit is after.unit and has_ended(before, rows)
