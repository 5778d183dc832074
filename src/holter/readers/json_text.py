"""JSON as logs really write it: bare ``NaN`` and ``Infinity`` tokens, bytes that are not UTF-8, Python's way of printing."""

from __future__ import annotations

import json

import orjson

from holter.readers.lines import text
from holter.readers.python_repr import parse

_TOO_DEEP = "it is nested too deeply"


def _quoted(line: bytes) -> bytes:
    """The line with its bare NaN and infinity tokens in quotes, which the columns read as numbers again.

    Inside a string the added quotes end the string, so that the line no longer parses; it never changes its meaning.
    """
    for gap in (b": ", b":", b", ", b",", b"["):
        for token in (b"NaN", b"Infinity", b"-Infinity"):
            if token in line:
                line = line.replace(gap + token, gap + b'"' + token + b'"')
    return line


def loads(line: bytes) -> object:
    """What a piece of JSON says. Bare NaN and infinities become text or floats; both read as numbers.

    Raises:
        ValueError: When it is no JSON; the message says what was seen.
    """
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        first = error
    if b"NaN" in line or b"Infinity" in line:
        try:
            return orjson.loads(_quoted(line))
        except orjson.JSONDecodeError:
            pass
    try:
        return json.loads(text(line)[0], strict=False)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:
        raise ValueError(f"not JSON ({first.msg.split(':')[0]})") from None


def loads_record(line: bytes) -> object:
    """What one line says: JSON, or a dictionary as Python prints it.

    Raises:
        ValueError: When it is neither; the message says what was seen.
    """
    if line[:2] == b"{'" or (line[:1] == b"{" and b"': " in line and b'"' not in line[:2]):
        try:
            return parse(text(line)[0])
        except ValueError:
            pass
    return loads(line)
