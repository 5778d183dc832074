"""What people log, as numbers by name."""

from __future__ import annotations

import numbers
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holter.errors import reason
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Callable

    Refuse = Callable[[str, str], None]

_PLAIN = {float, int, type(None)}
_DEPTH = 10
"""Nesting beyond this is refused, so that a mapping that holds itself ends."""


def numbers_of(values: Mapping[Any, object], refuse: Refuse) -> dict[str, float | int | None]:
    """Numbers by name: nested mappings flattened with ``/``, tensors and arrays of one element looked at.

    NaN and infinities are values; None is a null. Never raises on account of a value.

    Args:
        values: What was logged.
        refuse: Told the name and what it holds, for what is no number; that is left out.
    """
    if _PLAIN.issuperset(map(type, values.values())) and _all_text(values):
        return dict(values)
    out: dict[str, float | int | None] = {}
    _flatten(values, "", out, refuse, 0)
    return out


def _all_text(names: Mapping[Any, object]) -> bool:
    try:
        # The quickest look at the type of each.
        "".join(names)
    except TypeError:
        return False
    return True


def _flatten(
    values: Mapping[Any, object], prefix: str, out: dict[str, float | int | None], refuse: Refuse, depth: int
) -> None:
    for name, value in values.items():
        key = f"{prefix}{name}"
        if isinstance(value, Mapping):
            if depth < _DEPTH:
                _flatten(value, f"{key}/", out, refuse, depth + 1)
            else:
                refuse(key, said("nested more than {most} deep", most=_DEPTH))
            continue
        try:
            out[key] = number(value)
        except (TypeError, ValueError, ArithmeticError) as error:
            refuse(key, reason(error))
        except Exception as error:
            # A value of another library may raise anything when it is looked at.
            refuse(key, said("a {kind} that cannot be looked at ({error})", kind=_kind(value), error=reason(error)))


def number(value: Any) -> float | int | None:  # noqa: ANN401
    """A value as a plain number: numpy, torch, jax and the like by their one element.

    Raises:
        TypeError: When it is no number; the message says what it is instead.
    """
    if value is None:
        return None
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, str):
        raise TypeError(said("text ({text})", text=_short(value)))
    size = getattr(value, "numel", None) or getattr(value, "size", None)
    size = size() if callable(size) else size
    if isinstance(size, int) and size != 1 and hasattr(value, "shape"):
        raise TypeError(said("a {kind} of shape {shape}", kind=_kind(value), shape=tuple(value.shape)))
    if callable(getattr(value, "item", None)):
        value = value.item()
    if isinstance(value, bool | int):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, list | tuple):
        raise TypeError(said("a {kind} of {n} values", kind=_kind(value), n=len(value)))
    raise TypeError(said("a {kind}", kind=_kind(value)))


def _kind(value: object) -> str:
    return type(value).__name__


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")
