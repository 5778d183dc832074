"""The protocol buffers of ``.wandb`` files, as far as scalars need them, without message definitions.

A record holds one of many messages. History messages are rows: items with a name, or a path of names, and a value as JSON.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.rows import TooDeepError, flat
from holter.readers.tensorboard.wire import BYTES, MalformedError, fields, varint

if TYPE_CHECKING:
    from collections.abc import Iterator

HISTORY, CONFIG, RUN = 2, 5, 17
_RUN_CONFIG, _RUN_NAME = 4, 8
_KEY, _NESTED_KEY, _VALUE_JSON = 1, 2, 16
_UPDATE = 1
_INTERNAL = "_wandb"


def message(record: bytes) -> tuple[int, int, int]:
    """Field number, first byte and end of the message in a record; 0 when there is none that is read here.

    Raises:
        MalformedError: When the record is no protocol buffer.
    """
    if record[:1] == b"\x08":
        # Nearly all records are histories and summaries behind their number, told apart without parsing the rest.
        at = 1
        while record[at : at + 1] > b"\x7f":
            at += 1
        tag = record[at + 1 : at + 2]
        if tag == b"\x1a":
            return 0, 0, 0
        if tag == b"\x12":
            length, at = varint(record, at + 2, len(record))
            if at + length > len(record):
                raise MalformedError("a history that runs over its record")
            return HISTORY, at, at + length
    for number, kind, at, end in fields(record, 0, len(record)):
        if kind == BYTES and number in (HISTORY, CONFIG, RUN):
            return number, at, end
    return 0, 0, 0


def items(data: bytes, at: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    """Name and JSON of every item of a history, or of the updates of a summary or a configuration.

    A path of names is joined with ``/``.

    Raises:
        MalformedError: When it is no such message.
    """
    for number, kind, start, stop in fields(data, at, end):
        if number != _UPDATE or kind != BYTES:
            continue
        key, path, value = b"", [], b""
        for inner, inner_kind, first, last in fields(data, start, stop):
            if inner_kind != BYTES:
                continue
            if inner == _KEY:
                key = data[first:last]
            elif inner == _NESTED_KEY:
                path.append(data[first:last])
            elif inner == _VALUE_JSON:
                value = data[first:last]
        yield key or b"/".join(path), value


def settings(data: bytes, at: int, end: int) -> dict[str, object]:
    """The hyper-parameters of a configuration; nested names are joined with ``/``.

    Raises:
        MalformedError: When it is no configuration.
    """
    out: dict[str, object] = {}
    for key, value in items(data, at, end):
        name = text(key)
        if name.split("/")[0] == _INTERNAL:
            continue
        try:
            out.update(flat({name: loads(value)}))
        except (ValueError, TooDeepError):
            continue
    return out


def run(data: bytes, at: int, end: int) -> tuple[str, dict[str, object]]:
    """The name of a run, and its configuration.

    Raises:
        MalformedError: When it is no run.
    """
    name, config = "", dict[str, object]()
    for number, kind, first, last in fields(data, at, end):
        if kind == BYTES and number == _RUN_NAME:
            name = text(data[first:last])
        elif kind == BYTES and number == _RUN_CONFIG:
            config.update(settings(data, first, last))
    return name, config
