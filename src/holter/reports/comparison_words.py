"""What every report on a comparison says in the same words: terminal, Markdown and page."""

from __future__ import annotations

import math
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from holter.compare import Basis, Better, Verdict
from holter.compare.comparison import SCHEDULED
from holter.compare.groups import short_name
from holter.compare.settings_apart import as_text
from holter.findings.finding import Severity, step_text
from holter.language import Said, listed, phrase, said, sentences, told
from holter.reports.safe_text import safe
from holter.reports.words import status_text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.compare import Compared, Comparison, Difference, Effect, Level, Pair
    from holter.compare.sweep import Influence, Sweep

DIFFERS = (Verdict.HIGHER, Verdict.LOWER)
THEN = 3
"""Signals that are named after the first to part."""


def headline(comparison: Comparison) -> Said:
    """What the whole comparison comes to."""
    if not comparison.pairs:
        return said("{n} seeds of one setting", n=len(comparison.runs))
    first = safe(comparison.groups[0].label)
    if comparison.sweep is not None and _is_sweep(comparison):
        names = listed(safe(s.name) for s in comparison.sweep.settings)
        stands = sum(i.stands for i in comparison.sweep.influences)
        return said(
            "{names} swept over {runs} runs; effects that stand out: {n}",
            names=names,
            runs=len(comparison.runs),
            n=stands,
        )
    if len(comparison.pairs) > 1:
        worse = sum(bool(pair.regressions) for pair in comparison.pairs)
        other = sum(any(d.effect.verdict in DIFFERS for d in pair.differences) for pair in comparison.pairs)
        return said(
            "{n} settings against {first}: {differ} differ from it, {worse} worse",
            n=len(comparison.pairs),
            first=first,
            differ=other,
            worse=worse,
        )
    (pair,) = comparison.pairs
    differ = sum(d.effect.verdict in DIFFERS for d in pair.differences)
    two = {"first": first, "second": safe(comparison.groups[pair.second].label)}
    if pair.regressions:
        n = len(pair.regressions)
        if n == 1:
            return said("{second} is worse than {first} in one way", **two)
        return said("{second} is worse than {first} in {n} ways", **two, n=n)
    if differ:
        return said(
            "{second} differs from {first} in {n} of {all} signals, and nothing is worse",
            **two,
            n=differ,
            all=len(pair.differences),
        )
    if within(pair):
        return said("{second} and {first} are not distinguishable beside the noise within the runs", **two)
    return said("{second} and {first} are not distinguishable with these seeds", **two)


def is_worse(comparison: Comparison) -> bool:
    """Whether something is worse than what it is held against; in a sweep the first setting is not meant as a yardstick."""
    return bool(comparison.regressions) and not _is_sweep(comparison)


def _is_sweep(comparison: Comparison) -> bool:
    """Whether settings were swept, instead of held against one of them."""
    return comparison.sweep is not None and len(comparison.groups) > 2 and not comparison.groups[0].baseline


def best(comparison: Comparison) -> Said | None:
    """Which of several settings ends best in the first outcome; None for two or fewer, or where none says."""
    outcome = next((s for s in comparison.signals.values() if s.outcome), None)
    if outcome is None or len(comparison.groups) <= 2:
        return None
    ends = [(level.mean, g) for g, level in enumerate(outcome.levels) if level and math.isfinite(level.mean)]
    if not ends:
        return None
    mean, group = max(ends) if outcome.better is Better.HIGHER else min(ends)
    setting = safe(comparison.groups[group].label)
    return said(
        "{metric} ends best with {setting}: {mean}", metric=safe(outcome.metric), setting=setting, mean=f"{mean:.4g}"
    )


def within(pair: Pair) -> bool:
    """Whether only the noise within the runs could be a yardstick."""
    return any(d.effect.basis is Basis.WITHIN for d in pair.differences)


def first_to_part(comparison: Comparison, pair: Pair) -> Said | None:
    """Which signals part first: what comes first may be the cause of the rest. None where nothing parts."""
    apart = [
        (d.parting.at, d.key)
        for d in pair.differences
        if d.parting is not None and d.key not in SCHEDULED and not comparison.signals[d.key].speed
    ]
    if not apart:
        return None
    first = min(at for at, _ in apart)
    where = place(comparison, first)
    rest = sorted(((at, key) for at, key in apart if at > first), key=itemgetter(0))
    if not rest:
        return said("All of them part at {place}.", place=where)
    names = [safe(comparison.signals[key].metric) for at, key in apart if at == first]
    then = [
        said("{name} at {place}", name=safe(comparison.signals[key].metric), place=place(comparison, at))
        for at, key in rest[:THEN]
    ]
    return said(
        "First to part: {names}, at {place}; then {then}.", names=listed(names[:4]), place=where, then=listed(then)
    )


def place(comparison: Comparison, at: float) -> Said:
    """A place on the axis."""
    if comparison.axis == "step":
        return said("step {step}", step=step_text(math.floor(at + 0.5)))  # as the page rounds
    n = f"{at:,.0f}"
    return said("{n} episodes", n=n) if comparison.axis == "episodes" else said("{n} tokens", n=n)


def influence(comparison: Comparison, each: Influence) -> Said:
    """What a swept setting did to a signal."""
    metric = safe(comparison.signals[each.signal].metric)
    values = {"setting": safe(each.setting), "metric": metric, "rho": f"{each.rho:+.2f}", "p": f"{each.p:.2g}"}
    if each.rho > 0:
        return said("a larger {setting} raises {metric} (rank correlation {rho}, p {p})", **values)
    return said("a larger {setting} lowers {metric} (rank correlation {rho}, p {p})", **values)


def together(names: Sequence[str]) -> Said:
    """Settings whose effects these runs cannot tell apart."""
    return said("{names} always change together: their effects cannot be told apart.", names=listed(map(safe, names)))


def statuses(comparison: Comparison, group: int) -> str:
    """How many of a setting's runs have which verdict."""
    counted = Counter(comparison.diagnoses[r].verdict.status for r in comparison.members(group)).most_common()
    if len(comparison.groups[group].runs) == 1:
        return status_text(counted[0][0])
    return told(listed(f"{n} {status_text(status)}" for status, n in counted))


def runs_text(n: int) -> str:
    """How many runs."""
    return told("1 run") if n == 1 else told("{n} runs", n=n)


def same_text(pair: Pair) -> str:
    """What is said of signals that do not differ."""
    if within(pair):
        return told("not distinguishable beside the noise within the runs")
    return told("not distinguishable with these seeds")


def heading(pair: Pair, n: int) -> str:
    """`same_text` above a list of so many signals."""
    how = same_text(pair)
    return told("{title} ({n})", title=f"{how[:1].upper()}{how[1:]}", n=n)


def only_texts(comparison: Comparison) -> list[str]:
    """Signals that not all settings log, with those that do."""
    return [
        told(said("{name} (only {labels})", name=key, labels=listed(labels))) for key, labels in comparison.only.items()
    ]


def grouped_text(comparison: Comparison) -> str:
    """How runs were taken together."""
    return told("Grouped: {how}; --group-by says otherwise.", how=told(comparison.how))


def method(comparison: Comparison) -> Said:
    """How runs were aligned, how many of the differences may be false, and why an interval may seem to say otherwise."""
    how = said(
        "Aligned on {axis}, over what all runs cover; the end is the mean of its last quarter. Of the differences called so "
        "at most 5 % are expected to be false (Benjamini-Hochberg).",
        axis=phrase(comparison.axis),
    )
    if not any(_leaves_out_0(d.effect) for pair in comparison.pairs for d in pair.differences):
        return how
    alone = said(
        "An interval is of its signal alone: one that leaves out 0 is no difference yet where so many signals are looked at."
    )
    return sentences([how, alone])


def _leaves_out_0(effect: Effect) -> bool:
    """Whether an effect that is not called a difference has an interval that looks like one."""
    return effect.verdict is Verdict.SAME and (effect.low > 0 or effect.high < 0)


def one_run_each() -> str:
    """What two runs can never show."""
    return told(
        "One run each: what differs is said of these two runs. Whether the settings did it, only more seeds can tell."
    )


def nothing_stands(sweep: Sweep) -> str:
    """What is said of a sweep without effects."""
    if sweep.too_few:
        return told(
            "Ranks of so few runs and values cannot show it; the differences between the settings say what can be said."
        )
    return told("Nothing that stands out beside the seeds and the number of signals looked at.")


def spread(comparison: Comparison) -> list[tuple[Compared, Level]]:
    """Every signal that several seeds of the one setting log, with where they end; outcomes first."""
    signals = sorted(comparison.signals.values(), key=lambda s: not s.outcome)
    return [(s, s.levels[0]) for s in signals if s.levels[0] is not None and s.levels[0].runs > 1]


def spread_heads() -> tuple[str, str, str, str]:
    """Heads of a table of `spread`."""
    return (
        told("at the end"),
        told("mean"),
        told("standard deviation between seeds"),
        told("95 % interval of the mean"),
    )


def spread_cells(level: Level) -> tuple[str, str, str]:
    """Mean, standard deviation and interval of a setting's end."""
    return f"{level.mean:.4g}", f"{level.sd:.3g}", f"{level.mean:.4g} ± {level.half_width:.2g}"


def interval(effect: Effect) -> str:
    """A difference and its 95 % interval."""
    if math.isnan(effect.low):
        return f"{effect.difference:+.3g}"
    return f"{effect.difference:+.3g} [{effect.low:.3g}, {effect.high:.3g}]"


def mark(comparison: Comparison, difference: Difference) -> str:
    """Better, worse, or merely otherwise: ``▲``, ``▼``, ``·``."""
    better = comparison.signals[difference.key].better
    if better is Better.UNKNOWN:
        return "·"
    return "▲" if (difference.effect.difference > 0) == (better is Better.HIGHER) else "▼"


def worst(comparison: Comparison, group: int) -> str:
    """The gravest status among a setting's runs."""
    statuses = {comparison.diagnoses[r].verdict.status for r in comparison.members(group)}
    return next(s for s in ("critical", "warning", "cannot-tell", "info", "healthy") if s in statuses)


def found(comparison: Comparison, group: int) -> list[str]:
    """Detectors that started something in a setting's runs, the most frequent first."""
    counted = Counter(
        f.detector
        for r in comparison.members(group)
        for f in comparison.diagnoses[r].findings
        if f.severity >= Severity.WARNING and f.caused_by is None
    )
    return [name for name, _ in counted.most_common()]


def set_to(comparison: Comparison, setting: int, group: int) -> str:
    """What a setting's runs have for one of `Comparison.apart`."""
    values = comparison.apart[setting].values
    return " | ".join(
        dict.fromkeys(safe(as_text(values[r])) for r in comparison.members(group) if comparison.runs[r].config)
    )


def run_names(comparison: Comparison) -> list[str]:
    """The runs' short names, or the long ones where the short ones are not told apart."""
    names = [short_name(run) for run in comparison.runs]
    return names if len(set(names)) == len(names) else [run.name for run in comparison.runs]
