"""Where a row of a pasted table stands: people write ``step 1-100``, ``checkpoint-200``, ``final`` where a number is due."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.plausibility import is_axis
from holter.readers.table_text import value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

_COUNTER = re.compile(
    r"(?:(?:(?:global|train(?:ing)?|optimi[sz]er)[ _]?)?(?:steps?|iter(?:ation)?s?|updates?|episodes?|epochs?)"
    r"|checkpoint|ckpt|第)[ :#=_-]*"
)
_STEPS = re.compile(
    rf"(?P<word>{_COUNTER.pattern})?(?P<first>\d+)(?:\s*(?:[-–—~～→至到]|\.{{2,3}}|to)\s*(?:{_COUNTER.pattern})?(?P<last>\d+))?\s*步?"
    r"(?:\s*\([^()]*\))?",
    re.IGNORECASE,
)
_BEFORE = re.compile(
    r"(?:base(?:line|[ _-]?model)?|init(?:ial)?|start|sft|before|初始|基线)(?:\s*\([^()]*\))?", re.IGNORECASE
)
_AFTER = re.compile(r"(?:\w+[ _-]){0,3}(?:final|end|last|finish(?:ed)?)|最终|最后|结束", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Place:
    """Which steps a cell says.

    Attributes:
        step: The last of them.
        spoken: Whether it says that they are steps, by a word or as a range, and is no bare number.
    """

    step: int
    spoken: bool


def place(cell: str) -> Place | None:
    """Which steps a cell says; None where it says none: ``200``, ``step 200``, ``1-100``, ``checkpoint-200 (best)``."""
    found = _STEPS.fullmatch(cell)
    if found is None or len(found["last"] or found["first"]) > 15:
        return None
    return Place(int(found["last"] or found["first"]), bool(found["word"] or found["last"]))


def ascending(cells: Iterable[str]) -> list[Place] | None:
    """The places of cells of which each says a step after the one before; None where they do not."""
    found = [place(cell) for cell in cells]
    places = [p for p in found if p is not None]
    return places if len(places) == len(found) and _in_order([p.step for p in places]) else None


def _in_order(steps: Sequence[float]) -> bool:
    return all(a < b for a, b in pairwise(steps))


def steps_of_columns(header: Sequence[str]) -> dict[int, int]:
    """The steps that a header says, by column, of a table with a metric in every row; empty where it is none.

    ``| metric | step 10 | 50 | 200 | trend |``: at least two columns say steps in order, and a word says that these are steps.
    """
    found = {i: p for i, cell in enumerate(header[1:], start=1) if (p := place(cell)) is not None}
    steps = [p.step for p in found.values()]
    spoken = is_axis(header[0]) or any(p.spoken for p in found.values())
    return {i: p.step for i, p in found.items()} if len(found) > 1 and spoken and _in_order(steps) else {}


@dataclass(frozen=True, slots=True)
class Placed:
    """Rows whose step is written as a number.

    Attributes:
        names: Names of the columns.
        rows: Number of the line and cells of every row that has a place.
        aside: Number and cell of the rows that stand beside them: a mean, a difference.
        notes: What was taken for what.
    """

    names: list[str]
    rows: list[tuple[int, list[str]]]
    aside: list[tuple[int, str]]
    notes: list[str]


def placed(names: Sequence[str], rows: Sequence[tuple[int, list[str]]]) -> Placed:
    """Rows of a table with their steps as numbers.

    A range counts with its last step. What is called the start or the end stands before the first or after the last row that
    has a number. A table without a step column has one where every cell of its first column says steps in order.

    Args:
        names: Names of the columns.
        rows: Number of the line and cells of every row.
    """
    whole = Placed(list(names), list(rows), [], [])
    at = next((i for i, name in enumerate(names) if is_axis(name)), None)
    if at is None:
        first = ascending(cells[0] for _, cells in rows)
        if first is None or not all(p.spoken for p in first):
            return whole
        at, whole.names[0] = 0, "step"
    found = [value(cells[at]) for _, cells in rows]
    known = {i: float(v) for i, v in enumerate(found) if isinstance(v, float) and math.isfinite(v)}
    spoken = {i: p.step for i, (_, cells) in enumerate(rows) if i not in known and (p := place(cells[at])) is not None}
    if not _in_order([step for _, step in sorted({**known, **spoken}.items())]):
        spoken = {}
    known |= spoken
    words = [i for i, v in enumerate(found) if isinstance(v, str) and i not in known]
    if not known or len(words) > len(known):
        return whole
    for i in words:
        label, line = rows[i][1][at], rows[i][0]
        step = _named(label, i, len(rows), known)
        if step is None:
            whole.aside.append((line, label))
        else:
            spoken[i] = step
            whole.notes.append(
                said("{label!r} in line {line} is taken for step {step}", label=label, line=line, step=step)
            )
    left_out = {line for line, _ in whole.aside}
    whole.rows[:] = [_at(row, at, spoken.get(i)) for i, row in enumerate(rows) if row[0] not in left_out]
    return whole


def _at(row: tuple[int, list[str]], column: int, step: int | None) -> tuple[int, list[str]]:
    """A row with a step in place of what was said."""
    line, cells = row
    return row if step is None else (line, [*cells[:column], str(step), *cells[column + 1 :]])


def _named(label: str, i: int, rows: int, known: Mapping[int, float]) -> int | None:
    """The step of row `i`, whose cell is a word: before the first number, or one after the last."""
    if i == 0 and _BEFORE.fullmatch(label) and min(known.values()) > 0:
        return 0
    if i == rows - 1 and _AFTER.fullmatch(label):
        return int(max(known.values())) + 1
    return None
