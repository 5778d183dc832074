"""One row, one line of strict JSON.

JSON has no NaN. The encoder writes non-finite numbers as ``null``, which would make a NaN loss and a missing one the same;
so rows in which it did are written again with the strings that stand for them. That is rare, and looking for it costs
one search of the line.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import orjson

from holter.language import said

NON_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
"""What a string value of a metric stands for."""
_OPTIONS = orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
_LARGEST = 2**63
_EMPTY = len(b"{}\n")
_DEPTH = 20
"""Nesting beyond this is written as text, so that a mapping that holds itself ends."""


def encode(row: Mapping[str, object]) -> bytes:
    """The line that holds `row`, its line feed included. Never raises: what JSON cannot hold is written as its text."""
    try:
        line = orjson.dumps(row, default=_plain, option=_OPTIONS)
        # From the end, because that search is the faster one for a short word.
        if line.rfind(b"null") >= 0:
            line = orjson.dumps({k: _spelled(v) for k, v in row.items()}, default=_plain, option=_OPTIONS)
            if line.rfind(b"null") >= 0:
                line = orjson.dumps(spelled_out(row), option=_OPTIONS)
    except (TypeError, ValueError):
        line = orjson.dumps(spelled_out(row), option=_OPTIONS)
    return line


def joined(first: bytes, second: bytes) -> bytes:
    r"""The lines of two objects that share no key as the line of one: cheaper than a merge of the objects.

    >>> joined(encode({"step": 7}), encode({"kl": 0.1}))
    b'{"step":7,"kl":0.1}\n'
    """
    if len(first) == _EMPTY or len(second) == _EMPTY:
        return second if len(first) == _EMPTY else first
    return b"%b,%b" % (first[:-2], second[1:])


def decode(line: bytes) -> dict[str, Any]:
    """The row in a line, as it stands there.

    Raises:
        ValueError: When the line is not a JSON object.
    """
    row = orjson.loads(line)
    if not isinstance(row, dict):
        raise ValueError(said("a {type}, not an object", type=type(row).__name__))
    return row


def number(value: object) -> float | None:
    """A metric's value as a number; None for null, and for what is no number.

    >>> number("-Infinity"), number(3), number(None), number("abc")
    (-inf, 3.0, None, None)
    """
    if isinstance(value, int | float):
        return float(value)
    return NON_FINITE.get(value) if isinstance(value, str) else None


def spelled_out(value: object, depth: int = 0) -> Any:  # noqa: ANN401
    """`value` in types that JSON holds: non-finite numbers and what has no JSON form become strings. Never raises."""
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, str):
        # A lone surrogate has no UTF-8 form; a completion's text must not cost the row.
        return value.encode("utf-8", "replace").decode("utf-8")
    if isinstance(value, float):
        return _spelled(float(value))
    if isinstance(value, int):
        return int(value) if -_LARGEST <= value < _LARGEST else _large(value)
    if depth > _DEPTH:
        return _text(value)
    if isinstance(value, Mapping):
        return {spelled_out(str(k)): spelled_out(v, depth + 1) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [spelled_out(v, depth + 1) for v in value]
    return spelled_out(_plain(value), depth + 1)


def _spelled(value: object) -> object:
    if type(value) is not float or math.isfinite(value):
        return value
    if math.isnan(value):
        return "NaN"
    return "Infinity" if value > 0 else "-Infinity"


def _large(value: int) -> float | str:
    """A number too large for 64 bits: as a float where it fits into one."""
    try:
        return float(value)
    except OverflowError:
        return "Infinity" if value > 0 else "-Infinity"


def _plain(value: object) -> object:
    """A set as a list; a tensor, array or scalar of another library as Python numbers; anything else as its text."""
    if isinstance(value, set | frozenset):
        return sorted(value, key=_text)
    for method in ("tolist", "item"):
        convert = getattr(value, method, None)
        if callable(convert):
            try:
                return convert()
            except Exception:
                # A foreign object may raise anything, and must not cost the row.
                continue
    return _text(value)


def _text(value: object) -> str:
    try:
        return str(value)
    except Exception:
        return type(value).__qualname__
