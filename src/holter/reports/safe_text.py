"""Text from a log, made safe to print: no control character, escape sequence or direction override comes alive."""

from __future__ import annotations

import unicodedata

_HARMFUL = {"Cc", "Cf", "Cs", "Co", "Zl", "Zp"}


def safe(text: str) -> str:
    """The text with every control, format and surrogate character written out as its escape."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        c if unicodedata.category(c) not in _HARMFUL else c.encode("unicode_escape", "backslashreplace").decode("ascii")
        for c in text
    )
