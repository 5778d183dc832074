"""Rows of an evaluation that use the names of training.

A trainer that evaluates between updates writes rows of its own. Where such a row carries bare names (``rewards/x`` beside
``eval_loss``, or ``"phase": "eval"``), the held-out number would pass for a training number.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from holter.readers.plausibility import is_axis

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from holter.readers.base import RawColumn

_EVALUATED = ("eval_loss", "eval_runtime")
_TRAINED = ("loss", "grad_norm", "learning_rate")
_SPLITS = frozenset({"eval", "evaluation", "val", "valid", "validation", "test", "dev"})
_PREFIXES = ("eval_", "eval/", "val_", "val/", "test_", "test/", "validation/")


def marked_evaluation(columns: Mapping[str, RawColumn], rows: int, marks: Mapping[int, str]) -> dict[str, RawColumn]:
    """The columns, with values of evaluation rows moved under ``eval_<name>``.

    Args:
        columns: Numbers by raw name.
        rows: Number of rows.
        marks: Rows whose split is written out, and the split's name.
    """
    held_out = np.zeros(rows, bool)
    held_out[[row for row, split in marks.items() if split in _SPLITS]] = True
    trained = _rows_with(columns, _TRAINED, rows)
    if trained.any():
        held_out |= _rows_with(columns, _EVALUATED, rows) & ~trained
    if not held_out.any() or held_out.all():
        return dict(columns)
    out: dict[str, RawColumn] = {}
    for name, column in columns.items():
        moved = held_out[column.at]
        target = f"eval_{name}"
        if not moved.any() or is_axis(name) or name.startswith(_PREFIXES) or target in columns:
            out[name] = column
            continue
        if not moved.all():
            out[name] = column.where(~moved)
        out[target] = column.where(moved)
    return out


def _rows_with(columns: Mapping[str, RawColumn], names: tuple[str, ...], rows: int) -> NDArray[np.bool_]:
    found = np.zeros(rows, bool)
    for name in names:
        if name in columns:
            found[columns[name].at] = True
    return found
