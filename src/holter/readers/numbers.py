"""What counts as a number in a log, and what it is.

Text can stand for a number: some frameworks print floats as strings, NumPy scalars as calls, progress as ``5/3766``. NaN
and infinities are numbers, whatever a language calls them (``-nan(ind)``, ``.inf``); ``null`` is not one and not absent
either, and a percentage is a fraction.
"""

from __future__ import annotations

import math
import re
from enum import Enum


class Gap(Enum):
    """What stands in a row where no number stands."""

    NULL = "null"
    """The log wrote that there is no value: ``null``, ``None``."""
    ABSENT = "absent"
    """The log wrote nothing: an empty cell, a dash, ``No Log``."""
    OTHER = "other"
    """Something that is not a number: text, a list."""


_SPECIAL: dict[str, float | Gap] = {
    "nan": math.nan,
    "+nan": math.nan,
    "-nan": math.nan,
    **dict.fromkeys(("nan(ind)", "-nan(ind)", "nan(snan)", "-nan(snan)"), math.nan),
    **dict.fromkeys(("1.#qnan", "-1.#qnan", "1.#ind", "-1.#ind"), math.nan),
    ".nan": math.nan,
    "inf": math.inf,
    "+inf": math.inf,
    "infinity": math.inf,
    "+infinity": math.inf,
    "-inf": -math.inf,
    "-infinity": -math.inf,
    ".inf": math.inf,
    "-.inf": -math.inf,
    "1.#inf": math.inf,
    "-1.#inf": -math.inf,
    "∞": math.inf,
    "-∞": -math.inf,
    "null": Gap.NULL,
    "none": Gap.NULL,
    "": Gap.ABSENT,
    "-": Gap.ABSENT,
    "--": Gap.ABSENT,
    "–": Gap.ABSENT,
    "—": Gap.ABSENT,
    "na": Gap.ABSENT,
    "n/a": Gap.ABSENT,
    "#n/a": Gap.ABSENT,
    "<na>": Gap.ABSENT,
    "no log": Gap.ABSENT,
    "true": 1.0,
    "false": 0.0,
}
_PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_CALL = re.compile(r"(?:[A-Za-z_][\w.]*\.)?(?:float|int|uint|bfloat|tensor|array|Tensor|Array)\w*\((.*)\)")
_PROGRESS = re.compile(r"(\d+) ?/ ?\d+")
_LONGEST = 200
THOUSANDS = re.compile(
    r"[-+]?[1-9]\d{0,2}(?:(?:,\d{3})+(?:\.\d+)?|(?:[\u00a0\u202f ']\d{3})+(?:[.,]\d+)?|(?:\.\d{3}){2,})"
)
"""A number whose digits are grouped: ``1,234.5``, ``1 234,5``. What it says depends on a country, so it is never guessed."""


def number(text: str) -> float | Gap:
    """The number that `text` is, exactly as written.

    Returns:
        A float, NaN and infinities included; ``45%`` is 0.45, ``5/3766`` is 5, ``np.float64(0.1)`` is 0.1. A `Gap` otherwise.
    """
    stripped = text.strip()
    if _PLAIN.fullmatch(stripped):
        return float(stripped)
    if len(stripped) > _LONGEST:
        return Gap.OTHER
    special = _SPECIAL.get(stripped.lower())
    if special is not None:
        return special
    if stripped.endswith("%"):
        share = number(stripped[:-1]) if _PLAIN.fullmatch(stripped[:-1].strip()) else Gap.OTHER
        return share / 100 if isinstance(share, float) else share
    called = _CALL.fullmatch(stripped)
    if called:
        inner = called[1].split(",", 1)[0].strip()
        found = number(inner) if not inner.endswith(")") else Gap.OTHER
        return found if isinstance(found, float) else Gap.OTHER
    progress = _PROGRESS.fullmatch(stripped)
    if progress:
        return float(progress[1])
    if stripped[:1] in "−﹣－" and stripped[1:2].isascii():
        return number("-" + stripped[1:]) if _PLAIN.fullmatch(stripped[1:]) else Gap.OTHER
    return Gap.OTHER


def scalar(value: object) -> float | Gap:
    """The number that a parsed value is: numbers, booleans as 0 and 1, and text as `number` reads it."""
    if isinstance(value, float):
        return value
    if isinstance(value, int):
        try:
            return float(value)
        except OverflowError:
            return math.inf if value > 0 else -math.inf
    if value is None:
        return Gap.NULL
    return number(value) if isinstance(value, str) else Gap.OTHER


_PAIR = re.compile(rf"\s*({_PLAIN.pattern}|-?nan|-?inf)\s*(?:\||±|\+/-|\+-)\s*({_PLAIN.pattern}|nan|inf)\s*", re.ASCII)


def mean_and_spread(text: str) -> tuple[float, float] | None:
    """The two numbers of a ``mean|std`` or ``mean ± std`` text, or None."""
    found = _PAIR.fullmatch(text) if len(text) < _LONGEST else None
    return (float(found[1]), float(found[2])) if found else None
