"""Dictionaries as Python prints them: ``{'loss': nan, 'kl': np.float64(0.1), 'lr': '1e-06'}``.

Parsed without evaluating anything, so that a log cannot do more than be read.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson

from holter.language import said
from holter.readers.numbers import Gap, number
from holter.readers.rows import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator

LONGEST = 4 << 20
"""Characters of the longest dictionary that is parsed."""
ELISION = "..."
"""What people put in the place of items that they left out."""
_TOKEN = re.compile(
    r"""\s*(?:
        (?P<text>[bru]?(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"))
      | (?P<sign>[{}\[\](),:])
      | (?P<word>[^\s{}\[\](),:'"]+)
    )""",
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "\n": ""}
_WORDS = re.compile(r"(?<=: )(-?(?:nan|inf)|None|True|False)(?=[,}])")
_CONSTANTS = {"None": "null", "True": "true", "False": "false"}
_OPENING = "{[("
_CLOSING = {"[": "]", "(": ")"}


def by_json(text: str) -> dict[str, object] | None:
    """What `parse` says, many times faster, of a dictionary that is JSON but for its quotes and constants; None for others."""
    if '"' in text or "\\" in text:
        return None
    try:
        found = orjson.loads(_WORDS.sub(_constant, text).replace("'", '"'))
    except orjson.JSONDecodeError:
        return None
    return found if isinstance(found, dict) else None


def _constant(found: re.Match[str]) -> str:
    return _CONSTANTS.get(found[1], f"'{found[1]}'")


def parse(text: str) -> dict[str, object]:
    """The dictionary that `text` shows; numbers as floats, ``None`` as None, calls such as ``tensor(0.5)`` as their number.

    Raises:
        ValueError: When it is not one whole dictionary; the message says what was seen.
    """
    if len(text) > LONGEST:
        raise ValueError(said("longer than {most} MiB", most=LONGEST >> 20))
    tokens = _tokens(text)
    if next(tokens) != ("sign", "{"):
        raise ValueError(said("does not begin with {brace}", brace="{"))
    found = _dictionary(tokens, 0)
    if next(tokens) != ("end", ""):
        raise ValueError(said("goes on after the closing {brace}", brace="}"))
    return found


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    at, end = 0, len(text.rstrip())
    while at < end:
        found = _TOKEN.match(text, at)
        if found is None:
            raise ValueError(said("cannot read {text!r}", text=text[at : at + 20]))
        kind = str(found.lastgroup)
        yield kind, found[kind]
        at = found.end()
    yield "end", ""
    raise ValueError("ends in the middle")


def _dictionary(tokens: Iterator[tuple[str, str]], depth: int) -> dict[str, object]:
    if depth > DEEPEST:
        raise ValueError(said("nested more than {most} deep", most=DEEPEST))
    out: dict[str, object] = {}
    while True:
        kind, key = next(tokens)
        if (kind, key) == ("sign", "}"):
            return out
        if kind not in ("text", "word"):
            raise ValueError(said("a name was expected before {text!r}", text=key))
        if (kind, key) == ("word", ELISION):
            stop = next(tokens)[1]
            if stop == "}":
                return out
            if stop == ",":
                continue
            raise ValueError(said("no comma after the value of {text}", text=key))
        if next(tokens) != ("sign", ":"):
            raise ValueError(said("no colon after {text}", text=key))
        out[_unquoted(key) if kind == "text" else key], stop = _value(tokens, depth)
        if stop == "}":
            return out
        if stop != ",":
            raise ValueError(said("no comma after the value of {text}", text=key))


def _value(tokens: Iterator[tuple[str, str]], depth: int) -> tuple[object, str]:
    """A value, and the sign after it."""
    kind, seen = next(tokens)
    if kind == "text":
        return _unquoted(seen), next(tokens)[1]
    if kind == "word":
        after = next(tokens)[1]
        if after == "(":
            given = [inner for _, inner in _until(tokens, ")")]
            scalar = len(given) > 0 and given[0] not in _OPENING
            return _plain(f"{seen}({given[0]})") if scalar else [], next(tokens)[1]
        return _plain(seen), after
    if seen == "{":
        return _dictionary(tokens, depth + 1), next(tokens)[1]
    if seen in _CLOSING:
        for _ in _until(tokens, _CLOSING[seen]):
            pass
        return [], next(tokens)[1]
    raise ValueError(said("a value was expected before {text!r}", text=seen))


def _until(tokens: Iterator[tuple[str, str]], closing: str) -> Iterator[tuple[str, str]]:
    """The tokens up to the sign that closes; a bracket inside brackets is passed over."""
    depth = 1
    for kind, seen in tokens:
        if kind == "end":
            raise ValueError("ends in the middle")
        if kind == "sign" and seen in _OPENING:
            depth += 1
        elif kind == "sign" and seen in "}])":
            depth -= 1
            if not depth:
                if seen != closing:
                    raise ValueError(said("{sign!r} was expected before {text!r}", sign=closing, text=seen))
                return
        yield kind, seen


def _plain(word: str) -> object:
    found = number(word)
    if isinstance(found, float):
        return found
    return None if found is Gap.NULL else word


def _unquoted(text: str) -> str:
    body = text[text.index(text[-1]) + 1 : -1]
    if "\\" not in body:
        return body
    return _ESCAPE.sub(_unescaped, body).encode("utf-8", errors="replace").decode()


def _unescaped(found: re.Match[str]) -> str:
    code = found[1] or found[2]
    return chr(int(code, 16)) if code else _ESCAPES.get(found[3], found[3])
