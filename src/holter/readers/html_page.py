"""Tables in HTML inside other text: a notebook exported as Markdown, a report with a notebook's output in it."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from holter.readers.encoding import is_text
from holter.readers.html_log import NAME, HtmlLog
from holter.readers.html_table import html_tables
from holter.readers.lines import Lines, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.readers.base import RawLog, Source

_SUFFIXES = (".md", ".markdown", ".rst", ".txt")
_OPENS, _CLOSES = b"<table", b"</table"


class HtmlPage:
    """Reads the tables of metrics that stand between ``<table`` and ``</table>``; all other text is passed over."""

    name = NAME
    title = "HTML tables inside Markdown and other text"
    priority = 875

    def recognises(self, name: str, head: bytes) -> bool:
        """By a suffix of text that may have such tables below its head."""
        return PurePath(name.lower().removesuffix(".gz")).suffix in _SUFFIXES and is_text(head)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log for every table that is one; none where there is none, so that another reader may find one in the text."""
        for table in html_tables(_inside(Lines(source)), lambda names: HtmlLog.of(source.name, names)):
            log = table.log()
            if log is not None:
                yield log


def _inside(lines: Iterable[tuple[int, bytes]]) -> Iterator[str]:
    """The lines of the tables, from the line that opens one to the line that closes it."""
    depth = 0
    for _, line in lines:
        lower = line.lower() if b"<" in line else b""
        opened, closed = lower.count(_OPENS), lower.count(_CLOSES)
        if depth or opened:
            yield text(line) + "\n"
        depth = max(depth + opened - closed, 0)


HTML_PAGE = HtmlPage()
