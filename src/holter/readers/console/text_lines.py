"""The lines of a console as a person sees them: without colours, one for every redrawing, told apart by who printed them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

import orjson

from holter.readers.lines import text, with_straight_quotes, without_colours

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_PROCESS = re.compile(r"\s*\((?P<process>[^()]*\bpid=\d+[^()]*)\) ?")
_RANK = re.compile(r"\s*[\[(](?:rank|default|Rank|RANK)[ :]?(?P<rank>\d+)[\])]:?\s?")
_TASK = re.compile(r"(?P<process>\d{1,4}): +(?=\{)")
_REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\][^\n]*$")
MESSAGES = ("log", "message", "msg", "MESSAGE")
"""Where containers and structured loggers keep the line that a program printed."""
_MESSAGE = re.compile(rf'"(?:{"|".join(MESSAGES)})"\s*:\s*"')
_LIST = re.compile(r"\s*(?:[A-Za-z_][\w.]*\s*=\s*)?\[\s*(?=\{['\"])")
_BETWEEN_ITEMS = re.compile(r"(?<=\}),\s*(?=\{['\"])")
CUT_AT = 4096
"""Bytes of a line that W&B keeps."""


class Line(NamedTuple):
    """A line, or a part of one that was redrawn over."""

    number: int
    """1-based line in the file."""
    text: str
    process: str = ""
    """What a launcher wrote before the line to say which process printed it."""
    rank: int | None = None
    """Rank of that process, where the launcher says it."""
    width: int = 0
    """Characters of the line with what a launcher wrote before it."""
    cut: bool = False
    """Whether W&B cut the line, as it does in ``output.log`` with all that is longer than 4096 bytes."""


def shown(numbered: Iterable[tuple[int, bytes]]) -> Iterator[Line]:
    """The lines without colours and without the prefixes of Ray, torchrun and srun.

    Args:
        numbered: Lines of the file with their numbers.
    """
    for number, line in numbered:
        for printed in _printed(text(line)):
            decoded = without_colours(printed)
            if "\r" not in decoded:
                shown_line = _line(number, decoded)
                yield shown_line._replace(cut=True) if len(line) == CUT_AT else shown_line
                continue
            for part in decoded.split("\r"):
                if part:
                    yield _line(number, part)


def _printed(line: str) -> list[str]:
    """What a program printed, out of the record that a container or a logger made of it; the items of a list one by one."""
    if line.startswith("{") and _MESSAGE.search(line):
        line = _message(line)
    line = with_straight_quotes(line)
    opening = _LIST.match(line)
    if opening is not None:
        return _BETWEEN_ITEMS.split(line[opening.end() :].rstrip().removesuffix("]"))
    return line.rstrip("\n").split("\n")


def _message(record: str) -> str:
    try:
        found = orjson.loads(record)
    except orjson.JSONDecodeError:
        return record
    messages = (found.get(key) for key in MESSAGES)
    return next((message for message in messages if isinstance(message, str)), record)


def _line(number: int, line: str) -> Line:
    first = line[:1]
    if first not in "([ 0123456789" or not first:
        return Line(number, line, width=len(line))
    found = _PROCESS.match(line)
    if found is not None:
        rest = line[found.end() :]
        if "[repeated" in rest:
            rest = _REPEATED.sub("", rest)
        return Line(number, rest, found["process"], width=len(line))
    found = _RANK.match(line)
    if found is not None:
        return Line(number, line[found.end() :], f"rank {found['rank']}", int(found["rank"]), len(line))
    found = _TASK.match(line)
    if found is not None:
        return Line(number, line[found.end() :], found["process"], width=len(line))
    return Line(number, line, width=len(line))
