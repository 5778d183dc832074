"""JSON as logs really write it: bare ``NaN`` and ``Infinity`` tokens, bytes that are not UTF-8, Python's way of printing."""

from __future__ import annotations

import json

import orjson

from holter.language import phrase, said
from holter.readers.lines import text, with_straight_quotes
from holter.readers.python_repr import by_json, parse

_TOO_DEEP = "nested too deeply"


def _quoted(line: bytes) -> bytes:
    """The line with the NaN and infinity tokens that are values of names in quotes; the columns read them as numbers again.

    Inside a string the added quotes end the string, so that the line no longer parses; it never changes its meaning.
    """
    if b"NaN" in line:
        line = line.replace(b": NaN", b': "NaN"').replace(b":NaN", b':"NaN"')
    if b"Infinity" in line:
        for token in (b"Infinity", b"-Infinity"):
            line = line.replace(b": " + token, b': "' + token + b'"').replace(b":" + token, b':"' + token + b'"')
    return line


def _readable(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object whose names can be printed: an escape may stand for half a character."""
    return {key.encode("utf-8", errors="replace").decode(): value for key, value in pairs}


def loads(line: bytes) -> object:
    """What a piece of JSON says. Bare NaN and infinities become text or floats; both read as numbers.

    Raises:
        ValueError: When it is no JSON; the message says what was seen.
    """
    if b"NaN" in line or b"Infinity" in line:
        try:
            return orjson.loads(_quoted(line))
        except orjson.JSONDecodeError:
            pass
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        why = phrase(error.msg.partition(": line ")[0])
    try:
        return json.loads(text(line), strict=False, object_pairs_hook=_readable)
    except RecursionError:
        raise ValueError(_TOO_DEEP) from None
    except ValueError:
        raise ValueError(said("not JSON ({error})", error=why)) from None


def loads_record(line: bytes) -> object:
    """What one line says: JSON, a dictionary as Python prints it, or something between them.

    ``{"loss": nan}`` is what a template or another language than Python makes of a NaN, and the rows that hold one are the
    last that may be lost.

    Raises:
        ValueError: When it is none of them; the message says what was seen.
    """
    try:
        return loads(line)
    except ValueError as no_json:
        if line[:1] != b"{":
            raise
        shown = with_straight_quotes(text(line))
        try:
            return by_json(shown) or parse(shown)
        except ValueError as error:
            raise (error if "'" in shown else no_json) from None
