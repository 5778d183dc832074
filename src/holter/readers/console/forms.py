"""Ways to take the body of a row apart: dictionaries, JSON, names with values, tables. They know no framework."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.errors import reason
from holter.readers.json_text import loads_record
from holter.readers.python_repr import by_json, parse
from holter.readers.rows import TooDeepError, flat

if TYPE_CHECKING:
    from collections.abc import Callable

    from holter.readers.console.grammar import Values

NUMBER = r"[-+]?(?:(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?|nan|inf)"
"""A number as consoles print it, for patterns."""
IN_CODE = re.compile(r"""["'`]|(?:[=(,+]|\S\s*\[)\s*$|^\s*(?:#|//|>>>)|\breturn\b""")
"""What stands before a dictionary that is part of code, or quoted, and no row."""
STEP_BEFORE = re.compile(r"\b[Ss]tep[ :=#]*(\d+)\b")
"""The step of a dictionary that says none, before it in its line."""
MOST_JOINED = 400
"""Lines of one row that a terminal wrapped or a printer spread."""

_CALL = re.compile(r"\b(?:np|numpy|torch)\.\w+\(([^()]*)\)|\btensor\(([^(),]*)[^()]*\)")


def step_of_batch(found: re.Match[str]) -> int:
    """The step of a row that counts the batches of each epoch: ``epoch`` from 1 on, ``batch`` of ``batches``."""
    return (max(int(found["epoch"]), 1) - 1) * int(found["batches"]) + int(found["batch"])


def without_calls(text: str) -> str:
    """The text with ``np.float64(0.1)`` and ``tensor(0.1, device='cuda:0')`` written as their numbers."""
    return _CALL.sub(lambda m: (m[1] or m[2] or "").split(",")[0], text) if "(" in text else text


def python_dict(body: str) -> Values:
    """A dictionary as Python prints it, ``nan`` and calls included; nested names are joined with ``/``.

    Raises:
        ValueError: When it is not one whole dictionary.
    """
    found = by_json(body)
    if found is None:
        found = parse(without_calls(body) if '"' not in body and "\\" not in body else body)
    return _joined(found)


def json_object(body: str) -> Values:
    """A JSON object; nested names are joined with ``/``.

    Raises:
        ValueError: When it is no object.
    """
    found = loads_record(body.encode("utf-8", errors="replace"))
    if not isinstance(found, dict):
        raise ValueError("no object")
    return _joined(found)


def _joined(found: Values) -> Values:
    if not any(isinstance(v, dict) for v in found.values()):
        return found
    try:
        return flat(found)
    except TooDeepError as error:
        raise ValueError(reason(error)) from None


def open_braces(body: str, after: str, filled: bool) -> bool:  # noqa: ARG001, FBT001 - every form is asked alike
    """Whether a dictionary goes on below its line. Braces inside its texts do not count."""
    if body.count("{") == body.count("}"):
        return False
    if not body.rstrip().endswith("}"):
        return True
    try:
        parse(body)
    except ValueError:
        return True
    return False


def items(pattern: str) -> Callable[[str], Values]:
    """A form: every match of `pattern`, whose groups are ``key`` and ``value``.

    Args:
        pattern: Regular expression; ``NUMBER`` in it stands for a number.
    """
    compiled = re.compile(pattern.replace("NUMBER", NUMBER), re.MULTILINE)

    def values(body: str) -> Values:
        return {found["key"].strip(): found["value"] for found in compiled.finditer(body)}

    return values


def grouped(row: str, group: str, item: str, no_group: str = "") -> Callable[[str], Values]:
    """A form: rows of a table, some of which open a group whose name comes before the names below.

    Args:
        row: Signs around a row, which are taken off.
        group: Pattern of the beginning of a row that opens a group; group 1 is its name.
        item: As in `items`.
        no_group: Name of the group whose names stand alone.
    """
    opens = re.compile(group)
    compiled = re.compile(item.replace("NUMBER", NUMBER))

    def values(body: str) -> Values:
        out: Values = {}
        prefix = ""
        for line in body.splitlines():
            stripped = line.strip().strip(row)
            opening = opens.match(stripped)
            if opening is not None:
                name = opening[1].rstrip("/")
                prefix = "" if name == no_group else f"{name}/"
                stripped = stripped[opening.end() :]
            for found in compiled.finditer(stripped):
                out[prefix + found["key"].strip()] = found["value"]
        return out

    return values


_NESTED = re.compile(rf"(?P<indent> *)(?P<key>[^\s:][^:]*):(?: +(?P<value>{NUMBER}|\S.*))?\s*")


def indented(body: str) -> Values:
    """Names over further names that are indented below them, as YAML has them; joined with ``/``."""
    out: Values = {}
    above: list[tuple[int, str]] = []
    for line in body.splitlines():
        found = _NESTED.fullmatch(line)
        if found is None:
            continue
        depth = len(found["indent"])
        while above and above[-1][0] >= depth:
            above.pop()
        if found["value"] is None:
            above.append((depth, found["key"]))
        else:
            out["/".join([*(name for _, name in above), found["key"]])] = found["value"]
    return out
