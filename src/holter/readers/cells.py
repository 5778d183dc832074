"""Lines of delimited text taken apart into cells, and what can stand in a cell."""

from __future__ import annotations

import csv
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import said
from holter.readers.numbers import THOUSANDS, Gap, number
from holter.readers.plausibility import objection

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holter.readers.table import Table

DELIMITERS = (",", "\t", ";", "|")
LONGEST_NAME = 200
_FEWEST_ABOVE = 2
_DECIMAL_COMMA = re.compile(r"[-+]?\d*,\d+(?:[eE][-+]?\d+)?", re.ASCII)
_GROUPED_POINT = re.compile(r"[-+]?[1-9]\d{0,2}\.\d{3}", re.ASCII)
_DECIMAL_POINT = re.compile(r"[-+]?(?:\d*|[1-9]\d{0,2}(?:,\d{3})+)\.\d+(?:[eE][-+]?\d+)?", re.ASCII)
_GROUPED_COMMA = re.compile(r"[-+]?[1-9]\d{0,2}(?:,\d{3})+(?:\.\d+)?", re.ASCII)
_SIGNS_OF_NUMBER = re.compile(r"[-+]?[\d.,]*\d(?:[eE][-+]?\d+)?", re.ASCII)


def split(line: str, delimiter: str) -> list[str]:
    """The cells of a line, without quotes and outer spaces. A quoted cell may hold the delimiter."""
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
    except csv.Error:
        return [cell.strip().strip('"') for cell in line.split(delimiter)]


def is_number(cell: str) -> bool:
    """Whether a cell holds a number, with a decimal point or comma."""
    return isinstance(number(cell), float) or _DECIMAL_COMMA.fullmatch(cell) is not None


def is_header(cells: Sequence[str]) -> bool:
    """Whether the cells can be names: some are there, none is a number, none is a paragraph."""
    named = [c for c in cells if c]
    return len(named) > len(cells) / 2 and not any(is_number(c) or len(c) > LONGEST_NAME for c in named)


def is_row(cells: Sequence[str]) -> bool:
    """Whether at least half of the cells hold numbers or nothing, and one a number."""
    numbers = sum(map(is_number, cells))
    nothing = sum(number(c) is not Gap.OTHER and not is_number(c) for c in cells)
    return numbers > 0 and 2 * (numbers + nothing) >= len(cells)


@dataclass(frozen=True, slots=True)
class Layout:
    """How a delimited text is laid out.

    Attributes:
        delimiter: Between the cells.
        header: Index of the line that names the columns, among the lines looked at.
        names: The names.
    """

    delimiter: str
    header: int
    names: tuple[str, ...]


def layout(lines: Sequence[str], *, strict: bool) -> Layout | None:
    """The layout under which most of the first lines of a text have as many cells as there are names; None when none fits.

    Args:
        lines: First lines of the text.
        strict: Whether the text must look like a log by itself, because nothing else says that it is a table.
    """
    best: tuple[tuple[int, int], Layout] | None = None
    for delimiter in DELIMITERS:
        cells = [split(line, delimiter) if line.strip() else [] for line in lines]
        for index, names in enumerate(cells):
            plain = [names[0].lstrip("# ") if names else "", *names[1:]]
            if len(names) < 2 or not is_header(plain):
                continue
            rows = [c for c in cells[index + 1 :] if c]
            fitting = [c for c in rows if len(c) == len(names)]
            if len(fitting) * 2 < len(rows) or (strict and not _is_log(delimiter, cells[:index], plain, rows, fitting)):
                continue
            score = (len(fitting), len(names))
            if best is None or score > best[0]:
                best = (score, Layout(delimiter, index, tuple(plain)))
            break
    return best[1] if best else None


def _is_log(
    delimiter: str,
    before: Sequence[list[str]],
    names: list[str],
    rows: Sequence[list[str]],
    fitting: Sequence[list[str]],
) -> bool:
    """Whether a table is the whole text, and by its names the log of a training run."""
    if delimiter == "|" or any(cells and not cells[0].startswith("#") for cells in before):
        return False
    return (
        bool(fitting)
        and 20 * (len(rows) - len(fitting)) <= len(rows)
        and all(map(is_row, fitting))
        and not objection(names)
    )


def own_names(names: Iterable[str]) -> tuple[list[str], list[str]]:
    """Column names of which no two are the same, and a remark for each that had to be changed."""
    out: list[str] = []
    notes: list[str] = []
    taken: set[str] = set()
    for index, name in enumerate(names, start=1):
        given = name or f"column {index}"
        own, copy = given, 2
        while own in taken:
            own, copy = f"{given} ({copy})", copy + 1
        if own != given:
            notes.append(said("two columns are called {name!r}; the later one is read as {own!r}", name=given, own=own))
        taken.add(own)
        out.append(own)
    return out, notes


class DecimalSigns:
    """Tells decimal commas in a table whose delimiter is not the comma, and where they cannot be told from groups of digits.

    ``0,5`` has a decimal comma. ``1,234`` has one when the table has others that are certain, and ``1.234`` is only
    certain when it has none.
    """

    def __init__(self) -> None:
        self._comma = False
        self._either: tuple[int, str] | None = None
        self._point: tuple[int, str] | None = None

    def plain(self, cells: list[str], line: int) -> list[str]:
        """The cells of a line with decimal commas written as points."""
        if self._point is None:
            self._point = next(((line, c) for c in cells if _GROUPED_POINT.fullmatch(c)), None)
        if not any("," in cell for cell in cells):
            return cells
        out = []
        for cell in cells:
            if not _DECIMAL_COMMA.fullmatch(cell):
                out.append(cell)
                continue
            out.append(cell.replace(",", "."))
            if not THOUSANDS.fullmatch(cell):
                self._comma = True
            elif self._either is None:
                self._either = (line, cell)
        return out

    def refuse_doubt(self, file: str) -> None:
        """Refuse a table in which the sign of some number cannot be told.

        Raises:
            UnreadableLogError: Names the first such number and its line.
        """
        doubtful = self._point if self._comma else self._either
        if doubtful is not None:
            raise UnreadableLogError.of(
                file,
                said("whether {number!r} has a decimal sign or groups of digits cannot be told.", number=doubtful[1]),
                "Export the table with plain numbers: 1234.5.",
                line=doubtful[0],
            )


def without_groups(rows: Sequence[list[str]]) -> Sequence[list[str]]:
    """The rows of a table without the commas that group digits, where the table itself tells that they do.

    ``0.25`` beside ``1,234`` has a decimal point for certain; where no number has a decimal comma, a comma groups digits.
    """
    found = [
        [
            _SIGNS_OF_NUMBER.match(cell, 1 if cell[:1] in ("~", "≈") else 0) if "," in cell or "." in cell else None
            for cell in row
        ]
        for row in rows
    ]
    shown = [number[0] for row in found for number in row if number]
    points = any(_DECIMAL_POINT.fullmatch(n) and not _GROUPED_POINT.fullmatch(n) for n in shown)
    commas = any(_DECIMAL_COMMA.fullmatch(n) and not _GROUPED_COMMA.fullmatch(n) for n in shown)
    if commas or not points:
        return rows
    return [
        [
            cell.replace(number[0], number[0].replace(",", ""), 1)
            if number and _GROUPED_COMMA.fullmatch(number[0])
            else cell
            for cell, number in zip(row, numbers, strict=True)
        ]
        for row, numbers in zip(rows, found, strict=True)
    ]


def refuse_grouped_digits(file: str, table: Table, columns: Iterable[str]) -> None:
    """Refuse a table in which numbers are written with their digits in groups.

    Raises:
        UnreadableLogError: Names the first such number, its line and column.
    """
    numbers = table.lines()
    numeric = set(columns)
    for key, samples in table.samples.items():
        grouped = [(row, text) for row, text in samples if THOUSANDS.fullmatch(text.strip())]
        if grouped and (key in numeric or len(grouped) == len(samples)):
            row, seen = grouped[0]
            raise UnreadableLogError.of(
                file,
                said(
                    "column {name!r} has the number {number!r}, whose digits are grouped; whether a comma or point in it is a "
                    "decimal sign depends on a country.",
                    name=key,
                    number=seen,
                ),
                "Export the table with plain numbers: 1234.5.",
                line=int(numbers[row]),
            )


def may_be_cut(cell: str, others: Iterable[str]) -> bool:
    """Whether the last cell of a file without a final line end may lack digits, judged by the cells above it.

    A number that is as long as the longest above it, where none has an exponent, is taken to be whole.
    """
    above = [c for c in others if is_number(c)]
    if not is_number(cell):
        return bool(above)
    if len(above) < _FEWEST_ABOVE or any("e" in c.lower() for c in (*above, cell)):
        return True
    decimals = max(map(_decimals, above))
    return _decimals(cell) < decimals or (decimals < 0 and len(cell) < max(map(len, above)))


def _decimals(cell: str) -> int:
    """Digits behind the decimal sign, -1 where there is none."""
    parts = re.split("[.,]", cell)
    return len(parts[1]) if len(parts) > 1 else -1
