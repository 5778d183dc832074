"""Runs beside each other in the terminal: what was set otherwise, what came out otherwise, where it began."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holter.compare import Basis, Better, Verdict
from holter.compare.groups import short_name
from holter.compare.settings_apart import as_text
from holter.findings.finding import Severity, step_text
from holter.reports.safe_text import safe
from holter.reports.terminal import MARKS, STYLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from holter.compare import Comparison, Difference, Effect, Level, Pair
    from holter.readers.base import Skipped

MOST_SIGNALS = 12
MOST_SETTINGS = 12
_DIFFERS = (Verdict.HIGHER, Verdict.LOWER)


def print_comparison(console: Console, comparison: Comparison, refused: Sequence[Skipped], *, verbose: bool) -> None:
    """Print the comparison, then what could not be read."""
    console.print(render(comparison, verbose=verbose))
    for each in refused:
        console.print(Text(f"Not read: {safe(str(each))}", style="dim"))


def render(comparison: Comparison, *, verbose: bool = False) -> RenderableType:
    """Everything that a comparison says."""
    parts: list[RenderableType] = [_groups(comparison)]
    if comparison.apart:
        parts.append(_settings(comparison, verbose=verbose))
    parts += [_pair(comparison, pair, verbose=verbose) for pair in comparison.pairs]
    if not comparison.pairs:
        parts.append(_one_setting(comparison))
    if comparison.sweep is not None:
        parts.append(_sweep(comparison, verbose=verbose))
    parts.append(_footer(comparison, verbose=verbose))
    return Group(*parts)


def _groups(comparison: Comparison) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for number, group in enumerate(comparison.groups):
        statuses = Counter(comparison.diagnoses[r].verdict.status for r in comparison.members(number))
        worst = next(s for s in ("critical", "warning", "cannot-tell", "info", "healthy") if statuses[s])
        count = f"{len(group.runs)} runs" if len(group.runs) > 1 else "1 run"
        said = ", ".join(f"{n} {status}" if len(group.runs) > 1 else status for status, n in statuses.most_common())
        found = Counter(
            f.detector
            for r in comparison.members(number)
            for f in comparison.diagnoses[r].findings
            if f.severity >= Severity.WARNING and f.caused_by is None
        )
        names = ", ".join(name for name, _ in found.most_common(4))
        label = Text(safe(group.label), style="bold")
        table.add_row(
            Text(MARKS[worst], style=STYLES[worst]), label, count, Text(said + (f": {names}" if names else ""))
        )
    return Padding(
        Group(Text("Settings" if len(comparison.groups) > 1 else "Setting", style="bold underline"), table),
        (0, 0, 0, 1),
    )


def _settings(comparison: Comparison, *, verbose: bool) -> RenderableType:
    many = len(comparison.groups) > 6
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=not many, header_style="dim")
    table.add_column("setting")
    if many:
        table.add_column("values")
    else:
        for group in comparison.groups:
            table.add_column(safe(group.label))
    shown = comparison.apart if verbose else comparison.apart[:MOST_SETTINGS]
    for setting in shown:
        cells = [
            " | ".join(
                dict.fromkeys(
                    safe(as_text(setting.values[r])) for r in comparison.members(g) if comparison.runs[r].config
                )
            )
            for g in range(len(comparison.groups))
        ]
        table.add_row(Text(safe(setting.name)), *([", ".join(dict.fromkeys(cells))] if many else cells))
    more = len(comparison.apart) - len(shown)
    parts: list[RenderableType] = [Text("Set otherwise", style="bold underline"), table]
    if more:
        parts.append(Text(f"and {more} more; --verbose shows them", style="dim"))
    return Padding(Group(*parts), (1, 0, 0, 1))


def _pair(comparison: Comparison, pair: Pair, *, verbose: bool) -> RenderableType:
    first, second = comparison.groups[pair.first], comparison.groups[pair.second]
    head = Text.assemble((safe(second.label), "bold"), " against ", (safe(first.label), "bold"))
    differ = [d for d in pair.differences if d.effect.verdict in _DIFFERS]
    same = [d for d in pair.differences if d.effect.verdict is Verdict.SAME]
    unknown = [d for d in pair.differences if d.effect.verdict is Verdict.UNKNOWN]
    parts: list[RenderableType] = [head]
    within = sum(d.effect.basis is Basis.WITHIN for d in pair.differences)
    if within:
        parts.append(
            Text(
                "One run each: what differs is said of these two runs. Whether the settings did it, only more seeds can tell.",
                style="dim",
            )
        )
    if differ:
        parts.append(_table(comparison, pair, differ if verbose else differ[:MOST_SIGNALS]))
        if not verbose and len(differ) > MOST_SIGNALS:
            parts.append(Text(f"and {len(differ) - MOST_SIGNALS} more that differ; --verbose shows them", style="dim"))
    began = _first_to_part(comparison, pair)
    if began:
        parts.append(Text(began))
    if same:
        parts.append(_same(comparison, same, verbose=verbose, within=bool(within)))
    if unknown:
        names = ", ".join(safe(comparison.signals[d.key].metric) for d in unknown[: None if verbose else 6])
        parts.append(Text(f"Too few rows to judge ({len(unknown)}): {names}", style="dim"))
    worse = [Text(f"✗ {safe(r.says)}", style=STYLES["critical"]) for r in pair.regressions]
    if worse:
        parts += [Text("Worse", style="bold"), *worse]
    return Padding(Group(*parts), (1, 0, 0, 1))


def _table(comparison: Comparison, pair: Pair, differences: Sequence[Difference]) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    table.add_column("at the end", overflow="fold", min_width=24)
    for group in (pair.first, pair.second):
        table.add_column(Text(safe(comparison.groups[group].label), overflow="fold"))
    table.add_column("difference, 95 %", no_wrap=True)
    table.add_column("apart from")
    for each in differences:
        signal = comparison.signals[each.key]
        a, b = signal.levels[pair.first], signal.levels[pair.second]
        assert a is not None
        assert b is not None
        mark, style = _mark(signal.better, each.effect, outcome=signal.outcome)
        apart = "" if each.parting is None else _place(comparison, each.parting.at)
        table.add_row(
            Text(mark, style=style),
            Text(safe(signal.metric)),
            f"{a.mean:.4g}",
            f"{b.mean:.4g}",
            _interval(each.effect),
            apart,
        )
    return table


def _mark(better: Better, effect: Effect, *, outcome: bool) -> tuple[str, str]:
    """Better, worse, or merely otherwise."""
    if better is Better.UNKNOWN:
        return "·", "dim"
    good = (effect.difference > 0) == (better is Better.HIGHER)
    if good:
        return "▲", STYLES["healthy"]
    return "▼", STYLES["critical" if outcome else "warning"]


def _first_to_part(comparison: Comparison, pair: Pair) -> str:
    """Which signals parted first: what came first may be the cause of the rest."""
    apart = [(d.parting.at, comparison.signals[d.key]) for d in pair.differences if d.parting is not None]
    apart = [(at, s) for at, s in apart if s.key not in ("lr", "learning_rate")]
    if not apart:
        return ""
    first = min(at for at, _ in apart)
    if all(at == first for at, _ in apart):
        return f"All of them part at {_place(comparison, first)}."
    names = [safe(s.metric) for at, s in sorted(apart, key=lambda x: x[0]) if at == first]
    rest = sorted(((at, safe(s.metric)) for at, s in apart if at > first), key=lambda x: x[0])
    then = ", ".join(f"{name} at {_place(comparison, at)}" for at, name in rest[:3])
    return f"First to part: {', '.join(names[:4])}, at {_place(comparison, first)}; then {then}."


def _same(comparison: Comparison, same: Sequence[Difference], *, verbose: bool, within: bool) -> RenderableType:
    outcomes = [d for d in same if comparison.signals[d.key].outcome]
    rest = [d for d in same if not comparison.signals[d.key].outcome]
    how = "beside the noise within the runs" if within else "with these seeds"
    lines = []
    for each in outcomes if verbose else outcomes[:6]:
        signal = comparison.signals[each.key]
        lines.append(
            Text.assemble(
                ("= ", STYLES["info"]),
                f"{safe(signal.metric)}: not distinguishable {how} ({_interval(each.effect)})",
            )
        )
    if rest:
        names = ", ".join(safe(comparison.signals[d.key].metric) for d in (rest if verbose else rest[:6]))
        more = f" and {len(rest) - 6} more" if len(rest) > 6 and not verbose else ""
        lines.append(Text(f"Not distinguishable {how} ({len(rest)}): {names}{more}", style="dim"))
    return Group(*lines)


def _one_setting(comparison: Comparison) -> RenderableType:
    """Seeds of one setting: how far they spread, which is the yardstick for everything else."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in ("at the end", "mean", "standard deviation between seeds", "95 % interval of the mean"):
        table.add_column(title)
    signals = sorted(comparison.signals.values(), key=lambda s: not s.outcome)
    for signal in signals[:MOST_SIGNALS]:
        found = signal.levels[0]
        if found is not None and found.runs > 1:
            table.add_row(Text(safe(signal.metric)), f"{found.mean:.4g}", f"{found.sd:.3g}", _level(found))
    return Padding(Group(Text("Seeds of one setting spread so far", style="bold underline"), table), (1, 0, 0, 1))


def _sweep(comparison: Comparison, *, verbose: bool) -> RenderableType:
    found = comparison.sweep
    assert found is not None
    parts: list[RenderableType] = [Text("What the swept settings did", style="bold underline")]
    shown = [i for i in found.influences if i.stands]
    for each in shown if verbose else shown[:MOST_SIGNALS]:
        direction = "raises" if each.rho > 0 else "lowers"
        metric = safe(comparison.signals[each.signal].metric)
        parts.append(
            Text(
                f"a larger {safe(each.setting)} {direction} {metric} (rank correlation {each.rho:+.2f}, p {each.p:.2g})"
            )
        )
    if not shown:
        parts.append(Text("Nothing that stands out beside the seeds and the number of signals looked at.", style="dim"))
    parts += [
        Text(
            f"{', '.join(safe(n) for n in names)} always change together: their effects cannot be told apart.",
            style="yellow",
        )
        for names in found.together
    ]
    return Padding(Group(*parts), (1, 0, 0, 1))


def _footer(comparison: Comparison, *, verbose: bool) -> RenderableType:
    lines = [Text(f"Grouped: {comparison.how}; --group-by says otherwise.", style="dim")]
    if comparison.only:
        names = [f"{safe(key)} (only {', '.join(map(safe, labels))})" for key, labels in comparison.only.items()]
        more = f" and {len(names) - 4} more" if len(names) > 4 and not verbose else ""
        lines.append(
            Text(f"Not in all ({len(names)}): {', '.join(names if verbose else names[:4])}{more}", style="dim")
        )
    lines.append(
        Text(
            f"Aligned on {comparison.axis}, over what all runs cover; the end is the mean of its last quarter. "
            "Of the differences called so at most 5 % are expected to be false (Benjamini-Hochberg).",
            style="dim",
        )
    )
    names = [short_name(run) for run in comparison.runs]
    if len(set(names)) < len(names):
        names = [run.name for run in comparison.runs]
    shown = ", ".join(safe(n) for n in names[: None if verbose else 8])
    lines.append(Text(f"Runs: {shown}{', …' if len(names) > 8 and not verbose else ''}", style="dim"))
    return Padding(Group(*lines), (1, 0, 0, 1))


def _level(level: Level) -> str:
    half = level.half_width
    return f"{level.mean:.4g}" if math.isnan(half) else f"{level.mean:.4g} ± {half:.2g}"


def _interval(effect: Effect) -> str:
    if math.isnan(effect.low):
        return f"{effect.difference:+.3g}"
    return f"{effect.difference:+.3g} [{effect.low:.3g}, {effect.high:.3g}]"


def _place(comparison: Comparison, at: float) -> str:
    return f"step {step_text(round(at))}" if comparison.axis == "step" else f"{at:,.0f} {comparison.axis}"
