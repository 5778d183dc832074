"""Runs beside each other in the terminal: what was set otherwise, what came out otherwise, where it began."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.cells import cell_len, chop_cells
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
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

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
METRIC, BETWEEN = 1, 4
"""Columns of the table of differences that can be narrower than what stands in them."""
GAP = 2
"""Blanks between columns."""
PIECES = re.compile(r"[^/_.-]*[/_.-]|[^/_.-]+")
"""Pieces of a metric's name, each with the mark behind it."""


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
            Text(_says(words.statuses(comparison, number), names) if names else words.statuses(comparison, number)),
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
        parts.append(_Differences(comparison, pair, differ if verbose else differ[:MOST_SIGNALS]))
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


@dataclass(frozen=True)
class _Differences:
    """What differs between two settings: a table, or where the terminal is too narrow for one, sentences."""

    comparison: Comparison
    pair: Pair
    differences: Sequence[Difference]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """As `rich` asks for it, which knows how wide it may be. A table that is too wide would be cut through its numbers."""
        rows = [self._row(each) for each in self.differences]
        labels = self._labels()
        heads = ["", told("at the end"), *labels, told("difference, 95 %"), told("apart from")]
        shown = len(heads) if any(row[-1].plain for row in rows) else len(heads) - 1
        columns = [
            _widest([*(head.split() if head in labels else [head]), *cells])
            for head, *cells in zip(heads[:shown], *rows, strict=False)
        ]
        metric, interval = columns[METRIC], columns[BETWEEN]
        room = options.max_width - sum(columns) - GAP * (shown - 1) + metric + interval
        columns[BETWEEN] = interval if room - interval >= min(metric, NARROWEST) else min(interval, INTERVAL)
        columns[METRIC] = min(metric, room - columns[BETWEEN])
        if columns[METRIC] < min(metric, NARROWEST):
            yield from map(_sentence, rows)
            return
        table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="dim")
        for head, width in zip(heads, columns, strict=False):
            table.add_column(head, width=width)
        for row in rows:
            row[METRIC] = Text(in_lines(row[METRIC].plain, columns[METRIC]))
            table.add_row(*row[:shown])
        yield table

    def _labels(self) -> list[str]:
        labels = [safe(_column(self.comparison, group)) for group in (self.pair.first, self.pair.second)]
        return [" ".join(map(_shortened, label.split())) for label in labels]

    def _row(self, difference: Difference) -> list[Text]:
        """Sign, metric, level of the first and of the second, their difference, where they part."""
        signal = self.comparison.signals[difference.key]
        a, b = signal.levels[self.pair.first], signal.levels[self.pair.second]
        assert a is not None
        assert b is not None
        sign = words.mark(self.comparison, difference)
        grave = STYLES["critical" if signal.outcome else "warning"]
        parting = difference.parting
        cells = (
            safe(signal.metric),
            f"{a.mean:.4g}",
            f"{b.mean:.4g}",
            words.interval(difference.effect),
            "" if parting is None else told(words.place(self.comparison, parting.at)),
        )
        return [Text(sign, style={"▲": STYLES["healthy"], "▼": grave, "·": "dim"}[sign]), *map(Text, cells)]


def _sentence(row: Sequence[Text]) -> Text:
    sign, metric, first, second, interval, place = row
    where = f", {told('apart from {place}', place=place.plain)}" if place.plain else ""
    return Prose.assemble(sign, " ", _says(metric.plain, f"{first} → {second}, {interval}{where}"))


def _says(what: str, says: str) -> str:
    return told("{what}: {says}", what=what, says=says)


def _widest(cells: Iterable[str | Text]) -> int:
    return max(cell_len(str(cell)) for cell in cells)


def in_lines(name: str, columns: int) -> str:
    """A metric's name in lines of so many columns: broken behind its marks where it can be, anywhere where it cannot."""
    lines = [""]
    for part in (part for piece in PIECES.findall(name) for part in chop_cells(piece, columns)):
        if lines[-1] and cell_len(lines[-1] + part) > columns:
            lines.append("")
        lines[-1] += part
    return "\n".join(lines)


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
            ("= ", STYLES["info"]), _says(safe(comparison.signals[d.key].metric), f"{how} ({words.interval(d.effect)})")
        )
        for d in (outcomes if verbose else outcomes[:MOST_NAMED])
    ]
    if rest:
        lines.append(Prose(_says(words.heading(pair, len(rest)), _names(comparison, rest, verbose)), style="dim"))
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
