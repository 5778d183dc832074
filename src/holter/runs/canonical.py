"""From a raw log to canonical runs: which framework wrote it, what each name means, where a run begins and ends."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit, Name
from holter.dialects.meaning import Meaning, told_apart
from holter.dialects.registry import detect, dialect, is_ignored, lineage, meaning, never
from holter.language import listed, said
from holter.runs.derive import derived
from holter.runs.kl_unit import with_kl_unit
from holter.runs.nulls import without_holes
from holter.runs.one_step import is_sample_by_sample, means, newest
from holter.runs.renaming import changes, joined
from holter.runs.run import Run, Series, Split, Unknown, signal_of
from holter.runs.segments import segments
from holter.runs.step_axis import step_axis
from holter.runs.unlogged import remarks
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from numpy.typing import NDArray

    from holter.dialects.base import Dialect
    from holter.readers.base import RawColumn, RawLog
    from holter.runs.segments import Segment
    from holter.runs.step_axis import StepAxis


ELAPSED = "time/total"
"""Key of the time since the start."""


def canonical(log: RawLog, *, speaks: str | None = None) -> list[Run]:
    """The runs in one raw log; none when it has no rows.

    A step that goes back to the beginning starts another run; a step that goes back into the middle is a resume, and the
    newest row of a step wins. Rows that share a step (a training and an evaluation row) become one.

    Args:
        log: What a reader made of a file.
        speaks: Name of the dialect, when the caller knows better than the signatures.
    """
    spoken = dialect(speaks) if speaks else detect(log.columns.keys(), log.dialects)
    log, meanings = _with_clock(log, told_apart({raw: meaning(spoken, raw) for raw in log.columns}))
    metrics = _metrics(log, spoken, meanings)
    axis = step_axis(log, spoken, meanings, metrics)
    columns, empty = without_holes(log, spoken, meanings)
    notes = [*log.notes, *axis.notes]
    if empty:
        notes.append(said("null in every row: {metrics}.", metrics=listed(empty)))
    parts = segments(axis.steps, metrics, log.resumes)
    return [
        _Part(log, spoken, meanings, columns, axis, part).run(_named(log.name, number, len(parts)), tuple(notes))
        for number, part in enumerate(parts, start=1)
    ]


def _with_clock(log: RawLog, meanings: Mapping[str, Meaning | None]) -> tuple[RawLog, Mapping[str, Meaning | None]]:
    """The clock of the format's own column as the time since the start, where the framework logs no such time itself."""
    clock = log.columns.get(log.clock)
    known = np.flatnonzero(np.isfinite(clock.values)) if clock is not None else np.empty(0, np.int64)
    if clock is None or not len(known) or any(m is not None and m.full_key == ELAPSED for m in meanings.values()):
        return log, meanings
    if len(known) > 1 and (clock.values[known] == clock.values[known[0]]).all():
        # A log that was converted from one without times has the same in every row.
        return log, meanings
    since = replace(clock, values=clock.values - clock.values[known[0]])
    elapsed = Meaning(Name(log.clock, ELAPSED, fit=Fit.CLOSE), ELAPSED, evaluation=False)
    return replace(log, columns={**log.columns, log.clock: since}), {**meanings, log.clock: elapsed}


def _named(name: str, number: int, count: int) -> str:
    return name if count == 1 else f"{name} (run {number} of {count})"


def _metrics(log: RawLog, spoken: Dialect, meanings: Mapping[str, Meaning | None]) -> list[NDArray[np.int64]]:
    """Rows of every column that is no axis; of training columns only where there are any, as they set the pace.

    Times of phases do not: a tracker may get one of them several times a step, in rows of their own.
    """
    columns = {
        raw: column.at
        for raw, column in log.columns.items()
        if not _is_axis(meanings[raw], raw) and not is_ignored(spoken, raw)
    }
    training = [at for raw, at in columns.items() if not _is_evaluation(meanings[raw])]
    measured = [at for raw, at in columns.items() if not _is_evaluation(meanings[raw]) and not _is_time(meanings[raw])]
    return measured or training or list(columns.values())


def _is_evaluation(found: Meaning | None) -> bool:
    return found is not None and found.full_key.startswith("eval/")


def _is_time(found: Meaning | None) -> bool:
    looked_up = signal_of(found.full_key) if found is not None else None
    return looked_up is not None and looked_up[0].unit is Unit.SECONDS


def _is_axis(found: Meaning | None, raw: str) -> bool:
    if found is None:
        return raw == "_step" or raw.endswith("/_step")
    looked_up = signal_of(found.full_key)
    return looked_up is not None and looked_up[0].concept == "axis"


@dataclass(frozen=True, slots=True)
class _Part:
    """One run's rows of a log, on their way to becoming a run."""

    log: RawLog
    spoken: Dialect
    meanings: Mapping[str, Meaning | None]
    columns: Mapping[str, RawColumn]
    axis: StepAxis
    part: Segment

    def run(self, name: str, notes: tuple[str, ...]) -> Run:
        unique, row_of = np.unique(self.axis.steps[self.part.first : self.part.end], return_inverse=True)
        replaced = self.part.void.copy()
        chosen = _Chosen(self.spoken)
        unknown: dict[str, Unknown] = {}
        pooled: list[str] = []
        for raw, column in self.columns.items():
            found = self.meanings[raw]
            rows, values, local = self._placed(column, row_of)
            if _is_evaluation(found) and is_sample_by_sample(rows):
                pooled.append(raw)
                rows, values = means(rows, values)
                older = local[:0]
            else:
                rows, values, older = newest(rows, values, local)
            if not len(rows):
                continue
            made = _series(raw, found, rows, unique, values) if found is not None else None
            if found is None or made is None:
                if not is_ignored(self.spoken, raw):
                    unknown[raw] = Unknown(raw, rows, values)
                continue
            # Every row has its time, an evaluation's as well as that of the training row of its step: neither replaces the other.
            if made.concept != "axis" and raw != self.log.clock:
                replaced[older] = True
            chosen.add(made, found.name)
        notes = (*notes, *chosen.renamed(len(unique)))
        if pooled:
            notes = (
                *notes,
                said("Several rows a step hold {metrics}; the mean of a step's rows is taken.", metrics=listed(pooled)),
            )
        notes = (*notes, *remarks(chosen.by_key.values(), len(unique)))
        series, kl_note = with_kl_unit(_axes_last(chosen.by_key), self.spoken)
        series |= derived(series)
        held = {s.concept for s in series.values() if s.split is Split.TRAIN}
        return Run(
            name=name,
            path=self.log.name,
            dialect=self.spoken.name,
            step_axis=self.axis.says,
            steps=unique,
            series=series,
            spare=chosen.spare,
            unknown=unknown,
            config=dict(self.log.config),
            resumes=tuple(sorted({int(row_of[r]) for r in self.part.resumes})),
            replaced=tuple(np.sort(row_of[replaced]).tolist()),
            never=tuple(c for c in never(self.spoken) if c not in held),
            skipped=self.log.skipped,
            notes=(*notes, kl_note) if kl_note else notes,
        )

    def _placed(
        self, column: RawColumn, row_of: NDArray[np.intp]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64]]:
        """Run rows, values and log rows of a column within this run, without what a resume made void."""
        low, high = np.searchsorted(column.at, (self.part.first, self.part.end))
        local, values = column.at[low:high] - self.part.first, column.values[low:high]
        if self.part.resumes:
            keep = ~self.part.void[local]
            local, values = local[keep], values[keep]
        return row_of[local].astype(np.int64, copy=False), values, local


class _Chosen:
    """The series of a run: of several raw names of one key the one that fits best, as the dialect's tables prefer them.

    Attributes:
        by_key: Series by canonical key.
        spare: The others, by raw name.
    """

    def __init__(self, spoken: Dialect) -> None:
        self.by_key: dict[str, Series] = {}
        self.spare: dict[str, Series] = {}
        self._place: dict[str, tuple[int, int]] = {}
        names = (name for table in lineage(spoken) for name in table.names)
        self._order = {id(name): place for place, name in enumerate(names)}

    def add(self, made: Series, name: Name) -> None:
        """One more series, and the entry of the tables that it is."""
        place = (list(Fit).index(name.fit), self._order.get(id(name), len(self._order)))
        before = self.by_key.get(made.key)
        if before is not None and self._place[made.key] <= place:
            self.spare[made.metric] = made
            return
        if before is not None:
            self.spare[before.metric] = before
        self.by_key[made.key], self._place[made.key] = made, place

    def renamed(self, rows: int) -> Iterator[str]:
        """Join what is one metric by two names, and say so."""
        for key in {s.key: None for s in self.spare.values()}:
            best = self.by_key[key]
            self.by_key[key] = whole = joined(best, [s for s in self.spare.values() if s.key == key], rows)
            if whole.metric != best.metric:
                self.spare[best.metric] = best
                del self.spare[whole.metric]
            for before, after in changes(whole):
                yield said(
                    "{after} goes on where {before} ends; they are read as one metric", before=before, after=after
                )


def _series(
    raw: str, found: Meaning, at: NDArray[np.int64], steps: NDArray[np.float64], values: NDArray[np.float64]
) -> Series | None:
    looked_up = signal_of(found.full_key)
    if looked_up is None:
        return None
    signal, labels, split = looked_up
    name = found.name
    with np.errstate(all="ignore"):
        if name.power != 1.0:
            values = values**name.power
        if name.scale != 1.0 or name.offset != 0.0:
            values = name.offset + name.scale * values
    return Series(
        key=found.full_key,
        metric=raw,
        signal=signal,
        split=split,
        labels=labels,
        unit=name.unit or signal.unit,
        estimator=name.estimator or (None if name.fit is Fit.PROXY else signal.estimator),
        reduction=name.reduction or (None if name.fit is Fit.PROXY else signal.reduction),
        fit=name.fit,
        at=at,
        steps=steps if len(at) == len(steps) else steps[at],
        values=values,
    )


def _axes_last(series: Mapping[str, Series]) -> dict[str, Series]:
    """Signals before axes, each in the order of the log, so that reports show what matters first."""
    return dict(sorted(series.items(), key=lambda item: item[1].concept == "axis"))
