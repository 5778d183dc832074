"""Aim's repository (``.aim``): an SQLite file that names the runs, and a RocksDB store of their numbers beside it.

Only Aim itself reads the store, so its package has to be installed where Holter is; without it the way out is said.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from holter.errors import UnreadableLogError, reason
from holter.language import said
from holter.readers.numbers import scalar
from holter.readers.plausibility import NotALogError
from holter.readers.stores.layout import RunsReadWhole
from holter.readers.stores.points import SYSTEM, Points, log_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from holter.readers.base import RawLog

FOLDER = ".aim"
_NEEDED = frozenset({"hash", "experiment_id", "is_archived"})
_SUBSET = "subset"
_EVALUATIONS = frozenset({"eval", "val", "valid", "validation", "test", "evaluate"})
_SYSTEM = "__system__"
_WAY_OUT = (
    'Install it here: `pip install aim`. Or where it is installed, write the numbers out: `python -c "import aim, json; '
    "[print(json.dumps({{'step': s, '/'.join([*map(str, m.context.to_dict().values()), m.name]): v}})) "
    "for r in aim.Repo('{repository}').iter_runs() for m in r.metrics() "
    'for s, v in zip(m.data.items_list()[0], m.data.items_list()[1][0])]" > run.jsonl`.'
)


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Whether a database with these tables is that of an Aim repository."""
    return tables.get("run", frozenset()) >= _NEEDED and "run_info" in tables


class Runs(RunsReadWhole):
    """The runs of a repository that are not archived."""

    def files(self) -> Iterator[Path]:
        """Those of the store."""
        for folder in ("seqs", "meta"):
            yield from (self._folder / folder).rglob("*")

    def _read(
        self,
        connection: sqlite3.Connection,
        tables: Mapping[str, frozenset[str]],  # noqa: ARG002 - every store is asked alike
    ) -> Iterator[RawLog | NotALogError]:
        """One log for every run that is not archived; the reason instead, where a run is none.

        Raises:
            UnreadableLogError: When the package is missing, or Aim has not indexed the runs.
        """
        repository = self._folder.resolve().parent
        way_out = said(_WAY_OUT, repository=repository)
        named = connection.execute("SELECT count(*) FROM run").fetchone()[0]
        if not named:
            return
        try:
            aim = importlib.import_module("aim")
        except ImportError:
            raise UnreadableLogError.of(
                self._file, "Aim keeps the numbers of its runs in a store that only its own package reads.", way_out
            ) from None
        try:
            runs = list(aim.Repo(str(repository)).iter_runs())
            found = [(run, _points(run)) for run in runs if not run.archived]
        except Exception as error:
            # What the package raises of a store that is locked, damaged or of another version is its own affair.
            raise UnreadableLogError.of(
                self._file, said("Aim cannot read its own store ({error}).", error=reason(error)), way_out
            ) from error
        if not runs:
            raise UnreadableLogError.of(
                self._file,
                said("Aim has not put its {n} runs into its index yet, without which they cannot be read.", n=named),
                said("`aim storage --repo {repository} reindex` does it.", repository=repository),
            )
        for run, points in found:
            title = str(run.name or run.hash)
            config = run.get("hparams")
            try:
                yield log_of(
                    points,
                    name=self._file if len(found) == 1 else f"{self._file} ({title})",
                    reader=self._reader,
                    config=dict(config) if isinstance(config, dict) else {},
                    notes=[said("Aim calls this run {name!r}", name=title)],
                )
            except NotALogError as error:
                yield error


def _points(run: Any) -> dict[str, Points]:  # noqa: ANN401 - a run of a package that may not be there
    out = {}
    for metric in run.metrics():
        steps, (values, _, times) = metric.data.items_list()
        rows = [
            (float(step), value, float(time or 0.0))
            for step, value, time in zip(steps, map(scalar, values), times, strict=True)
            if isinstance(value, float)
        ]
        out[_name(str(metric.name), metric.context.to_dict())] = Points.of(rows)
    return out


def _name(name: str, context: Mapping[str, object]) -> str:
    """The name of a metric with what Aim keeps beside it: an evaluation by its prefix, anything else in brackets."""
    if name.startswith(_SYSTEM):
        return SYSTEM + name.removeprefix(_SYSTEM)
    rest = dict(context)
    subset = str(rest.pop(_SUBSET, "train"))
    if subset in _EVALUATIONS:
        name = f"eval/{name}"
    elif subset != "train":
        rest[_SUBSET] = subset
    return f"{name}[{', '.join(f'{k}={v}' for k, v in sorted(rest.items()))}]" if rest else name
