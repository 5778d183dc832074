"""Tables as people paste them: Markdown, box drawing, notebook output, a page copied from the browser.

Whatever stands before, between and after the tables is passed over. Each table of a training log becomes a log.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.language import said
from holter.readers.cells import DecimalSigns, is_header, own_names, refuse_grouped_digits, without_groups
from holter.readers.encoding import is_text
from holter.readers.lines import Lines, text
from holter.readers.numbers import Gap
from holter.readers.plausibility import NotALogError, is_reward, is_training_metric, objection
from holter.readers.records import Records
from holter.readers.step_cells import placed, steps_of_columns
from holter.readers.table_text import is_border, plain, splits, value

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holter.readers.base import RawLog, Source

_SUFFIXES = (".md", ".markdown", ".txt", ".rst", ".log", ".out")
_HEADER_LINES = 4
_MAY_NAME = re.compile(
    "step|iter|update|epis|epoch|batch|rollout|frame|token|sample|loss|kl|entropy|grad|lr|learning|clip|adv|ppo|rlhf|policy"
    "|critic|actor|return|reward|score|eps|[\u4e00-\u9fff]",
    re.IGNORECASE,
)
"""What a header of a log has in it. Nearly every line of any other text is told from a header by this alone."""
_LONGEST = 20_000
"""Characters of the longest line that can be a row for people."""


class _Block:
    """One table of the text.

    Attributes:
        names: Its header; an empty name is a column to leave out, such as a data frame's index.
        first: Line of the header.
    """

    def __init__(self, file: str, names: Sequence[str], first: int) -> None:
        self.names, self.first = list(names), first
        self._file = file
        self._kept = [index for index, name in enumerate(names) if name]
        own, notes = own_names(names[index] for index in self._kept)
        self._own = tuple(own)
        self._records = Records(file, none=Gap.ABSENT)
        self._records.notes += notes
        self._rows: list[tuple[int, list[str]]] = []

    def takes(self, number: int, line: str) -> bool:
        """Add a line that belongs to this table: a row, a row with too few or too many cells, the header again."""
        ways = splits(line)
        rows = [way for way in ways if self._is_row(way)]
        fitting = next((way for way in rows if len(way) == len(self.names)), None)
        if fitting is not None:
            self.add(number, fitting)
        elif rows:
            self._records.skip(
                number, said("{n} cells where the header has {names}", n=len(rows[0]), names=len(self.names))
            )
        return bool(rows) or self.names in ways

    def _is_row(self, cells: Sequence[str]) -> bool:
        return _is_row(cells)

    def add(self, number: int, cells: Sequence[str]) -> None:
        """Add a row."""
        self._rows.append((number, [cells[index] for index in self._kept]))

    def records(self) -> Records:
        """Its rows.

        Raises:
            UnreadableLogError: When what its numbers say cannot be told for certain.
        """
        for line, names, cells in self._placed():
            found = [value(cell) for cell in cells]
            self._records.table.row(names, [None if isinstance(v, Gap) else v for v in found], line)
        refuse_grouped_digits(self._file, self._records.table, self._records.table.columns())
        return self._records

    def _placed(self) -> Iterator[tuple[int, tuple[str, ...], list[str]]]:
        """Line, names and cells of every row, with its step and its other numbers in plain digits.

        Raises:
            UnreadableLogError: When the sign of some number cannot be told.
        """
        signs = DecimalSigns()
        plain_cells = without_groups([cells for _, cells in self._rows])
        rows = [(line, signs.plain(cells, line)) for (line, _), cells in zip(self._rows, plain_cells, strict=True)]
        signs.refuse_doubt(self._file)
        told = placed(self._own, rows)
        self._records.notes += told.notes
        for line, label in told.aside:
            self._records.skip(line, said("a row without a step: {label!r}", label=label))
        for line, cells in told.rows:
            yield line, tuple(told.names), cells


class _Turned(_Block):
    """A table whose columns are the steps and whose rows are the metrics."""

    def __init__(self, file: str, names: Sequence[str], first: int, steps: Mapping[int, int]) -> None:
        """Begin.

        Args:
            file: What messages call the text.
            names: Its header.
            first: Line of the header.
            steps: What the columns of numbers stand for; any other is left out.
        """
        super().__init__(file, names, first)
        self._steps = steps

    def takes(self, number: int, line: str) -> bool:
        """Add a line that belongs to this table. A row without numbers says something of the steps, and is passed over."""
        return super().takes(number, line) or ("|" in line and len(splits(line)[0]) == len(self.names))

    def _is_row(self, cells: Sequence[str]) -> bool:
        return _is_row([cells[i] for i in self._steps if i < len(cells)])

    def add(self, number: int, cells: Sequence[str]) -> None:
        """Add the row of one metric."""
        self._rows.append((number, [cells[0], *(cells[i] for i in self._steps)]))

    def _placed(self) -> Iterator[tuple[int, tuple[str, ...], list[str]]]:
        """A row for every step; none where the rows are no metrics, but models that are compared."""
        if not any(is_training_metric(cells[0]) or is_reward(cells[0]) for _, cells in self._rows):
            return
        signs = DecimalSigns()
        names, notes = own_names(["step", *(cells[0] for _, cells in self._rows)])
        self._records.notes += notes
        plain_cells = without_groups([cells[1:] for _, cells in self._rows])
        columns = [signs.plain(cells, line) for (line, _), cells in zip(self._rows, plain_cells, strict=True)]
        signs.refuse_doubt(self._file)
        for step, cells in zip(self._steps.values(), zip(*columns, strict=True), strict=True):
            yield self.first, tuple(names), [str(step), *cells]


class PastedTable:
    """Reads text with tables in it."""

    name = "pasted-table"
    title = "tables pasted as text: Markdown, box drawing, columns apart by tabs or spaces; English and Chinese headers"
    priority = 900

    def recognises(self, name: str, head: bytes) -> bool:
        """By a table with a step or a metric of training in its header, or by a suffix of text that may have one below."""
        if not is_text(head):
            return False
        if name.lower().removesuffix(".gz").endswith(_SUFFIXES):
            return True
        shown = text(head).splitlines()
        return any(True for _ in _blocks(name, enumerate(shown, start=1)))

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log for every table of training metrics in the text.

        Raises:
            UnreadableLogError: When there is none, or its numbers cannot be told for certain.
        """
        lines = Lines(source)
        blocks = list(_blocks(source.name, ((number, text(line)) for number, line in lines)))
        read: list[RawLog] = []
        objection_to_all: NotALogError | None = None
        for block in blocks:
            records = block.records()
            name = source.name if len(blocks) == 1 else f"{source.name} (table in line {block.first})"
            try:
                read.append(records.log(name, self.name, notes=lines.notes))
            except NotALogError as error:
                objection_to_all = objection_to_all or error
        if not read:
            raise objection_to_all or NotALogError.of(
                source.name,
                "no table of training metrics was found in this text.",
                "A table needs a header line that names a step and metrics, and a line for every step. Of a run whose console "
                "output this is, give the file that the trainer wrote: trainer_state.json, event files, JSON lines.",
            )
        yield from read


def _blocks(file: str, numbered: Iterable[tuple[int, str]]) -> Iterator[_Block]:
    """The tables in a text: a header that a training log may have, then rows of as many cells."""
    block: _Block | None = None
    above: list[list[tuple[int, str]]] = [[]]
    for number, line in numbered:
        shown = plain(line[:_LONGEST])
        if not shown:
            continue
        if is_border(shown):
            above = [*above[-1:], []]
            continue
        if block is not None:
            if block.takes(number, shown):
                continue
            yield block
            above = [[]]
        block = _begun(file, above, number, shown)
        if block is None:
            above[-1] = [*above[-1][-_HEADER_LINES + 1 :], (number, shown)]
    if block is not None:
        yield block


def _begun(file: str, above: Sequence[list[tuple[int, str]]], number: int, line: str) -> _Block | None:
    """A table whose first row is `line`, when what stands above it is a header that fits.

    Args:
        file: What messages call the text.
        above: Lines above it; a border separates them into groups.
        number: Its number.
        line: The line.
    """
    if not any(_MAY_NAME.search(text) for group in above for _, text in group):
        return None
    rows = [way for way in splits(line) if _is_row(way)]
    if not rows:
        return None
    first, headers = _headers(above)
    for names in headers:
        steps = steps_of_columns(names)
        if steps:
            fitting = next((cells for cells in rows if len(cells) == len(names)), None)
            if fitting is None:
                continue
            turned = _Turned(file, names, first, steps)
            turned.add(number, fitting)
            return turned
        if (
            not is_header(names)
            or any(n[-1:] in (":", ",", "{", "}") for n in names)
            or objection([n for n in names if n])
        ):
            continue
        for cells in rows:
            indexed = len(cells) == len(names) + 1 and cells[0].isdigit() and "|" not in line
            if indexed or len(cells) == len(names):
                block = _Block(file, ["", *names] if indexed else names, first)
                block.add(number, cells)
                return block
    return None


def _headers(above: Sequence[list[tuple[int, str]]]) -> tuple[int, list[list[str]]]:
    """The line of a header, and the ways to take it apart. Between borders it may be wrapped over several lines."""
    group = above[-1] or above[0]
    if not group:
        return 0, []
    if not above[-1] and len(group) > 1 and all("|" in line for _, line in group):
        wrapped = [splits(line)[0] for _, line in group if splits(line)]
        if len({len(cells) for cells in wrapped}) == 1:
            return group[0][0], [[" ".join(filter(None, parts)) for parts in zip(*wrapped, strict=True)]]
    return group[-1][0], splits(group[-1][1])


def _is_row(cells: Sequence[str]) -> bool:
    """Whether at least half of the cells hold numbers or nothing, and one a number."""
    found = [value(cell) for cell in cells]
    numbers = sum(isinstance(v, float) or _grouped(c) for v, c in zip(found, cells, strict=True))
    return numbers > 0 and 2 * (numbers + sum(isinstance(v, Gap) for v in found)) >= len(cells)


def _grouped(cell: str) -> bool:
    """Whether a cell begins like a number with commas, which is refused or read later, and makes a row all the same."""
    cell = cell.lstrip("~≈ ")
    return cell[:1].isdigit() and "," in cell and cell.replace(",", "").replace(".", "").isdigit()


PASTED_TABLE = PastedTable()
