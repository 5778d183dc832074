"""What a metric is called at a tracker."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from holter.sinks.base import Values

_SPLITS = ("eval", "test")
_AXES = frozenset({"step", "time"})


def as_logged(key: str) -> str:
    """The name as it was logged, for people's own loops."""
    return key


def as_transformers(key: str) -> str:
    """The name that transformers' callbacks give it, which is where people look for it.

    >>> as_transformers("objective/kl"), as_transformers("eval/reward"), as_transformers("eval_loss")
    ('train/objective/kl', 'eval/reward', 'eval/loss')
    """
    for split in _SPLITS:
        if key.startswith((f"{split}_", f"{split}/")):
            return f"{split}/{key[len(split) + 1 :]}"
    return f"train/{key}"


def renamed(row: Values, rename: Callable[[str], str]) -> dict[str, float]:
    """The values of a row that a tracker can hold, under its names.

    Left out are nulls, which no tracker tells from absence, and ``time``, for which trackers have an axis of their own.
    NaN and infinities stay.
    """
    return {rename(key): value for key, value in row.items() if value is not None and key not in _AXES}
