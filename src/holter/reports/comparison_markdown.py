"""A comparison as Markdown for pull requests: what is worse first, the rest in tables, long lists folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.compare import Verdict
from holter.language import listed, told
from holter.reports import comparison_words as words
from holter.reports.markdown import bullets, code, escaped
from holter.reports.terminal import MARKS
from holter.reports.words import not_read

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holter.compare import Comparison, Difference, Pair
    from holter.readers.base import Skipped

MOST_INFLUENCES = 20
"""Influences that are written out; the JSON has all."""


def markdown(comparison: Comparison, refused: Sequence[Skipped] = ()) -> str:
    """The whole comparison.

    Args:
        comparison: The comparison.
        refused: What could not be read.
    """
    gravest = "✗ " if words.is_worse(comparison) else ""
    parts = [f"# {gravest}{escaped(told(words.headline(comparison)))}", _groups(comparison)]
    if comparison.apart:
        parts.append(_settings(comparison))
    ends_best = words.best(comparison)
    if ends_best is not None:
        parts.append(escaped(told(ends_best)))
    for pair in comparison.pairs:
        parts += _pair(comparison, pair)
    if not comparison.pairs:
        rows = [[code(signal.metric), *words.spread_cells(level)] for signal, level in words.spread(comparison)]
        parts += [f"## {told('Seeds of one setting spread so far')}", _table(words.spread_heads(), rows, "lrrr")]
    if comparison.sweep is not None:
        parts += _sweep(comparison)
    parts.append(_footer(comparison, refused))
    return "\n\n".join(parts) + "\n"


def _groups(comparison: Comparison) -> str:
    rows = [
        [
            code(group.label),
            words.runs_text(len(group.runs)),
            f"{MARKS[words.worst(comparison, number)]} {words.statuses(comparison, number)}",
            ", ".join(map(code, words.found(comparison, number))),
        ]
        for number, group in enumerate(comparison.groups)
    ]
    return _table([told("setting"), told("runs"), told("verdict"), told("what was found")], rows, "llll")


def _settings(comparison: Comparison) -> str:
    rows = [
        [code(setting.name), *(_value(words.set_to(comparison, number, g)) for g in range(len(comparison.groups)))]
        for number, setting in enumerate(comparison.apart)
    ]
    heads = [told("setting"), *(code(g.label) for g in comparison.groups)]
    return f"## {told('Set otherwise')}\n\n{_table(heads, rows, 'l' * len(heads))}"


def _value(said: str) -> str:
    return code(said) if said else "–"


def _pair(comparison: Comparison, pair: Pair) -> Iterator[str]:
    first, second = comparison.groups[pair.first], comparison.groups[pair.second]
    yield "## " + told("{second} against {first}", second=code(second.label), first=code(first.label))
    if pair.regressions:
        yield f"### {told('Worse')}"
        yield bullets(f"✗ {escaped(told(r.says))}" for r in pair.regressions)
    if words.within(pair):
        yield words.one_run_each()
    differ = [d for d in pair.differences if d.effect.verdict in words.DIFFERS]
    if differ:
        heads = [
            "",
            told("at the end"),
            code(first.label),
            code(second.label),
            told("difference, 95 %"),
            told("apart from"),
        ]
        yield _table(heads, [_difference(comparison, pair, d) for d in differ], "llrrll")
    began = words.first_to_part(comparison, pair)
    if began is not None:
        yield escaped(told(began))
    same = [d for d in pair.differences if d.effect.verdict is Verdict.SAME]
    if same:
        yield _folded(words.heading(pair, len(same)), _intervals(comparison, same))
    unknown = [d for d in pair.differences if d.effect.verdict is Verdict.UNKNOWN]
    if unknown:
        names = ", ".join(code(comparison.signals[d.key].metric) for d in unknown)
        yield told("Too few rows to judge ({n}): {names}", n=len(unknown), names=names)


def _difference(comparison: Comparison, pair: Pair, difference: Difference) -> list[str]:
    signal = comparison.signals[difference.key]
    a, b = signal.levels[pair.first], signal.levels[pair.second]
    assert a is not None
    assert b is not None
    parting = difference.parting
    return [
        words.mark(comparison, difference),
        code(signal.metric),
        f"{a.mean:.4g}",
        f"{b.mean:.4g}",
        escaped(words.interval(difference.effect)),
        "" if parting is None else told(words.place(comparison, parting.at)),
    ]


def _intervals(comparison: Comparison, differences: Sequence[Difference]) -> str:
    return bullets(
        f"{code(comparison.signals[d.key].metric)}: {escaped(words.interval(d.effect))}" for d in differences
    )


def _sweep(comparison: Comparison) -> Iterator[str]:
    assert comparison.sweep is not None
    yield f"## {told('What the swept settings did')}"
    stands = [i for i in comparison.sweep.influences if i.stands]
    lines = [escaped(told(words.influence(comparison, i))) for i in stands[:MOST_INFLUENCES]]
    yield bullets(lines or [words.nothing_stands(comparison.sweep)])
    if comparison.sweep.together:
        yield bullets(escaped(told(words.together(names))) for names in comparison.sweep.together)


def _footer(comparison: Comparison, refused: Sequence[Skipped]) -> str:
    lines = [words.grouped_text(comparison), told(words.method(comparison))]
    if comparison.only:
        names = told(listed(words.only_texts(comparison), "; "))
        lines.append(told("Not in all ({n}): {names}", n=len(comparison.only), names=names))
    lines.append(told("Runs: {names}", names=", ".join(words.run_names(comparison))))
    lines += [told("Not read: {what}", what=told(not_read(r))) for r in refused]
    return _folded(told("How this was compared"), bullets(escaped(line) for line in lines))


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    rule = "|".join("---:" if side == "r" else "---" for side in sides)
    return "\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])
