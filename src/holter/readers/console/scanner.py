"""Finds the rows of metrics in the lines of a console: first lines, blocks below them, lines that a terminal wrapped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holter.errors import reason
from holter.readers.console.forms import MOST_JOINED
from holter.readers.console.grammar import Standing

if TYPE_CHECKING:
    import re
    from collections.abc import Iterator, Sequence

    from holter.readers.console.grammar import Grammar, Values
    from holter.readers.console.text_lines import Line

_LONGEST = 1 << 20
"""Characters of the longest row."""


@dataclass(slots=True)
class Row:
    """A row that was found.

    Attributes:
        grammar: In which form.
        line: Its first line.
        values: What it says; None when it could not be taken apart.
        why: Why it could not.
        last: Number of its last line.
    """

    grammar: Grammar
    line: Line
    values: Values | None
    why: str
    last: int


@dataclass(slots=True)
class _Open:
    """A row whose end has not been seen."""

    grammar: Grammar
    first: re.Match[str]
    line: Line
    body: list[str]
    length: int
    last: int
    newest: Line
    more: int = 0
    met: bool = False

    def text(self) -> str:
        return ("\n" if self.grammar.inside is not None else "").join(self.body)


@dataclass(slots=True)
class Scanner:
    """Takes one line after another.

    Attributes:
        grammars: Forms to look for.
        cut: Rows whose line W&B cut; the item at the cut is left out.
    """

    grammars: Sequence[Grammar]
    cut: int = 0
    _open: list[_Open] = field(default_factory=list)
    _newest: Grammar | None = None
    """The form of the newest row that was one line: as a rule that of the next one, and a line is a row of one form."""
    _width: int = -1
    """Characters of a line of the terminal that wrapped rows before."""

    def feed(self, line: Line) -> Iterator[Row]:
        """The rows that are known to be whole once `line` has come, in the order of their ends."""
        taken = False
        if self._open:
            kept: list[_Open] = []
            for each in self._open:
                if each.line.process != line.process and line.process:
                    kept.append(each)
                    continue
                goes_on, mine = self._goes_on(each, line)
                taken |= mine
                if goes_on:
                    kept.append(each)
                else:
                    yield from self._closed(each)
            self._open = kept
        if taken:
            return
        if self._newest is not None and self._newest.hint in line.text:
            found = self._begun(self._newest, line)
            if found is not None:
                yield from found
                return
        for grammar in self.grammars:
            if grammar.hint in line.text:
                found = self._begun(grammar, line)
                if found is not None and grammar.inside is None:
                    self._newest = grammar
                    yield from found
                    return

    def end(self) -> Iterator[Row]:
        """The rows that were open at the end of the text."""
        for each in self._open:
            yield from self._closed(each)
        self._open = []

    def _begun(self, grammar: Grammar, line: Line) -> list[Row] | None:
        """The rows that are whole with this line, whose first lines stand in it; None where none does."""
        rows: list[Row] = []
        begun = False
        for first in grammar.first_lines(line.text):
            body = first["body"]
            if grammar.inside is None and grammar.require is not None and grammar.require.search(body) is None:
                continue
            begun = True
            cut = line.cut and grammar.between != "" and first.end() == len(line.text)
            if cut:
                self.cut += 1
                body = grammar.without_last(body)
            each = _Open(grammar, first, line, [body] if body else [], len(body), line.number, line)
            if cut or (grammar.inside is None and grammar.unfinished is None):
                rows += self._closed(each)
            else:
                self._open.append(each)
        if grammar.standing is Standing.ANY and rows and all(row.values is None for row in rows):
            # Nearly any line begins like one of these, and is one of another of them if it is none of this one.
            return None
        return rows if begun else None

    def _goes_on(self, each: _Open, line: Line) -> tuple[bool, bool]:
        """Whether a row stays open with `line`, and whether the line is its own."""
        grammar = each.grammar
        if grammar.inside is None:
            return self._wrapped(each, line)
        if grammar.until is not None and each.met and grammar.until.search(line.text):
            each.body.append(line.text)
            each.last = line.number
            return False, True
        if grammar.inside.search(line.text):
            each.met = True
            each.more = 0
            each.last = line.number
            each.body.append(line.text)
            each.length += len(line.text)
            closed = grammar.until is not None and grammar.until.search(line.text) is not None
            return not closed and len(each.body) < 10 * MOST_JOINED and each.length < _LONGEST, True
        each.more += 1
        again = any(True for _ in grammar.first_lines(line.text))
        return each.more <= grammar.patience and not again, False

    def _wrapped(self, each: _Open, line: Line) -> tuple[bool, bool]:
        grammar = each.grammar
        assert grammar.unfinished is not None
        if each.more >= MOST_JOINED or each.length > _LONGEST:
            return False, False
        if any(True for _ in grammar.first_lines(line.text)):
            return False, False
        body = each.text()
        width = each.line.width if each.more else self._width
        if not grammar.unfinished(body, line.text, each.newest.width in (width, width - 1)):
            return False, False
        self._width = each.line.width
        each.body = [_joined(body, line.text)]
        each.length = len(each.body[0])
        each.last, each.newest = line.number, line
        each.more += 1
        return True, True

    @staticmethod
    def _closed(each: _Open) -> Iterator[Row]:
        grammar, body = each.grammar, each.text()
        if grammar.inside is not None and not each.met:
            return
        looked_at = grammar.inside is None and not each.more
        if not looked_at and grammar.require is not None and grammar.require.search(body) is None:
            return
        try:
            yield Row(grammar, each.line, grammar.row(each.first, body), "", each.last)
        except ValueError as error:
            if grammar.inside is None:
                yield Row(grammar, each.line, None, reason(error), each.last)


def _joined(body: str, rest: str) -> str:
    """A wrapped line made whole. A terminal that wraps at a blank may drop it."""
    dropped = (body.endswith(" -") and rest[:1] != " ") or (rest.startswith("- ") and body[-1:] != " ")
    return f"{body} {rest}" if dropped else body + rest
