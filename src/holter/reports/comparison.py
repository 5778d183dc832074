"""Runs beside each other in the terminal: what was set otherwise, what came out otherwise, where it began."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holter.compare import Verdict
from holter.language import told
from holter.reports import comparison_words as words
from holter.reports.prose import Prose
from holter.reports.safe_text import safe
from holter.reports.terminal import MARKS, STYLES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console, RenderableType

    from holter.compare import Comparison, Difference, Pair

MOST_SIGNALS = 12
MOST_SETTINGS = 12
MOST_NAMED = 6
MOST_ONLY = 4
MOST_RUNS = 8
MOST_PAIRS = 3
MOST_COLUMNS = 4
NARROWEST = 14
"""Columns of a terminal that metrics' names have at least."""
INTERVAL = 24
"""Columns that a difference and its interval have at least; longer ones go on in the next line."""
WIDEST_HEAD = 10
"""Characters of a word that heads a column of numbers."""


def print_comparison(console: Console, comparison: Comparison, *, verbose: bool) -> None:
    """Print the comparison."""
    console.print(render(comparison, verbose=verbose))


def render(comparison: Comparison, *, verbose: bool = False) -> RenderableType:
    """Everything that a comparison says."""
    parts: list[RenderableType] = [_groups(comparison)]
    if comparison.apart:
        parts.append(_settings(comparison, verbose=verbose))
    shown = comparison.pairs if verbose or len(comparison.pairs) <= MOST_PAIRS else _gravest(comparison)
    parts += [_pair(comparison, pair, verbose=verbose) for pair in shown]
    if len(shown) < len(comparison.pairs):
        parts.append(_others(comparison, [p for p in comparison.pairs if p not in shown]))
    if not comparison.pairs:
        parts.append(_one_setting(comparison))
    if comparison.sweep is not None:
        parts.append(_sweep(comparison, verbose=verbose))
    parts.append(_footer(comparison, verbose=verbose))
    return Group(*parts)


def _groups(comparison: Comparison) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for number, group in enumerate(comparison.groups):
        status = words.worst(comparison, number)
        names = ", ".join(words.found(comparison, number)[:4])
        table.add_row(
            Text(MARKS[status], style=STYLES[status]),
            Text(safe(group.label), style="bold"),
            words.runs_text(len(group.runs)),
            Text(words.statuses(comparison, number) + (f": {names}" if names else "")),
        )
    title = told("Settings") if len(comparison.groups) > 1 else told("Setting")
    return Padding(Group(Text(title, style="bold underline"), table), (0, 0, 0, 1))


def _settings(comparison: Comparison, *, verbose: bool) -> RenderableType:
    many = len(comparison.groups) > MOST_COLUMNS
    table = Table(box=None, padding=(0, 2, 0, 0), show_header=not many, header_style="dim")
    table.add_column(told("setting"))
    if many:
        table.add_column(told("values"))
    else:
        for group in comparison.groups:
            table.add_column(safe(group.label))
    shown = comparison.apart if verbose else comparison.apart[:MOST_SETTINGS]
    for number, setting in enumerate(shown):
        cells = [words.set_to(comparison, number, g) for g in range(len(comparison.groups))]
        table.add_row(Text(safe(setting.name)), *([", ".join(dict.fromkeys(cells))] if many else cells))
    more = len(comparison.apart) - len(shown)
    parts: list[RenderableType] = [Text(told("Set otherwise"), style="bold underline"), table]
    if more:
        parts.append(Text(told("and {n} more; --verbose shows them", n=more), style="dim"))
    return Padding(Group(*parts), (1, 0, 0, 1))


def _pair(comparison: Comparison, pair: Pair, *, verbose: bool) -> RenderableType:
    first, second = comparison.groups[pair.first], comparison.groups[pair.second]
    differ = [d for d in pair.differences if d.effect.verdict in words.DIFFERS]
    same = [d for d in pair.differences if d.effect.verdict is Verdict.SAME]
    unknown = [d for d in pair.differences if d.effect.verdict is Verdict.UNKNOWN]
    against = told("{second} against {first}", second=safe(second.label), first=safe(first.label))
    parts: list[RenderableType] = [Text(against, style="bold")]
    if words.within(pair):
        parts.append(Prose(words.one_run_each(), style="dim"))
    if differ:
        parts.append(_table(comparison, pair, differ if verbose else differ[:MOST_SIGNALS]))
        if not verbose and len(differ) > MOST_SIGNALS:
            more = told("and {n} more that differ; --verbose shows them", n=len(differ) - MOST_SIGNALS)
            parts.append(Text(more, style="dim"))
    began = words.first_to_part(comparison, pair)
    if began is not None:
        parts.append(Prose(told(began)))
    if same:
        parts.append(_same(comparison, pair, same, verbose=verbose))
    if unknown:
        few = told("Too few rows to judge ({n}): {names}")
        parts.append(Prose(few.format(n=len(unknown), names=_names(comparison, unknown, verbose)), style="dim"))
    worse = [Prose(f"✗ {safe(told(r.says))}", style=STYLES["critical"]) for r in pair.regressions]
    if worse:
        parts += [Text(told("Worse"), style="bold"), *worse]
    return Padding(Group(*parts), (1, 0, 0, 1))


def _gravest(comparison: Comparison) -> list[Pair]:
    """The pairs that are told in full, where there are too many: those that are worst, and differ in most, in their order."""

    def gravity(pair: Pair) -> tuple[int, int]:
        return len(pair.regressions), _differing(pair)

    chosen = sorted(comparison.pairs, key=gravity, reverse=True)[:MOST_PAIRS]
    return [pair for pair in comparison.pairs if pair in chosen]


def _differing(pair: Pair) -> int:
    return sum(d.effect.verdict in words.DIFFERS for d in pair.differences)


def _others(comparison: Comparison, pairs: Sequence[Pair]) -> RenderableType:
    """The other pairs, a line each."""
    first = comparison.groups[pairs[0].first]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(told("others against {first}", first=safe(first.label)))
    for title in (told("signals that differ"), told("worse")):
        table.add_column(title, justify="right")
    for pair in pairs:
        table.add_row(
            safe(comparison.groups[pair.second].label), str(_differing(pair)), str(len(pair.regressions) or "")
        )
    return Padding(Group(table, Text(told("--verbose tells each in full."), style="dim")), (1, 0, 0, 1))


def _table(comparison: Comparison, pair: Pair, differences: Sequence[Difference]) -> RenderableType:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    table.add_column(told("at the end"), overflow="fold", min_width=NARROWEST)
    for group in (pair.first, pair.second):
        head = " ".join(_shortened(word) for word in safe(_column(comparison, group)).split())
        table.add_column(head, min_width=max(map(cell_len, head.split()), default=0))
    table.add_column(told("difference, 95 %"), min_width=INTERVAL)
    places = ["" if d.parting is None else told(words.place(comparison, d.parting.at)) for d in differences]
    if any(places):
        table.add_column(told("apart from"), min_width=max(map(cell_len, places)))
    for each, place in zip(differences, places, strict=True):
        signal = comparison.signals[each.key]
        a, b = signal.levels[pair.first], signal.levels[pair.second]
        assert a is not None
        assert b is not None
        sign = words.mark(comparison, each)
        grave = STYLES["critical" if signal.outcome else "warning"]
        table.add_row(
            Text(sign, style={"▲": STYLES["healthy"], "▼": grave, "·": "dim"}[sign]),
            Text(safe(signal.metric)),
            f"{a.mean:.4g}",
            f"{b.mean:.4g}",
            words.interval(each.effect),
            *([place] if any(places) else []),
        )
    return table


def _shortened(word: str) -> str:
    """A word that heads a column: no wider than the numbers below it, which need the place, and never broken."""
    if len(word) <= WIDEST_HEAD:
        return word
    end = WIDEST_HEAD // 2
    return f"{word[: WIDEST_HEAD - end - 1]}…{word[-end:]}"


def _column(comparison: Comparison, group: int) -> str:
    """What heads a setting's column: its label, less the name of the setting where all labels begin with the same one."""
    label = comparison.groups[group].label
    alike = all(each.label.startswith(label.partition("=")[0] + "=") for each in comparison.groups)
    return label.partition("=")[2] if alike else label


def _same(comparison: Comparison, pair: Pair, same: Sequence[Difference], *, verbose: bool) -> RenderableType:
    outcomes = [d for d in same if comparison.signals[d.key].outcome]
    rest = [d for d in same if not comparison.signals[d.key].outcome]
    how = words.same_text(pair)
    lines = [
        Prose.assemble(
            ("= ", STYLES["info"]), f"{safe(comparison.signals[d.key].metric)}: {how} ({words.interval(d.effect)})"
        )
        for d in (outcomes if verbose else outcomes[:MOST_NAMED])
    ]
    if rest:
        lines.append(Prose(f"{words.heading(pair, len(rest))}: {_names(comparison, rest, verbose)}", style="dim"))
    return Group(*lines)


def _names(comparison: Comparison, differences: Sequence[Difference], verbose: bool) -> str:  # noqa: FBT001 - passed on
    return _first([comparison.signals[d.key].metric for d in differences], None if verbose else MOST_NAMED)


def _first(names: Sequence[str], most: int | None) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(safe(n) for n in names[:most])
    more = 0 if most is None else len(names) - most
    return told("{names} and {n} more", names=shown, n=more) if more > 0 else shown


def _one_setting(comparison: Comparison) -> RenderableType:
    """Seeds of one setting: how far they spread, which is the yardstick for everything else."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for title in words.spread_heads():
        table.add_column(title)
    for signal, found_level in words.spread(comparison)[:MOST_SIGNALS]:
        table.add_row(Text(safe(signal.metric)), *words.spread_cells(found_level))
    return Padding(Group(Text(told("Seeds of one setting spread so far"), style="bold underline"), table), (1, 0, 0, 1))


def _sweep(comparison: Comparison, *, verbose: bool) -> RenderableType:
    assert comparison.sweep is not None
    parts: list[RenderableType] = [Text(told("What the swept settings did"), style="bold underline")]
    shown = [i for i in comparison.sweep.influences if i.stands]
    parts += [Prose(told(words.influence(comparison, each))) for each in (shown if verbose else shown[:MOST_SIGNALS])]
    if not shown:
        parts.append(Text(words.nothing_stands(comparison.sweep), style="dim"))
    ends_best = words.best(comparison)
    if ends_best is not None:
        parts.append(Prose(told(ends_best)))
    parts += [Prose(told(words.together(names)), style="yellow") for names in comparison.sweep.together]
    return Padding(Group(*parts), (1, 0, 0, 1))


def _footer(comparison: Comparison, *, verbose: bool) -> RenderableType:
    lines = [words.grouped_text(comparison)]
    if comparison.only:
        names = _first(words.only_texts(comparison), None if verbose else MOST_ONLY)
        lines.append(told("Not in all ({n}): {names}", n=len(comparison.only), names=names))
    lines.append(told(words.method(comparison)))
    lines.append(told("Runs: {names}", names=_first(words.run_names(comparison), None if verbose else MOST_RUNS)))
    return Padding(Group(*(Prose(line, style="dim") for line in lines)), (1, 0, 0, 1))
