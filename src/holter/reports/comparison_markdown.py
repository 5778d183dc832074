"""A comparison as Markdown for pull requests: what is worse first, the rest in tables, long lists folded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.compare import Verdict
from holter.language import text
from holter.reports.comparison_words import (
    DIFFERS,
    NOTHING_STANDS,
    ONE_RUN_EACH,
    best,
    first_to_part,
    found,
    grouped_text,
    headline,
    influence,
    interval,
    is_worse,
    mark,
    method,
    only_texts,
    place,
    run_names,
    runs_text,
    same_text,
    set_to,
    spread,
    spread_cells,
    spread_heads,
    statuses,
    together,
    within,
    worst,
)
from holter.reports.markdown import code, escaped
from holter.reports.terminal import MARKS

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
    gravest = "✗ " if is_worse(comparison) else ""
    parts = [f"# {gravest}{escaped(headline(comparison).said_by(text))}", _groups(comparison)]
    if comparison.apart:
        parts.append(_settings(comparison))
    ends_best = best(comparison)
    if ends_best is not None:
        parts.append(escaped(ends_best.said_by(text)))
    for pair in comparison.pairs:
        parts += _pair(comparison, pair)
    if not comparison.pairs:
        rows = [[code(signal.metric), *spread_cells(level)] for signal, level in spread(comparison)]
        parts += [f"## {text('Seeds of one setting spread so far')}", _table(spread_heads(), rows, "lrrr")]
    if comparison.sweep is not None:
        parts += _sweep(comparison)
    parts.append(_footer(comparison, refused))
    return "\n\n".join(parts) + "\n"


def _groups(comparison: Comparison) -> str:
    rows = [
        [
            code(group.label),
            runs_text(len(group.runs)),
            f"{MARKS[worst(comparison, number)]} {statuses(comparison, number)}",
            ", ".join(map(code, found(comparison, number))),
        ]
        for number, group in enumerate(comparison.groups)
    ]
    return _table([text("setting"), text("runs"), text("verdict"), text("what was found")], rows, "llll")


def _settings(comparison: Comparison) -> str:
    rows = [
        [code(setting.name), *(_value(set_to(comparison, number, g)) for g in range(len(comparison.groups)))]
        for number, setting in enumerate(comparison.apart)
    ]
    heads = [text("setting"), *(code(g.label) for g in comparison.groups)]
    return f"## {text('Set otherwise')}\n\n{_table(heads, rows, 'l' * len(heads))}"


def _value(said: str) -> str:
    return code(said) if said else "–"


def _pair(comparison: Comparison, pair: Pair) -> Iterator[str]:
    first, second = comparison.groups[pair.first], comparison.groups[pair.second]
    yield "## " + text("{second} against {first}").format(second=code(second.label), first=code(first.label))
    if pair.regressions:
        yield f"### {text('Worse')}"
        yield _list(f"✗ {escaped(r.sentence.said_by(text))}" for r in pair.regressions)
    if within(pair):
        yield text(ONE_RUN_EACH)
    differ = [d for d in pair.differences if d.effect.verdict in DIFFERS]
    if differ:
        heads = [
            "",
            text("at the end"),
            code(first.label),
            code(second.label),
            text("difference, 95 %"),
            text("apart from"),
        ]
        yield _table(heads, [_difference(comparison, pair, d) for d in differ], "llrrll")
    began = first_to_part(comparison, pair)
    if began is not None:
        yield escaped(began.said_by(text))
    same = [d for d in pair.differences if d.effect.verdict is Verdict.SAME]
    if same:
        how = same_text(pair)
        yield _folded(f"{how[:1].upper()}{how[1:]} ({len(same)})", _intervals(comparison, same))
    unknown = [d for d in pair.differences if d.effect.verdict is Verdict.UNKNOWN]
    if unknown:
        names = ", ".join(code(comparison.signals[d.key].metric) for d in unknown)
        yield text("Too few rows to judge ({n}): {names}").format(n=len(unknown), names=names)


def _difference(comparison: Comparison, pair: Pair, difference: Difference) -> list[str]:
    signal = comparison.signals[difference.key]
    a, b = signal.levels[pair.first], signal.levels[pair.second]
    assert a is not None
    assert b is not None
    parting = difference.parting
    return [
        mark(comparison, difference),
        code(signal.metric),
        f"{a.mean:.4g}",
        f"{b.mean:.4g}",
        escaped(interval(difference.effect)),
        "" if parting is None else place(comparison, parting.at).said_by(text),
    ]


def _intervals(comparison: Comparison, differences: Sequence[Difference]) -> str:
    return _list(f"{code(comparison.signals[d.key].metric)}: {escaped(interval(d.effect))}" for d in differences)


def _sweep(comparison: Comparison) -> Iterator[str]:
    assert comparison.sweep is not None
    yield f"## {text('What the swept settings did')}"
    stands = [i for i in comparison.sweep.influences if i.stands]
    lines = [escaped(influence(comparison, i).said_by(text)) for i in stands[:MOST_INFLUENCES]]
    yield _list(lines or [text(NOTHING_STANDS)])
    if comparison.sweep.together:
        yield _list(escaped(together(names).said_by(text)) for names in comparison.sweep.together)


def _footer(comparison: Comparison, refused: Sequence[Skipped]) -> str:
    lines = [grouped_text(comparison), method(comparison).said_by(text)]
    lines += (
        [text("Not in all ({n}): {names}").format(n=len(comparison.only), names="; ".join(only_texts(comparison)))]
        if comparison.only
        else []
    )
    lines.append(text("Runs: {names}").format(names=", ".join(run_names(comparison))))
    lines += [text("Not read: {what}").format(what=str(r)) for r in refused]
    return _folded(text("How this was compared"), _list(escaped(line) for line in lines))


def _folded(summary: str, body: str) -> str:
    return f"<details><summary>{summary}</summary>\n\n{body}\n\n</details>"


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], sides: str) -> str:
    rule = "|".join("---:" if side == "r" else "---" for side in sides)
    return "\n".join([f"| {' | '.join(heads)} |", f"|{rule}|", *(f"| {' | '.join(row)} |" for row in rows)])


def _list(lines: Iterable[str]) -> str:
    return "\n".join(f"- {line}" for line in lines)
