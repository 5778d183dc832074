"""Databases of trackers: one log for every run in them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.language import listed, said
from holter.readers.plausibility import NotALogError
from holter.readers.stores import aim, mlflow_database, trackio
from holter.readers.stores.sqlite import SIGNATURE, opened, tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog, Source

_LAYOUTS = (trackio, mlflow_database, aim)
_NAMED = 6


class TrackerDatabase:
    """Reads the SQLite files of Trackio, MLflow and Aim."""

    name = "tracker-database"
    title = "databases of Trackio (<project>.db), MLflow (mlflow.db) and Aim (with its package), every run in them"
    priority = 30

    def recognises(self, name: str, head: bytes) -> bool:  # noqa: ARG002 - the signature says it all
        """By the signature of SQLite."""
        return head.startswith(SIGNATURE)

    def read(self, source: Source) -> Iterator[RawLog]:
        """One log for every run.

        Raises:
            UnreadableLogError: When the database is damaged, no tracker's, or holds no run of training.
        """
        read: list[RawLog] = []
        refused: NotALogError | None = None
        with opened(source) as connection:
            found = tables(connection)
            layout = next((each for each in _LAYOUTS if each.fits(found)), None)
            if layout is None:
                raise NotALogError.of(
                    source.name,
                    said(
                        "the database is none of Trackio, MLflow or Aim; its tables: {names}.",
                        names=listed(list(found)[:_NAMED]) or said("none"),
                    ),
                    "Export the metrics of the run as CSV or JSON lines.",
                )
            for log in layout.logs(connection, found, source.name, self.name):
                if isinstance(log, NotALogError):
                    refused = refused or log
                else:
                    read.append(log)
        if not read:
            raise refused or UnreadableLogError.of(source.name, "it holds no run, so there is nothing to read yet.")
        yield from read


TRACKER_DATABASE = TrackerDatabase()
