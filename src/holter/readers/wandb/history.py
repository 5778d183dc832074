"""History rows gathered into columns, many rows at a time.

W&B writes the values of a row in no order, as JSON texts. The rows of a batch are taken apart together where they are as its
clients write them, item by item otherwise.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np
import orjson

from holter.readers.base import RawColumn
from holter.readers.json_text import loads
from holter.readers.lines import text
from holter.readers.numbers import Gap, scalar
from holter.readers.rows import TooDeepError, flat
from holter.readers.table import joined, late_parts, refuse_names_of_data
from holter.readers.tensorboard.wire import MalformedError
from holter.readers.wandb.messages import items
from holter.readers.wandb.spans import spans

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from numpy.typing import NDArray


_BATCH = 1 << 18
"""Bytes of rows that are taken apart together; few enough to stay in a processor's cache."""
_STEP = re.compile(rb"\x12(?:\x00|[\x02-\x0b]\x08[\x80-\xff]{0,9}[\x00-\x7f])\Z")
_LONGEST_STEP = 14
_TOKENS = {b"NaN": b'"NaN"', b"Infinity": b'"Infinity"', b"-Infinity": b'"-Infinity"'}


class History:
    """Rows in the making.

    Attributes:
        rows: How many there are.
        damaged: Rows that are no history message.
        aside: How many values that are no numbers each name had.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.rows = 0
        self.damaged = 0
        self.aside: Counter[str] = Counter()
        self._parts: dict[bytes, list[RawColumn]] = {}
        self._batch: list[bytes] = []
        self._held = 0

    def add(self, data: bytes, at: int, end: int) -> None:
        """Add a history message.

        Raises:
            UnreadableLogError: When the log uses more names than any log does.
        """
        content = data[at:end]
        self._batch.append(content)
        self._held += len(content)
        if self._held > _BATCH:
            self._flush()

    def __deepcopy__(self, memo: dict[int, object]) -> History:
        """A history that goes on by itself. Finished arrays are shared: nothing changes them."""
        out = History(self.file)
        memo[id(self)] = out
        out.rows, out.damaged, out.aside = self.rows, self.damaged, self.aside.copy()
        out._parts = {key: list(parts) for key, parts in self._parts.items()}
        out._batch, out._held = list(self._batch), self._held
        return out

    def columns(self, first: int = 0) -> dict[str, RawColumn]:
        """The columns over the rows from `first` on, counted from there; bookkeeping of W&B included.

        They come in the order in which their names first appeared.
        """
        self._flush()
        shared: dict[tuple[int, ...], NDArray[np.int64]] = {}
        late = {key: late_parts(parts, first) if first else parts for key, parts in self._parts.items()}
        return {text(key): joined(parts, shared) for key, parts in late.items() if parts}

    def _flush(self) -> None:
        if not self._batch:
            return
        keys, found, counts = _taken_apart(self._batch) or self._parsed()
        first, self.rows = self.rows, self.rows + len(counts)
        self._batch, self._held = [], 0
        values, null, kept = self._numbers(keys, found)
        order = {key: number for number, key in enumerate(dict.fromkeys(keys))}
        ids = np.fromiter(map(order.__getitem__, keys), np.int64, len(keys))
        if kept is None and null is None and (counts == len(order)).all() and len(ids) == len(order) * len(counts):
            self._add_full(order, ids, values, np.arange(first, self.rows))
            return
        rows = np.repeat(np.arange(first, self.rows), counts)
        if kept is not None:
            ids, rows, values = ids[kept], rows[kept], values[kept]
            null = None if null is None else null[kept]
        placed = np.argsort(ids, kind="stable")
        bounds = np.searchsorted(ids[placed], np.arange(len(order) + 1))
        for key, number in order.items():
            mine = placed[bounds[number] : bounds[number + 1]]
            if len(mine):
                self._add(key, RawColumn(rows[mine], values[mine], None if null is None else null[mine]))

    def _add_full(
        self, order: Mapping[bytes, int], ids: NDArray[np.int64], values: NDArray[np.float64], at: NDArray[np.int64]
    ) -> None:
        """Add rows of which every one has every name once, unless one has a name twice and lacks another."""
        table = np.full((len(order), len(at)), np.nan)
        seen = np.zeros(table.shape, bool)
        row = np.repeat(np.arange(len(at)), len(order))
        table[ids, row] = values
        seen[ids, row] = True
        for key, number in order.items():
            there = seen[number]
            column = RawColumn(at, table[number])
            self._add(key, column if there.all() else column.where(there))

    def _add(self, key: bytes, part: RawColumn) -> None:
        parts = self._parts.get(key)
        if parts is None:
            parts = self._parts[key] = []
            refuse_names_of_data(self.file, len(self._parts))
        parts.append(part)

    def _parsed(self) -> tuple[list[bytes], list[object], NDArray[np.int64]]:
        """Names, values and numbers of items of the batch, row by row; nested values under joined names."""
        keys: list[bytes] = []
        texts: list[bytes] = []
        counts = []
        for content in self._batch:
            try:
                found = [one for key, value in items(content, 0, len(content)) for one in _flattened(key, value)]
            except MalformedError:
                self.damaged += 1
                found = []
            keys += [key for key, _ in found]
            texts += [value for _, value in found]
            counts.append(len(found))
        return keys, _loaded(texts), np.array(counts, np.int64)

    def _numbers(
        self, keys: Sequence[bytes], found: Sequence[object]
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_] | None, NDArray[np.bool_] | None]:
        """Values, which of them are ``null`` (None for none), and which are numbers at all (None for all)."""
        kinds = set(map(type, found))
        if kinds <= {int, float, bool}:
            try:
                return np.array(found, np.float64), None, None
            except OverflowError:
                pass
        numbers = [value if value.__class__ is float else scalar(value) for value in found]
        null = np.array([value is Gap.NULL for value in numbers], bool)
        kept = np.array([value is not Gap.OTHER and value is not Gap.ABSENT for value in numbers], bool)
        self.aside.update(text(key) for key, keep in zip(keys, kept.tolist(), strict=True) if not keep)
        values = np.array([value if isinstance(value, float) else np.nan for value in numbers], np.float64)
        return values, null, kept


def _taken_apart(batch: Sequence[bytes]) -> tuple[list[bytes], list[object], NDArray[np.int64]] | None:
    """Names, values and numbers of items of the batch; None where it has other rows than flat ones with short names."""
    found = spans([_without_step(content) for content in batch])
    if found is None:
        return None
    values = found.parsed()
    if values is None:
        values = _loaded(found.texts())
    if dict in map(type, values):
        return None
    return found.names(), values, found.counts


def _without_step(content: bytes) -> bytes:
    """A history message without its own count of steps, which the items hold as well."""
    found = _STEP.search(content, max(0, len(content) - _LONGEST_STEP))
    return content[: found.start()] if found else content


def _flattened(key: bytes, value: bytes) -> Iterator[tuple[bytes, bytes]]:
    """An item, or the items of an object that was logged under one name. Media stay whole."""
    if value[:1] == b"{":
        try:
            inner = flat({text(key): loads(value)})
        except (ValueError, TooDeepError):
            inner = {}
        for name, each in inner.items():
            yield name.encode(), orjson.dumps(each, default=str)
        if inner:
            return
    yield key, value


def _loaded(texts: Sequence[bytes]) -> list[object]:
    """The values of JSON texts, parsed together; one by one only where a text is broken."""
    try:
        found: list[object] = orjson.loads(b"[" + b",".join(texts) + b"]")
    except orjson.JSONDecodeError:
        try:
            found = orjson.loads(b"[" + b",".join([_TOKENS.get(each, each) for each in texts]) + b"]")
        except orjson.JSONDecodeError:
            return list(_one_by_one(texts))
    return found if len(found) == len(texts) else list(_one_by_one(texts))


def _one_by_one(texts: Iterable[bytes]) -> Iterator[object]:
    for each in texts:
        try:
            yield loads(each)
        except ValueError:
            yield text(each)
