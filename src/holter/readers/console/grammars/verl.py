"""The line that verl prints for a step: ``step:5 - actor/kl_loss:0.071 - ...``; RAGEN and rLLM print it too.

Up to 0.4 it rounds to three decimals. Pasted logs are often wrapped in the middle of a name or a number.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from holter.readers.console.forms import NUMBER, without_calls
from holter.readers.console.grammar import Grammar
from holter.readers.numbers import number

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values

_BETWEEN = " - "
_ITEM = re.compile(rf"[^\s:][^:]*:(?:np\.\w+\()?(?:{NUMBER}|None)\)?")
_REST = re.compile(r"\.\d|e[-+]\d|0\d")
"""How the rest of a number begins that was cut in two numbers."""
_FRAGMENT = re.compile(r"""[^\s"'{}\[\]]+""")


def _items(body: str) -> Values:
    """Names and values of a line.

    Raises:
        ValueError: When its first item is none.
    """
    parts = without_calls(body).rstrip().removesuffix(" -").split(_BETWEEN)
    pieces = ":".join(parts).split(":")
    if len(pieces) == 2 * len(parts):
        keys, values = pieces[::2], pieces[1::2]
    else:
        found = [part.rpartition(":") for part in parts if ":" in part]
        keys, values = [f[0] for f in found], [f[2] for f in found]
    try:
        # Numerals without nan among them are JSON, which is read several times faster than one after another.
        numbers: list[object] = orjson.loads(f"[{','.join(values)}]")
    except orjson.JSONDecodeError:
        numbers = []
    if len(numbers) == len(keys) > 0 and isinstance(numbers[0], int | float):
        return dict(zip(keys, numbers, strict=True))
    if not values or not isinstance(number(values[0]), float):
        raise ValueError("no values of the form name:number in it")
    return dict(zip(keys, values, strict=True))


def _wrapped(body: str, after: str, filled: bool) -> bool:  # noqa: FBT001 - every form is asked alike
    """Whether the line `after` can only be the rest of the line before it."""
    rest = after.strip().removeprefix("- ").removesuffix(" -")
    parts = rest.split(_BETWEEN)
    if not all(map(_FRAGMENT.fullmatch, parts)):
        return False
    last = body.rstrip().rsplit(_BETWEEN, 1)[-1]
    if filled or _ITEM.fullmatch(last) is None or last.endswith(".") or _REST.match(rest):
        return True
    return after.lstrip(" ").startswith("- ") or (len(parts) > 1 and ":" in rest)


VERL_LINE = Grammar(
    name="verl-line",
    family="verl",
    frameworks=("verl", "ragen", "rllm"),
    hint="step:",
    begins=re.compile(r"(?:^|\s)step:(?P<step>\d+) - (?P<body>.+)$"),
    not_before=re.compile("[\"'`]"),
    values=_items,
    unfinished=_wrapped,
    between=_BETWEEN,
)
