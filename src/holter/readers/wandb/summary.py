"""``wandb-summary.json``: the newest value of every name of a W&B run. One row, read where nothing else of a run is left."""

from __future__ import annotations

from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.readers.json_text import loads
from holter.readers.plausibility import NotALogError
from holter.readers.records import Records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source

FILE = "wandb-summary.json"
_LARGEST = 64 << 20
_INTERNAL = "_wandb"


class WandbSummary:
    """Reads ``wandb-summary.json``."""

    name = "wandb-summary"
    title = "wandb-summary.json, the last values of a W&B run"
    priority = 115

    def recognises(self, name: str, head: bytes) -> bool:
        """By the name."""
        return PurePath(name).name == FILE and head.lstrip()[:1] == b"{"

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log of one row.

        Raises:
            UnreadableLogError: When it is no JSON object, or holds no number of a training run.
        """
        with source.open() as stream:
            data = stream.read(_LARGEST + 1)
        try:
            found = loads(data) if len(data) <= _LARGEST else None
        except ValueError as error:
            raise UnreadableLogError.of(
                source.name, said("it is not JSON ({error}).", error=reason(error)), "Give the run's .wandb file."
            ) from None
        if not isinstance(found, dict):
            raise NotALogError.of(source.name, "it is no summary of a W&B run.", "Give the run's .wandb file.")
        records = Records(source.name)
        records.add({key: value for key, value in found.items() if key != _INTERNAL}, 1)
        log = records.log(source.name, self.name, lines=False)
        note = "this is the last value of every metric, not their course; that is in the run's .wandb file"
        yield replace(log, notes=(*log.notes, note))


WANDB_SUMMARY = WandbSummary()
