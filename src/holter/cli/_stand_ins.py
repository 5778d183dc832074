"""What stands for a sign that the encoding of standard output has not, as on a Windows code page or in ASCII.

A stand-in is as wide as its sign, so that tables and boxes keep their edges.
"""

from __future__ import annotations

import codecs
import unicodedata
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import io

NAME = "holter-stand-in"
"""How the error handler is called among `codecs`."""
STAND_INS = dict(zip("✗✓×·–—−→▸▲▼└…▁▂▃▄▅▆▇█", "x+x---->>^v`*_.:-=+*#", strict=True))
"""Signs that Holter prints; the blocks of a sparkline become signs that are ever fuller."""
UNKNOWN = "?"


def use_stand_ins(stream: io.TextIOWrapper) -> None:
    """Let a stream write them instead of failing over a character."""
    codecs.register_error(NAME, stand_in)
    stream.reconfigure(errors=NAME)


def stand_in(error: UnicodeError) -> tuple[str, int]:
    """An error handler of `codecs`: what is written instead of characters that cannot be encoded, and where to go on."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_instead, error.object[error.start : error.end])), error.end


def _instead(character: str) -> str:
    wide = unicodedata.east_asian_width(character) in "WF"
    return STAND_INS.get(character, UNKNOWN * (1 + wide))
