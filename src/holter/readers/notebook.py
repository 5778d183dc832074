"""Jupyter notebooks: the tables and the rows of metrics in the outputs of their cells. Nothing in them is executed."""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import phrase, said
from holter.readers.base import Skipped, Source
from holter.readers.console.reader import CONSOLE
from holter.readers.foreign import is_notebook
from holter.readers.html_log import HtmlLog
from holter.readers.html_table import html_tables
from holter.readers.json_texts import without_long_texts
from holter.readers.pasted_table import PASTED_TABLE
from holter.readers.plausibility import NotALogError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from typing import BinaryIO

    from _typeshed import WriteableBuffer

    from holter.readers.base import RawLog
    from holter.readers.json_texts import Texts

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
        read: list[tuple[int, RawLog]] = []
        doubt: UnreadableLogError | None = None
        try:
            document, texts = without_long_texts(source)
            for number, outputs in _cells(document):
                for log in _logs(source.name, number, outputs, texts):
                    if isinstance(log, UnreadableLogError):
                        doubt = doubt or log
                    else:
                        read.append((number, log))
        except UnreadableLogError:
            raise
        except ValueError as error:
            raise UnreadableLogError.of(
                source.name,
                said("the notebook is {error}.", error=reason(error)),
                "Save it again from Jupyter, or paste its table: `holter check -`.",
            ) from None
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


def _logs(
    file: str, number: int, outputs: list[dict[str, object]], texts: Texts
) -> Iterator[RawLog | UnreadableLogError]:
    """The logs of a cell: its tables, or else what it printed. What cannot be read for certain is given as the error."""
    found = False
    for output in outputs:
        for table in html_tables(texts.pieces(_shown(output, _HTML)), lambda names: HtmlLog.of(file, names)):
            log = table.log()
            found |= log is not None
            if log is not None:
                yield log
    if found:
        return

    def printed() -> Iterator[str]:
        for output in outputs:
            yield from texts.pieces(_shown(output, _TEXT) if "data" in output else output.get("text"))

    if not any(map(str.strip, printed())):
        return
    inner = _Printed(file, pieces=printed)
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


def _shown(output: dict[str, object], kind: str) -> object:
    data = output.get("data")
    return data.get(kind) if isinstance(data, dict) else output.get(kind.removeprefix("text/"))


@dataclass(frozen=True, slots=True)
class _Printed(Source):
    """What a cell printed.

    Attributes:
        pieces: Gives it from its beginning.
    """

    pieces: Callable[[], Iterable[str]] = field(default=tuple)

    def open(self) -> BinaryIO:
        """A stream over its pieces, of which none is held for long."""
        return io.BufferedReader(_Pieces(self.pieces()))


class _Pieces(io.RawIOBase):
    """A text that comes in pieces, as a stream of UTF-8."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = (piece.encode("utf-8", errors="replace") for piece in pieces)
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        view = memoryview(buffer)
        while not self._rest:
            piece = next(self._pieces, None)
            if piece is None:
                return 0
            self._rest = memoryview(piece)
        size = min(len(view), len(self._rest))
        view[:size], self._rest = self._rest[:size], self._rest[size:]
        return size


NOTEBOOK = Notebook()
