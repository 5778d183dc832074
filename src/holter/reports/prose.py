"""Sentences in the terminal: lines end between words, and between the characters of a script that has no spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.containers import Lines
from rich.measure import Measurement
from rich.text import Text

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, JustifyMethod, OverflowMethod

CLOSING = frozenset("，。、；：？！）》」』”…")
"""What no line begins with."""
OPENING = frozenset("（《「『“")
"""What no line ends with."""


class Prose(Text):
    """A text that is broken into lines as its script asks for; where no character is two columns wide, as `Text` does it."""

    def wrap(
        self,
        console: Console,
        width: int,
        *,
        justify: JustifyMethod | None = None,
        overflow: OverflowMethod | None = None,
        tab_size: int = 8,
        no_wrap: bool | None = None,
    ) -> Lines:
        """The lines of the text, no wider than `width` columns."""
        if no_wrap or self.no_wrap or cell_len(self.plain) == len(self.plain):
            return super().wrap(console, width, justify=justify, overflow=overflow, tab_size=tab_size, no_wrap=no_wrap)
        lines = Lines()
        for line in self.split(allow_blank=True):
            parts = line.divide(line_starts(line.plain, width))
            for part in parts:
                part.rstrip()
            lines.extend(parts)
        return lines

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        """The widest piece that cannot be broken, and the widest line."""
        lines = self.plain.splitlines() or [""]
        pieces = [cell_len(piece.rstrip()) for line in lines for piece in unbreakable(line)]
        return Measurement(max(pieces, default=0), max(map(cell_len, lines)))


def line_starts(line: str, width: int) -> list[int]:
    """Where lines begin after the first, so that none is wider than `width` columns."""
    starts: list[int] = []
    at = used = 0
    for piece in unbreakable(line):
        for part in piece if cell_len(piece.rstrip()) > width else (piece,):
            if used and used + cell_len(part.rstrip()) > width:
                starts.append(at)
                used = 0
            at, used = at + len(part), used + cell_len(part)
    return starts


def unbreakable(line: str) -> list[str]:
    """The pieces of a line between which it may end: words with the spaces after them, and single wide characters."""
    pieces: list[str] = []
    for character in line:
        before = pieces[-1][-1] if pieces else " "
        in_a_word = before != " " and cell_len(before) < 2 and cell_len(character) < 2
        if pieces and (character == " " or character in CLOSING or before in OPENING or in_a_word):
            pieces[-1] += character
        else:
            pieces.append(character)
    return pieces
