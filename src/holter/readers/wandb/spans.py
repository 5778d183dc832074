"""Where names and values stand in the items of many history rows, found for all of them at once.

Every item ends in a value with a tag of two bytes that no name or number holds. From the tags and the lengths behind them all
boundaries follow; they are believed only where each of them meets the next one and every row's end.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import orjson

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_ITEM, _VALUE, _VALUE_END, _NESTED_KEY = 0x0A, 0x82, 0x01, 0x12
_MORE = 0x80
"""Bit of a length that goes on in the next byte."""


@dataclass(frozen=True, slots=True, eq=False)
class Spans:
    """Items of a batch of rows.

    Attributes:
        data: The rows, one after another.
        keys: First byte and end of each item's name. Shape ``(2, items)``.
        values: First byte and end of each item's JSON. Shape ``(2, items)``.
        counts: Items of each row. Shape ``(rows,)``.
    """

    data: bytes
    keys: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]

    def names(self) -> list[bytes]:
        """Each item's name."""
        return self._pieces(self.keys)

    def texts(self) -> list[bytes]:
        """Each item's JSON."""
        return self._pieces(self.values)

    def _pieces(self, where: NDArray[np.int64]) -> list[bytes]:
        return list(map(self.data.__getitem__, map(slice, where[0].tolist(), where[1].tolist())))

    def parsed(self) -> list[object] | None:
        """Each item's value, parsed together; None where one of them is no strict JSON, as NaN is not."""
        # Each value with the byte before it, which becomes the comma.
        first, end = self.values[0] - 1, self.values[1]
        widths = end - first
        commas = np.cumsum(widths) - widths
        body = np.frombuffer(self.data, np.uint8)[np.repeat(first - commas, widths) + np.arange(int(widths.sum()))]
        body[commas] = ord(",")
        try:
            found: list[object] = orjson.loads(b"[" + body[1:].tobytes() + b"]")
        except orjson.JSONDecodeError:
            return None
        return found if len(found) == len(first) else None


def spans(rows: Sequence[bytes]) -> Spans | None:
    """The items of rows, which are history messages without their step; None where they are not all as clients write them.

    Args:
        rows: Messages whose items hold a name, or a path of one name, of less than 128 bytes, and a value.
    """
    data = b"".join(rows)
    if not data:
        return None
    content = np.frombuffer(data + bytes(4), np.uint8)
    tags = np.flatnonzero(content[: len(data)] == _VALUE)
    if not len(tags):
        return None
    wide = content[tags + 2] >= _MORE
    first = tags + 3 + wide
    length = content[tags + 2].astype(np.int64)
    length[wide] = (length[wide] & 127) | (content[tags[wide] + 3].astype(np.int64) << 7)
    end = first + length
    if end[-1] != len(data) or (end[:-1] > tags[1:]).any():
        return None
    start = np.concatenate(([0], end[:-1]))
    long = content[start + 1] >= _MORE
    whole = content[start + 1].astype(np.int64)
    whole[long] = (whole[long] & 127) | (content[start[long] + 2].astype(np.int64) << 7)
    after = start + 2 + long
    kind = content[after]
    key = after + 2
    if not (
        (content[start] == _ITEM).all()
        and (content[tags + 1] == _VALUE_END).all()
        and ((kind == _NESTED_KEY) | (kind == _ITEM)).all()
        and (content[after + 1] == tags - key).all()
        and (after + whole == end).all()
        and (length > 0).all()
    ):
        return None
    ends = np.cumsum([len(row) for row in rows])
    last = np.searchsorted(end, ends)
    if (end[np.minimum(last, len(end) - 1)] != ends).any():
        return None
    counts = np.diff(np.concatenate(([-1], last)))
    return Spans(data, np.stack((key, tags)), np.stack((first, end)), counts)
