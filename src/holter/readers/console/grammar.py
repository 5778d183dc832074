"""What a grammar is: how one framework prints one row of metrics."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from functools import cache
from typing import TYPE_CHECKING

from holter import discovery
from holter.readers.console.forms import open_braces

if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Iterator, Mapping

Values = dict[str, object]
"""Values by the name that the console gives them: numbers, texts that stand for numbers, None."""


class Standing(IntEnum):
    """How far rows of a form are believed beside rows of other forms in the same text."""

    LOG = 0
    """A framework prints them as its log."""
    BAR = 1
    """Beside a progress bar, rounded and of mini-batches: read only where no framework's log is in the text."""
    ANY = 2
    """A form that many hand-written loops have, and other text as well: read only where nothing else is."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Grammar:
    """How a row of metrics looks on a console.

    A row is one line, or a first line and a block of lines below it. A line that a terminal wrapped is joined again.

    Attributes:
        name: Kebab-case name.
        family: Grammars of one family are lines of the same log; another family in the same text is another log.
        frameworks: Dialects that print it, for people.
        hint: What every first line holds, so that nearly all other lines are passed over without a second look.
        begins: Searched in a line. Group ``body`` is what `values` gets; ``step`` and ``epoch`` become values.
        not_before: What must not stand before the body in its line: signs of code that builds such a text, quotes.
        step_before: The step, in group 1, where it may stand before the body.
        values: Takes the body apart; a ValueError says that it is no row, and what was seen.
        unfinished: Whether a body, as far as it has been read, goes on in the line after it. Gets the body, that line, and
            whether the line before is as long as those that a terminal wrapped.
        between: What stands between two items of a body that is one line, and
        closing: what it ends with; so that of a line that was cut the whole items can be read.
        inside: Lines of the block below a first line; None for a row that is one line.
        until: The last line of the block, where it has one of its own.
        patience: Lines of other output that the block survives.
        require: What the body must hold to be metrics and not some other text of this form.
        rename: Names that only the console uses, and those that the framework's other logs use.
        scale: What a value of a console name is multiplied with, where it is printed in another unit.
        continues: Whether the row belongs to the row before it, unless that one has these names already.
        precedes: Whether it belongs to the row after it, unless that one has these names as well.
        standing: How far its rows are believed beside those of other forms.
        alone: Whether one row of a form with the lowest standing is a log, because hardly any other text is mistaken for it; or
            what says so of its first line.
    """

    name: str
    family: str
    frameworks: tuple[str, ...]
    hint: str
    begins: re.Pattern[str]
    values: Callable[[str], Values]
    not_before: re.Pattern[str] | None = None
    step_before: re.Pattern[str] | None = None
    unfinished: Callable[[str, str, bool], bool] | None = None
    between: str = ""
    closing: str = ""
    inside: re.Pattern[str] | None = None
    until: re.Pattern[str] | None = None
    patience: int = 0
    require: re.Pattern[str] | None = None
    rename: Mapping[str, str] = field(default_factory=dict)
    scale: Mapping[str, float] = field(default_factory=dict)
    continues: bool = False
    precedes: bool = False
    standing: Standing = Standing.LOG
    alone: bool | Callable[[str], bool] = False

    def __deepcopy__(self, memo: dict[int, object]) -> Grammar:
        """Itself: nothing changes it."""
        return self

    @property
    def shows_its_end(self) -> bool:
        """Whether a row of this form that ends too early cannot pass for a whole one."""
        return self.unfinished is open_braces or self.until is not None

    def is_log(self, first: str) -> bool:
        """Whether the row with this first line is a log without any other."""
        return self.alone if isinstance(self.alone, bool) else self.alone(first)

    def first_lines(self, line: str) -> Iterator[re.Match[str]]:
        """The matches of `begins` in a line that may be rows."""
        if self.hint not in line:
            return
        for found in self.begins.finditer(line):
            if self.not_before is None or self.not_before.search(line, 0, found.start("body")) is None:
                yield found

    def without_last(self, body: str) -> str:
        """A body without its last item, which was cut somewhere; the body itself where that cannot be told."""
        whole, found, _ = body.rpartition(self.between) if self.between else ("", "", "")
        return whole + self.closing if found else body

    def row(self, first: re.Match[str], body: str) -> Values:
        """The values of a row.

        Args:
            first: The match of `begins`.
            body: The body, with the lines that were joined to it.

        Raises:
            ValueError: When it is no row; the message says what was seen.
        """
        found = self.values(body)
        if not found:
            raise ValueError("no values in it")
        if self.rename or self.scale:
            found = {self.rename.get(k, k): self._scaled(k, v) for k, v in found.items()}
        groups = first.groupdict()
        out: Values = {k: float(groups[k]) for k in ("step", "epoch") if groups.get(k) is not None and k not in found}
        if self.step_before is not None and "step" not in found and first.start():
            for said in self.step_before.finditer(first.string, 0, first.start()):
                out["step"] = float(said[1])
        return {**out, **found} if out else found

    def _scaled(self, key: str, value: object) -> object:
        factor = self.scale.get(key)
        return value if factor is None or not isinstance(value, str | float | int) else float(value) * factor


@cache
def all_grammars() -> dict[str, Grammar]:
    """All grammars by name."""
    from holter.readers.console import grammars

    return discovery.members(grammars, "grammars", lambda v: isinstance(v, Grammar), lambda g: g.name)
