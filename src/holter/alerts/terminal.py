"""Telling people: a line in the terminal."""

from __future__ import annotations

import sys

from holter.reports.safe_text import safe


def terminal(said: object) -> None:
    """Write one line on standard error, on a line of its own whatever progress bar is being drawn there."""
    stream = sys.stderr
    if stream is None or stream.closed:
        return
    begin = "\r\x1b[K" if stream.isatty() else ""
    stream.write(f"{begin}holter: {safe(str(said))}\n")
    stream.flush()
