"""One JSON document that holds a log: a list of records, columns as lists, records by step.

A document that ends early, because it is being rewritten, gives its whole records.
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.encoding import as_utf8, encoding_of, is_text
from holter.readers.exports import tag_of
from holter.readers.foreign import is_notebook
from holter.readers.json_tables import Record, are_points, joined, tables
from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.plausibility import NotALogError
from holter.readers.records import Records
from holter.readers.rows import TooDeepError, config_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog, Source

TORN = "the document ends early or is damaged, as while it is being rewritten; its whole records up to there were read"
LARGEST = 1 << 30
"""Bytes of the largest document that is read: unlike JSON lines, it has to be held in memory whole."""
_CHUNK = 1 << 20


class JsonDocument:
    """Reads ``.json`` files."""

    name = "json"
    title = "one JSON document: a list of records, columns as lists, records by step"
    priority = 300

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - every reader is asked alike
        """By a first character that opens a list or an object. Lines of objects are another format."""
        start = head.lstrip()
        if not is_text(head) or is_notebook(head) or _is_lines(start):
            return False
        return start[:1] == b"{" or (start[:1] == b"[" and start[1:].lstrip()[:1] in (b"{", b"[", b"]", b""))

    def read(self, source: Source) -> Iterator[RawLog]:
        """Every table of the document that may be a log of training; tables over the same steps become one.

        Raises:
            UnreadableLogError: When no table of it is the log of a training run.
        """
        body = whole(source)
        notes: tuple[str, ...] = ()
        try:
            document = loads(body)
        except ValueError as error:
            document, complete = whole_records(text(body))
            if not document:
                raise UnreadableLogError.of(
                    source.name, f"it begins like JSON and is {error}.", "Write one object a line (JSON lines)."
                ) from error
            named = source.name.lower().removesuffix(".gz").endswith(".json")
            if not complete and len(document) == 1 and not named and body.lstrip()[:1] == b"{":
                raise NotALogError.of(
                    source.name,
                    "it begins with one JSON object, and goes on as other text.",
                    "Give the log without it.",
                ) from error
            if not complete:
                notes = (TORN,)
        yield from logs(source, self.name, document, notes)


def _is_lines(head: bytes) -> bool:
    """Whether text begins with an object on a line of its own, and another after it."""
    first, _, second = head.partition(b"\n")
    if first[:1] != b"{" or second.lstrip()[:1] != b"{":
        return False
    try:
        return isinstance(loads(first), dict)
    except ValueError:
        return False


def whole(source: Source) -> bytes:
    """All bytes of a document, in UTF-8.

    Raises:
        UnreadableLogError: When it is larger than `LARGEST`.
    """
    packed = source.path.stat().st_size if source.path is not None else len(source.data or b"")
    with source.open() as stream:
        # A read of more than there is would set that much memory aside.
        parts = [stream.read(min(packed, LARGEST) + 1)]
        size = len(parts[0])
        while size <= LARGEST and (more := stream.read(_CHUNK)):
            parts.append(more)
            size += len(more)
    body = b"".join(parts)
    if size > LARGEST:
        raise too_large(source.name)
    return b"".join(as_utf8([body], encoding_of(body[:4096])))


def too_large(file: str) -> UnreadableLogError:
    """That a document is larger than `LARGEST`."""
    return UnreadableLogError.of(
        file,
        f"the JSON document is larger than {LARGEST >> 30} GiB, which would have to be held in memory whole.",
        "Write it as JSON lines: `jq -c '.[]' FILE > log.jsonl`.",
    )


def logs(source: Source, reader: str, document: object, notes: tuple[str, ...]) -> Iterator[RawLog]:
    """The logs in a parsed document.

    Raises:
        UnreadableLogError: When no table of it is the log of a training run.
    """
    refused: UnreadableLogError | None = None
    read: list[RawLog] = []
    if are_points(document):
        # TensorBoard's page gives the points of one metric without its name, which is in the file's.
        document = {tag_of(source.name): document}
    found = joined(tables(document))
    for place, table in found.items():
        records = Records(source.name)
        if isinstance(document, dict):
            records.config.update(_config(document))
        for number, record in enumerate(table, start=1):
            records.add(record, number)
        try:
            name = f"{source.name} ({place})" if place else source.name
            read.append(records.log(name, reader, lines=False, notes=notes))
        except NotALogError as error:
            refused = refused or error
    if not read:
        raise refused or NotALogError.of(
            source.name,
            "the JSON document holds no list of records and no columns, so nothing in it runs over steps.",
            "A log needs rows with a step and numbers: loss, reward, kl, ...",
        )
    if len(read) == 1:
        read = [replace(read[0], name=source.name)]
    yield from read


def _config(document: Mapping[str, object]) -> dict[str, object]:
    try:
        return config_of(document)
    except TooDeepError:
        return {}


def whole_records(body: str) -> tuple[list[Record], bool]:
    """The whole records in a text that is no whole document: a list that ends early, objects one after another.

    Returns:
        The objects at the outermost level, or in a list that starts there; and whether nothing but them was there.
    """
    decoder = json.JSONDecoder(strict=False)
    records: list[Record] = []
    at = 0
    while True:
        at = _next(body, at)
        try:
            record, at = decoder.raw_decode(body, at)
        except (ValueError, RecursionError):
            return records, at == len(body)
        if isinstance(record, dict):
            records.append(record)


def _next(body: str, at: int) -> int:
    """Where the next value begins."""
    while at < len(body) and body[at] in " \t\r\n,[":
        at += 1
    return at


JSON_DOCUMENT = JsonDocument()
