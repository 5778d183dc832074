"""Files that are no logs, told by their first bytes: what they are, and where the log may be instead."""

from __future__ import annotations

import re

_UNPACK = "Unpack it and give the log inside."
_SIGNATURES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x89PNG", "a picture", "Give the log that the picture was drawn from."),
    (b"\xff\xd8\xff", "a picture", "Give the log that the picture was drawn from."),
    (b"GIF8", "a picture", "Give the log that the picture was drawn from."),
    (b"RIFF", "a picture or a sound", "Give the log that the picture was drawn from."),
    (b"%PDF", "a PDF document", "Give the log that it was written about."),
    (
        b"PK\x03\x04",
        "a zip archive (or an Excel sheet, an .npz, a PyTorch checkpoint)",
        "Unpack it and give the log inside. Save sheets as CSV.",
    ),
    (
        b"\x28\xb5\x2f\xfd",
        "zstd data, which needs a package that is not installed",
        "Install it: `pip install 'holter[zstd]'`; or unpack it: `zstd -d FILE`.",
    ),
    (b"\x1f\x8b", "gzip data that was packed twice", "Unpack it first: `gunzip FILE`."),
    (b"BZh", "bzip2 data", "Unpack it first: `bunzip2 FILE`."),
    (b"\xfd7zXZ", "xz data", "Unpack it first: `unxz FILE`."),
    (b"7z\xbc\xaf", "a 7z archive", _UNPACK),
    (b"\x89HDF", "an HDF5 file", "Export its metrics as CSV."),
    (b"\x93NUMPY", "a NumPy array without names", "Save it as CSV with a header line."),
    (b"\x80\x02", "a pickle, which is never opened because it can run code", "Save the values as JSON lines."),
    (b"\x80\x03", "a pickle, which is never opened because it can run code", "Save the values as JSON lines."),
    (b"\x80\x04", "a pickle, which is never opened because it can run code", "Save the values as JSON lines."),
    (b"\x80\x05", "a pickle, which is never opened because it can run code", "Save the values as JSON lines."),
    (b"\x7fELF", "a program", "Give the log that it wrote."),
)
_CODE = re.compile(
    r"^(?:#!|import \w|from [\w.]+ import |def \w+\(|class \w+|#include|package \w|const \w|function \w|use \w+::|@\w+\()",
    re.MULTILINE,
)
_DRAWING = re.compile(
    r"^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg\b", re.IGNORECASE | re.DOTALL
)
_DOCUMENTS = re.compile(r"^\s*(?:<!doctype html|<html|<\?xml)", re.IGNORECASE)


def is_notebook(head: bytes) -> bool:
    """Whether a file with these first bytes is a Jupyter notebook, which is JSON without being a log."""
    return head.lstrip()[:1] == b"{" and (b'"nbformat"' in head or b'"cell_type"' in head)


def foreign(head: bytes) -> tuple[str, str] | None:
    """What a file that is no log seems to be, and the way out; None when nothing can be said.

    Args:
        head: Its first bytes, unpacked where it was gzip.
    """
    for signature, what, way_out in _SIGNATURES:
        if head.startswith(signature):
            return what, way_out
    if len(head) > 265 and head[257:262] == b"ustar":
        return "a tar archive", _UNPACK
    if is_notebook(head):
        return (
            "a Jupyter notebook",
            "Save it again from Jupyter, or copy the table of metrics from it and paste it: `holter check -`.",
        )
    if b'"__metadata__"' in head[:64] or (b'{"' in head[8:10] and b"data_offsets" in head):
        return "a safetensors file with weights", "Give the log of the run."
    shown = head.decode("utf-8", errors="replace")
    if _DRAWING.match(shown):
        return "a picture", "Give the log that the picture was drawn from."
    if _DOCUMENTS.match(shown):
        return "a web page or XML", "Export the metrics as CSV or JSON lines."
    if _CODE.search(shown):
        return "source code", "Give the log that it wrote."
    if b"\0" in head:
        return "binary data", "Give a log as text, or an event file."
    return None
