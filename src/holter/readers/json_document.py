"""One JSON document that holds a log: a list of records, columns as lists, records by step.

A document that ends early, because it is being rewritten, gives its whole records.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.readers.encoding import as_utf8, encoding_of, is_text
from holter.readers.exports import tag_of
from holter.readers.foreign import is_notebook
from holter.readers.json_blocks import LARGEST, Document, blocks, too_large
from holter.readers.json_tables import Record, are_points, at_step, compact, joined, point, tables
from holter.readers.json_text import loads
from holter.readers.lines import LONGEST, text
from holter.readers.plausibility import NotALogError, OtherFormatError
from holter.readers.records import Records
from holter.readers.rows import CONFIG, DEEPEST, TooDeepError, config_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holter.readers.base import RawLog, Source

TORN = "the document ends early or is damaged, as while it is being rewritten; its whole records up to there were read"
_CHUNK = 1 << 20
_LIST = re.compile(rb"\[\s*(?=\{)")
_MARK = "\0the records"
"""What stands in a document for the list that was read apart from it."""


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
        found = in_blocks(source)
        if found is not None:
            yield from found
            return
        body = whole(source)
        notes: tuple[str, ...] = ()
        try:
            document = loads(body)
        except ValueError as error:
            document, complete = whole_records(text(body))
            if not document:
                raise UnreadableLogError.of(
                    source.name,
                    said("it begins like JSON and is {error}.", error=reason(error)),
                    "Write one object a line (JSON lines).",
                ) from error
            named = source.name.lower().removesuffix(".gz").endswith(".json")
            if not complete and len(document) == 1 and not named and body.lstrip()[:1] == b"{":
                raise OtherFormatError.of(
                    source.name,
                    "it begins with one JSON object, and goes on as other text.",
                    "Give the log without it.",
                ) from error
            if not complete:
                notes = (TORN,)
        try:
            yield from logs(source, self.name, document, notes)
        except NotALogError as error:
            raise OtherFormatError(*error.args) if notes else error from None


def in_blocks(source: Source) -> list[RawLog] | None:
    """The logs of a long document whose records, or members, can be read in blocks, so that it is never held whole.

    Returns:
        None for any other document, and for one that ends early or has anything behind it.

    Raises:
        UnreadableLogError: When there is no log of a training run in it.
    """
    for way in (_records, _members):
        with source.open() as stream:
            found = way(source, Document(source.name, stream))
        if found is not None:
            return found
    return None


def _records(source: Source, document: Document) -> list[RawLog] | None:
    """The log of a document that is, or holds, one list of records and no other table."""
    opening = _LIST.search(document.held)
    if opening is None:
        return None
    before = document.drop(opening.end())
    records, rows = Records(source.name), 0
    for block in blocks(document):
        found = block.parsed()
        if not found or (not rows and point(found[0])) or not all(isinstance(r, dict) for r in found):
            return None
        for number, record in enumerate(found, start=rows + 1):
            assert isinstance(record, dict), "looked at above"
            records.add(record, number)
        rows += len(found)
    if not document.held.startswith(b"]") and before.strip() == b"[" and rows:
        return [_torn(source, records, (TORN,) if document.held.strip(b", \t\r\n") else ())]
    if not document.hold_all(LONGEST):
        return None
    try:
        rest = loads(before + json.dumps(_MARK).encode() + document.held)
    except ValueError:
        return None
    if not rows or tables(rest) or not _is_found(rest, 0):
        return None
    if isinstance(rest, dict):
        records.config.update(_config(rest))
    return [records.log(source.name, JSON_DOCUMENT.name, lines=False)]


def _torn(source: Source, records: Records, notes: tuple[str, ...]) -> RawLog:
    """The log of the whole records of a list that has no end.

    Raises:
        OtherFormatError: When they are no log of a training run.
    """
    try:
        return records.log(source.name, JSON_DOCUMENT.name, lines=False, notes=notes)
    except NotALogError as error:
        raise OtherFormatError(*error.args) from None


def _members(source: Source, document: Document) -> list[RawLog] | None:
    """The logs of a document that is an object of columns, of records by their step, or of anything else."""
    if document.held.lstrip()[:1] != b"{" or not document.more():
        return None
    document.drop(document.held.index(b"{") + 1)
    members: dict[str, object] = {}
    records, rows = Records(source.name), 0
    for block in blocks(document):
        found = block.members()
        if found is None:
            return None
        by_step = [at_step(key, value) for key, value in found.items()]
        if members or None in by_step:
            members.update((key, compact(value)) for key, value in found.items())
        else:
            for number, record in enumerate(filter(None, by_step), start=rows + 1):
                records.add(record, number)
            rows += len(found)
        if members and rows:
            return None
    if not document.hold_all(LONGEST) or document.held.rstrip() != b"}":
        return None
    if rows == 1 or not (rows or tables(members)):
        return None
    return (
        [records.log(source.name, JSON_DOCUMENT.name, lines=False)]
        if rows
        else list(logs(source, JSON_DOCUMENT.name, members, ()))
    )


def _is_found(value: object, depth: int) -> bool:
    """Whether a list stands where `tables` looks for one."""
    if isinstance(value, dict) and depth < DEEPEST:
        return any(_is_found(inner, depth + 1) for key, inner in value.items() if key not in CONFIG)
    return value == [_MARK]


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
