"""Jupyter notebooks: the tables and the rows of metrics in the outputs of their cells. Nothing in them is executed."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import phrase, reason, said
from holter.readers.base import Skipped, Source
from holter.readers.cells import is_header, own_names
from holter.readers.console.reader import CONSOLE
from holter.readers.foreign import is_notebook
from holter.readers.html_table import html_tables
from holter.readers.json_document import whole
from holter.readers.json_text import loads
from holter.readers.numbers import Gap
from holter.readers.pasted_table import PASTED_TABLE
from holter.readers.plausibility import NotALogError
from holter.readers.records import Records
from holter.readers.table_text import value

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog
    from holter.readers.html_table import HtmlTable

_HTML, _TEXT = "text/html", "text/plain"


class Notebook:
    """Reads ``.ipynb`` files."""

    name = "notebook"
    title = "Jupyter notebooks: tables and printed rows in the outputs of their cells"
    priority = 150

    def recognises(self, name: str, head: bytes) -> bool:
        """By what a notebook's JSON begins with, or by its suffix."""
        return is_notebook(head) or (name.lower().endswith((".ipynb", ".ipynb.gz")) and head.lstrip()[:1] == b"{")

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log for every table of training metrics, and for every cell that printed rows of metrics.

        Raises:
            UnreadableLogError: When there is none, or the notebook is no whole JSON.
        """
        try:
            document = loads(whole(source))
        except ValueError as error:
            raise UnreadableLogError.of(
                source.name,
                said("the notebook is {error}.", error=reason(error)),
                "Save it again from Jupyter, or paste its table: `holter check -`.",
            ) from None
        read: list[tuple[int, RawLog]] = []
        doubt: UnreadableLogError | None = None
        for number, outputs in _cells(document):
            for log in _logs(source.name, number, outputs):
                if isinstance(log, UnreadableLogError):
                    doubt = doubt or log
                else:
                    read.append((number, log))
        if not read:
            raise doubt or NotALogError.of(
                source.name,
                "no output of this notebook holds metrics of training.",
                "Run the cell that trains and save the notebook, or give the file that the trainer wrote: "
                "`trainer_state.json`, event files.",
            )
        for number, log in read:
            name = source.name if len(read) == 1 else f"{source.name} (cell {number})"
            yield replace(log, name=name, reader=self.name, lines=None)


def _cells(document: object) -> Iterator[tuple[int, list[dict[str, object]]]]:
    """Number and outputs of every cell that has outputs; version 3 of the format keeps cells in worksheets."""
    if not isinstance(document, dict):
        return
    sheets = document.get("worksheets")
    holders = [document, *(sheets if isinstance(sheets, list) else [])]
    cells = [c for h in holders if isinstance(h, dict) and isinstance(h.get("cells"), list) for c in h["cells"]]
    for number, cell in enumerate(cells, start=1):
        outputs = cell.get("outputs") if isinstance(cell, dict) else None
        if isinstance(outputs, list):
            yield number, [output for output in outputs if isinstance(output, dict)]


def _logs(file: str, number: int, outputs: list[dict[str, object]]) -> Iterator[RawLog | UnreadableLogError]:
    """The logs of a cell: its tables, or else what it printed. What cannot be read for certain is given as the error."""
    found = False
    for table in (table for output in outputs for table in html_tables(_shown(output, _HTML))):
        log = _table_log(file, table)
        found |= log is not None
        if log is not None:
            yield log
    if found:
        return
    printed = "".join(_shown(output, _TEXT) if "data" in output else _printed(output) for output in outputs)
    if not printed.strip():
        return
    inner = Source(file, data=printed.encode("utf-8", errors="replace"))
    for reader in (CONSOLE, PASTED_TABLE):
        try:
            logs = list(reader.read(inner))
        except NotALogError:
            continue
        except UnreadableLogError as error:
            yield error
            continue
        for log in logs:
            yield replace(log, skipped=tuple(_in_cell(each, number) for each in log.skipped))
        return


def _in_cell(skipped: Skipped, number: int) -> Skipped:
    """A place in what a cell printed, whose lines are no lines of the file."""
    why = said(
        "cell {cell}: {why}" if skipped.line is None else "cell {cell}, line {line} of its output: {why}",
        cell=number,
        line=skipped.line,
        why=phrase(skipped.why),
    )
    return Skipped(skipped.file, None, why)


def _shown(output: dict[str, object], kind: str) -> str:
    data = output.get("data")
    if isinstance(data, dict):
        return _text(data.get(kind))
    return _text(output.get(kind.removeprefix("text/")))


def _printed(output: dict[str, object]) -> str:
    return _text(output.get("text"))


def _text(lines: object) -> str:
    if isinstance(lines, list):
        return "".join(each for each in lines if isinstance(each, str))
    return lines if isinstance(lines, str) else ""


def _table_log(file: str, table: HtmlTable) -> RawLog | None:
    """The log that a table is; None where it is no log of training. A column without a name is an index."""
    if not table.names or not table.rows or not is_header(table.names):
        return None
    kept = [index for index, name in enumerate(table.names) if name]
    names, notes = own_names(table.names[index] for index in kept)
    records = Records(file, none=Gap.ABSENT)
    records.notes += notes
    for number, cells in enumerate(table.rows, start=1):
        if len(cells) != len(table.names):
            why = said(
                "row {row} of a table has {n} cells where the header has {names}",
                row=number,
                n=len(cells),
                names=len(table.names),
            )
            records.skip(None, why)
            continue
        values = [value(cells[index]) for index in kept]
        records.table.row(tuple(names), [None if isinstance(v, Gap) else v for v in values], number)
    try:
        return records.log(file, Notebook.name, lines=False)
    except UnreadableLogError:
        return None


NOTEBOOK = Notebook()
