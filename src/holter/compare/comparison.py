"""Runs held against each other: settings, levels, where they part, what is worse."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from holter.compare.curves import align, curves
from holter.compare.direction import Better
from holter.compare.effect import Effect, Level, Verdict, effect, level
from holter.compare.groups import Group, grouped
from holter.compare.parting import Parting, parting
from holter.compare.settings_apart import Setting, apart
from holter.compare.student import discovered
from holter.compare.sweep import Sweep, sweep
from holter.findings.diagnosis import diagnose_in_place
from holter.findings.finding import Severity
from holter.language import Said, phrase, said
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from holter.compare.curves import Aligned, Curve
    from holter.findings.diagnosis import Diagnosis
    from holter.findings.finding import Finding
    from holter.runs.run import Run

SCHEDULED = frozenset({"lr", "learning_rate"})
"""Signals that are settings as well: what a setting did to them, and where they part, explains nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class Compared:
    """One signal over all settings that log it.

    Attributes:
        key: Canonical key.
        metric: Name as the first log writes it.
        unit: Unit in words.
        better: Which direction is good.
        outcome: Whether it says how good the policy is.
        aligned: The curves over the range that all runs cover. Rows are the runs of `Comparison.runs` that log it.
        rows: For each row of `aligned`, the index of its run.
        ends: For each row of `aligned`, where its run ends; NaN where it logs no number there.
        levels: Where each setting ends, in the order of `Comparison.groups`; None where a setting does not log it.
    """

    key: str
    metric: str
    unit: str
    better: Better
    outcome: bool
    aligned: Aligned
    rows: tuple[int, ...]
    ends: tuple[float, ...]
    levels: tuple[Level | None, ...]

    @property
    def speed(self) -> bool:
        """Whether it says how fast the machine is, and nothing of the policy."""
        return self.unit == "s" or "/s" in self.unit


@dataclass(frozen=True, slots=True)
class Difference:
    """One signal, two settings.

    Attributes:
        key: Canonical key of the signal.
        effect: How far apart the settings end.
        parting: Where their curves part; None where they do not, or do not stay apart.
    """

    key: str
    effect: Effect
    parting: Parting | None


@dataclass(frozen=True, slots=True)
class Regression:
    """Something that is worse than in the baseline.

    Attributes:
        group: Label of the setting that is worse.
        what: The signal's key, or the detector's name.
        says: What is worse.
    """

    group: str
    what: str
    says: Said


@dataclass(frozen=True, slots=True, eq=False)
class Pair:
    """Two settings held against each other.

    Attributes:
        first: Index of the setting that the other is held against.
        second: Index of the other.
        differences: Every signal that both log: those that differ first, outcomes before the rest.
        regressions: What is worse in the second.
    """

    first: int
    second: int
    differences: tuple[Difference, ...]
    regressions: tuple[Regression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """Everything that can be said of some runs beside each other.

    Attributes:
        axis: What they were aligned on.
        runs: All runs, group by group.
        groups: The settings; runs of one are its seeds.
        how: How the runs were grouped, in a sentence.
        apart: Settings in which the runs differ, values in the order of `runs`.
        diagnoses: The diagnosis of each run.
        signals: Every signal that at least two runs log over a common range, by key.
        pairs: The first setting, or the baseline, against each other one.
        sweep: What swept settings did; None where nothing was swept.
        only: For signals that not all settings log, the labels of those that do.
    """

    axis: str
    runs: tuple[Run, ...]
    groups: tuple[Group, ...]
    how: Said
    apart: tuple[Setting, ...]
    diagnoses: tuple[Diagnosis, ...]
    signals: Mapping[str, Compared]
    pairs: tuple[Pair, ...]
    sweep: Sweep | None
    only: Mapping[str, tuple[str, ...]]

    @property
    def regressions(self) -> tuple[Regression, ...]:
        """What is worse than in the first setting, or than in the baseline."""
        return tuple(r for pair in self.pairs for r in pair.regressions)

    def members(self, group: int) -> range:
        """Indices in `runs` of a setting's seeds."""
        before = sum(len(g.runs) for g in self.groups[:group])
        return range(before, before + len(self.groups[group].runs))


def compare(
    runs: Sequence[Run],
    *,
    axis: str = "step",
    by: str = "auto",
    baseline: Sequence[Run] = (),
    margin: float = 0.0,
    settings: Settings | None = None,
) -> Comparison:
    """Hold runs against each other.

    Args:
        runs: The runs, without those of the baseline.
        axis: ``step``, ``episodes`` or ``tokens``.
        by: How runs are grouped into settings, one of `holter.compare.groups.BY`.
        baseline: Runs that the others are held against; without them it is the first setting.
        margin: Share of the first setting's level by which an outcome may be worse before it counts as a regression.
        settings: Settings of the detectors.

    Raises:
        AxisError: When a run's log does not count the wanted axis.
    """
    grouping = grouped(runs, by=by, baseline=baseline)
    ordered = tuple(run for group in grouping.groups for run in group.runs)
    logged = [curves(run, axis) for run in ordered]
    signals = _signals(grouping.groups, logged)
    diagnoses = tuple(diagnose_in_place(run, settings or Settings()) for run in ordered)
    differing = apart(ordered)
    out = Comparison(
        axis=axis,
        runs=ordered,
        groups=grouping.groups,
        how=grouping.how,
        apart=differing,
        diagnoses=diagnoses,
        signals=signals,
        pairs=(),
        sweep=sweep(differing, {key: _ends(s, len(ordered)) for key, s in signals.items() if key not in SCHEDULED}),
        only=_only(grouping.groups, logged),
    )
    return replace(out, pairs=tuple(_pair(out, second, margin) for second in range(1, len(out.groups))))


def _signals(groups: Sequence[Group], logged: Sequence[Mapping[str, Curve]]) -> dict[str, Compared]:
    members = [g for g, group in enumerate(groups) for _ in group.runs]
    out = {}
    for key in dict.fromkeys(key for each in logged for key in each):
        rows = [r for r, each in enumerate(logged) if key in each and each[key].finite.any()]
        units = {logged[r][key].unit for r in rows}
        aligned = align([logged[r][key] for r in rows]) if len(rows) > 1 and len(units) == 1 else None
        if aligned is None:
            continue
        low, high = float(aligned.edges[0]), float(aligned.edges[-1])
        seeds: list[list[Curve]] = [[] for _ in groups]
        for r in rows:
            seeds[members[r]].append(logged[r][key])
        first = logged[rows[0]][key]
        out[key] = Compared(
            key=key,
            metric=first.metric,
            unit=first.unit,
            better=first.better,
            outcome=first.outcome,
            aligned=aligned,
            rows=tuple(rows),
            ends=tuple(level([logged[r][key]], low, high).mean for r in rows),
            levels=tuple(level(each, low, high) if each else None for each in seeds),
        )
    return out


def _ends(signal: Compared, runs: int) -> NDArray[np.float64]:
    """Where each run of the comparison ends; NaN for those that do not log the signal. Shape ``(runs,)``."""
    out = np.full(runs, np.nan)
    out[list(signal.rows)] = signal.ends
    return out


def _only(groups: Sequence[Group], logged: Sequence[Mapping[str, Curve]]) -> dict[str, tuple[str, ...]]:
    members = [g for g, group in enumerate(groups) for _ in group.runs]
    out = {}
    for key in dict.fromkeys(key for each in logged for key in each):
        having = sorted({members[r] for r, each in enumerate(logged) if key in each})
        if len(having) < len(groups):
            out[key] = tuple(groups[g].label for g in having)
    return out


def _pair(comparison: Comparison, second: int, margin: float) -> Pair:
    found: list[tuple[Compared, Effect, Parting | None]] = []
    for signal in comparison.signals.values():
        a, b = signal.levels[0], signal.levels[second]
        if a is None or b is None:
            continue
        first, other = (_rows(comparison, signal, group) for group in (0, second))
        others = [x for g, x in enumerate(signal.levels) if x is not None and g not in (0, second)]
        found.append((signal, effect(a, b, others), parting(first, other, signal.aligned)))
    tested = [i for i, (_, e, _) in enumerate(found) if not math.isnan(e.p)]
    stands = dict(zip(tested, discovered([found[i][1].p for i in tested]), strict=True))
    judged = [(s, e.judged(stands=stands.get(i, False)), p) for i, (s, e, p) in enumerate(found)]
    judged.sort(key=_surest_first)
    differences = tuple(
        Difference(s.key, e, p if e.verdict in (Verdict.HIGHER, Verdict.LOWER) else None) for s, e, p in judged
    )
    return Pair(0, second, differences, tuple(_regressions(comparison, second, differences, margin)))


def _rows(comparison: Comparison, signal: Compared, group: int) -> NDArray[np.int64]:
    members = comparison.members(group)
    return np.asarray([i for i, run in enumerate(signal.rows) if run in members], np.int64)


def _surest_first(found: tuple[Compared, Effect, Parting | None]) -> tuple[bool, bool, bool, float, str]:
    """What differs before what does not, the policy before its training, and the speed of the machine last."""
    signal, e, _ = found
    differs = e.verdict in (Verdict.HIGHER, Verdict.LOWER)
    return (not differs, not signal.outcome, signal.speed, e.p if not math.isnan(e.p) else 2.0, signal.key)


def _regressions(
    comparison: Comparison, second: int, differences: Sequence[Difference], margin: float
) -> list[Regression]:
    label = comparison.groups[second].label
    out = []
    for each in differences:
        signal = comparison.signals[each.key]
        a, b = signal.levels[0], signal.levels[second]
        if a is None or b is None or not signal.outcome:
            continue
        worse = Verdict.LOWER if signal.better is Better.HIGHER else Verdict.HIGHER
        if each.effect.verdict is worse and abs(each.effect.difference) > margin * abs(a.mean):
            says = said(
                "{metric} ends at {now} instead of {before}, beyond {noise}",
                metric=signal.metric,
                now=f"{b.mean:.4g}",
                before=f"{a.mean:.4g}",
                noise=each.effect.basis.phrase,
            )
            out.append(Regression(label, each.key, says))
        if b.not_finite and not a.not_finite:
            says = said("{metric} holds {n} values that are no number", metric=signal.metric, n=b.not_finite)
            out.append(Regression(label, each.key, says))
    return out + _new_findings(comparison, second)


def _new_findings(comparison: Comparison, second: int) -> list[Regression]:
    """Active findings at warning or above that no run of the first setting has: the gravest first, then the earliest."""
    before = {f.detector for r in comparison.members(0) for f in _grave(comparison.diagnoses[r])}
    members = comparison.members(second)
    new: dict[str, list[Finding]] = {}
    for r in members:
        of_run = {f.detector: f for f in _grave(comparison.diagnoses[r]) if f.detector not in before}
        for detector, finding in of_run.items():
            new.setdefault(detector, []).append(finding)
    ordered = sorted(new, key=lambda d: (-max(f.severity for f in new[d]), min(f.first_step for f in new[d]), d))
    return [
        Regression(
            comparison.groups[second].label,
            detector,
            said(
                "{detector} in {n} of {runs}: {title}",
                detector=detector,
                n=len(new[detector]),
                runs=len(members),
                title=phrase(new[detector][-1].title),
            ),
        )
        for detector in ordered
    ]


def _grave(diagnosis: Diagnosis) -> list[Finding]:
    return [f for f in diagnosis.findings if f.severity >= Severity.WARNING and f.active]
