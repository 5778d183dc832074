"""The tables in a JSON document: wherever in it rows or columns of numbers lie.

Scripts dump their history in every shape: a list of records, ``{"log_history": [...]}``, columns as lists, records under
their step (``{"10": {...}, "20": {...}}``), and several of these side by side.
"""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from holter.readers.rows import CONFIG, DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

Record = dict[str, object]
"""Values by name."""
STEPS = re.compile(r"(?:(?:global_?)?step|iter(?:ation)?|update|episode|epoch)?[ _-]?(\d+)", re.IGNORECASE)
"""A key that is a step: ``10``, ``step_10``."""
MOST_TABLES = 200
_FEWEST = 2


def tables(document: object) -> dict[str, list[Record]]:
    """Records by the place in the document where they lie (``""`` is the document itself). One list is one table."""
    return dict(islice(_found(document, "", 0), MOST_TABLES))


def _found(value: object, place: str, depth: int) -> Iterator[tuple[str, list[Record]]]:
    if depth > DEEPEST:
        return
    if isinstance(value, list):
        if value and all(isinstance(v, dict) for v in value):
            yield place, value
        return
    if not isinstance(value, dict):
        return
    records = _by_step(value) or _by_column(value)
    if records:
        yield place, records
        return
    for key, inner in value.items():
        if key not in CONFIG:
            yield from _found(inner, f"{place}/{key}" if place else key, depth + 1)


def _by_step(value: Mapping[str, object]) -> list[Record]:
    """``{"10": {"loss": 1}, "20": {"loss": 2}}`` as records with a step."""
    if len(value) < _FEWEST:
        return []
    rows: list[Record] = []
    for key, record in value.items():
        step = STEPS.fullmatch(key) if len(key) < 40 else None
        if step is None or not isinstance(record, dict):
            return []
        rows.append({"step": float(step[1]), **record})
    return rows


def _by_column(value: Mapping[str, object]) -> list[Record]:
    """``{"step": [10, 20], "loss": [1, 2]}`` as records; columns as pandas writes them (``{"0": 10, "1": 20}``) too."""
    columns: dict[str, list[object]] = {}
    for key, column in value.items():
        if isinstance(column, dict) and column and all(k.isdigit() and len(k) < 20 for k in column):
            column = list(column.values())
        if isinstance(column, list) and not any(isinstance(v, list | dict) for v in column):
            columns[key] = column
    if not columns:
        return []
    lengths = [len(c) for c in columns.values()]
    length = max(set(lengths), key=lengths.count)
    same = {k: c for k, c in columns.items() if len(c) == length}
    if length < _FEWEST or len(same) < _FEWEST:
        return []
    return [dict(zip(same, row, strict=True)) for row in zip(*same.values(), strict=True)]


def joined(found: Mapping[str, list[Record]]) -> list[list[Record]]:
    """Tables that share their steps, side by side as one table; the others on their own.

    Two tables share their steps when each has one row for every step, the steps are the same, and no other name is in both.
    """
    groups: list[tuple[list[object], set[str], list[Record]]] = []
    for records in found.values():
        steps = [r.get("step") for r in records]
        names = {k for r in records for k in r} - {"step"}
        unique = None not in steps and len({*map(str, steps)}) == len(steps)
        for index, (other, taken, rows) in enumerate(groups):
            if unique and steps == other and not names & taken:
                merged: list[Record] = [{**a, **b} for a, b in zip(rows, records, strict=True)]
                groups[index] = (other, taken | names, merged)
                break
        else:
            groups.append((steps if unique else [], names, list(records)))
    return [rows for _, _, rows in groups]
