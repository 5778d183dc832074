"""JSON Lines: one object a row."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from holter.readers.base import ColumnBuilder, RawLog, Skipped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import Source


class Jsonl:
    """Reads ``.jsonl`` files."""

    name = "jsonl"
    title = "JSON Lines"
    priority = 50

    def recognises(self, name: str, head: bytes) -> bool:
        """By suffix, or by a first line that is a JSON object."""
        return name.removesuffix(".gz").endswith(".jsonl") or head.lstrip()[:1] == b"{"

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log."""
        import json

        builder = ColumnBuilder()
        skipped = []
        with source.open() as stream:
            for number, line in enumerate(stream, start=1):
                if not line.strip():
                    continue
                try:
                    said = orjson.loads(line)
                except orjson.JSONDecodeError:
                    try:
                        said = json.loads(line)
                    except ValueError as error:
                        skipped.append(Skipped(source.name, number, f"not a JSON object: {error}"))
                        continue
                builder.row(
                    (
                        (k, None if v is None else float(v))
                        for k, v in said.items()
                        if v is None or isinstance(v, int | float)
                    ),
                    number,
                )
        yield RawLog(
            name=source.name,
            reader=self.name,
            rows=len(builder),
            columns=builder.columns(),
            lines=builder.lines(),
            skipped=tuple(skipped),
        )


JSONL = Jsonl()
