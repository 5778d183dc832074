"""The lines of a console as a person sees them: without colours, one for every redrawing, told apart by who printed them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from holter.readers.lines import text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_ANSI = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][A-Z0-9]|\x1b[=>78]")
_PROCESS = re.compile(r"\s*\((?P<process>[^()]*\bpid=\d+[^()]*)\) ?")
_RANK = re.compile(r"\s*[\[(](?:rank|default|Rank|RANK)[ :]?(?P<rank>\d+)[\])]:?\s?")
_TASK = re.compile(r"(?P<process>\d{1,4}): +(?=\{)")
_REPEATED = re.compile(r"\s*\[repeated \d+x across cluster\][^\n]*$")
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
        decoded = text(line)
        if "\x1b" in decoded:
            decoded = _ANSI.sub("", decoded)
        if "\r" not in decoded:
            shown_line = _line(number, decoded)
            yield shown_line._replace(cut=True) if len(line) == CUT_AT else shown_line
            continue
        for part in decoded.split("\r"):
            if part:
                yield _line(number, part)


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
