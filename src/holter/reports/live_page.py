"""The page of ``holter watch``: what is wrong now, what changed, vital signs as strips, whether rows still come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console, Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from holter.findings.finding import Finding, Severity, step_text
from holter.language import said, told
from holter.reports.html.vital_signs import VITAL_SIGNS
from holter.reports.prose import Prose
from holter.reports.safe_text import safe
from holter.reports.sparkline import bin_of, sparkline
from holter.reports.terminal import MARKS, STYLES, verdict_lines
from holter.reports.words import duration, extent
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from holter.findings.diagnosis import Diagnosis, Story
    from holter.runs.run import Series

NAME, WIDEST, NARROWEST = 28, 160, 10
"""Columns of a strip's name, and the most and the least of a strip."""
NEWS = 3
"""Changes that are shown, the newest first."""
SEVERITY = {"cannot-tell": 0, "healthy": 0, "info": 1, "warning": 2, "critical": 3}
HELP = (
    ("q, Ctrl-C", said("leave; the run is not touched")),
    (said("j k, arrows"), said("scroll by a line")),
    (said("space b, Page keys"), said("scroll by a page")),
    ("g G, Home End", said("to the beginning, to the end")),
    ("Tab", said("the next run, where there are several")),
    ("?", said("this page, and back")),
)
LEGEND = (
    said(
        "A strip is a metric from its first value to its newest. Each character shows the value farthest from the median of "
        "its rows, so that a spike is never averaged away; × is a value that is not finite. What a finding rests on has its "
        "colour."
    ),
    said("`holter explain NAME` says more of a metric or a finding, `holter check LOG` gives evidence and advice."),
)


def gravest(diagnoses: Sequence[Diagnosis]) -> int:
    """Position of the run that is worst off; the first of several."""
    return max(range(len(diagnoses)), key=lambda i: (SEVERITY[diagnoses[i].verdict.status], -i))


def head(diagnoses: Sequence[Diagnosis], shown: int, pulses: Sequence[str], trouble: str = "") -> RenderableType:
    """The lines above what scrolls: the verdict on every run, and more of the run that is shown.

    Args:
        diagnoses: One a run.
        shown: Position of the run that the page shows.
        pulses: Signs of life of each run, in words.
        trouble: Why the logs could not be read now.
    """
    lines: list[RenderableType] = []
    if trouble:
        lines.append(Prose(safe(told(trouble)), style=STYLES["warning"]))
    if diagnoses:
        marks = ["▸ " if i == shown else "  " for i in range(len(diagnoses))] if len(diagnoses) > 1 else []
        lines += verdict_lines(diagnoses, marks)
        lines += [_line(f"  {_about(diagnoses[shown])}", "dim"), _line(f"  {safe(told(pulses[shown]))}", "dim")]
    return Group(*lines)


def body(diagnosis: Diagnosis, news: Sequence[str], width: int, lifeless: Finding | None = None) -> RenderableType:
    """What scrolls.

    Args:
        diagnosis: The run that is shown.
        news: What changed, oldest first.
        width: Columns there are.
        lifeless: The finding that rows no longer come, where they do not.
    """
    return Group(*_wrong(diagnosis, lifeless), *_changed(news), *_strips(diagnosis, width))


def help_page() -> RenderableType:
    """Keys, and how to read a strip."""
    table = Table.grid(padding=(0, 3))
    for keys, what in HELP:
        table.add_row(f"  {told(keys)}", told(what))
    legend = (Padding(Prose(told(paragraph)), (1, 2, 0, 2)) for paragraph in LEGEND)
    return Group(Text(told("Keys"), style="bold underline"), table, *legend)


def page(
    diagnoses: Sequence[Diagnosis], news: Sequence[str], pulses: Sequence[str], width: int, trouble: str = ""
) -> RenderableType:
    """The whole page on the run that is worst off, for a terminal that is not taken over."""
    if not diagnoses:
        return head((), 0, (), trouble)
    shown = gravest(diagnoses)
    return Group(head(diagnoses, shown, pulses, trouble), Text(), body(diagnoses[shown], news, width))


def lines_of(console: Console, renderable: RenderableType) -> list[str]:
    """The lines of something that can be printed, with their colours, no wider than the console."""
    with console.capture() as capture:
        console.print(renderable)
    return capture.get().splitlines()


def _line(content: str, style: str = "") -> Text:
    return Text(content, style=style, no_wrap=True, overflow="ellipsis")


def _about(diagnosis: Diagnosis) -> str:
    run, good = diagnosis.run, diagnosis.last_good_step
    parts = [run.dialect, told(extent(run)) if len(run) else told("no row")]
    if good is not None:
        parts.append(told("last good step {step}", step=step_text(good)))
    return " · ".join(parts)


def _wrong(diagnosis: Diagnosis, lifeless: Finding | None) -> Iterator[RenderableType]:
    hot = [s for s in diagnosis.stories if s.severity >= Severity.WARNING and s.active]
    if not hot and lifeless is None:
        yield Text(told("Nothing is wrong now, as far as this log shows."), style=STYLES["healthy"])
        yield Text()
        return
    yield Text(told("Wrong now"), style="bold underline")
    if lifeless is not None:
        yield _finding(lifeless, lifeless.severity)
    for story in hot:
        yield from _story(story)
    advice = lifeless.advice if lifeless is not None else diagnosis.advice
    if advice:
        yield Padding(Prose(f"→ {safe(told(advice[0]))}"), (0, 0, 0, 2))
    yield Text()


def _story(story: Story) -> Iterator[RenderableType]:
    yield _finding(story.root, story.severity)
    if story.consequences:
        names = ", ".join(dict.fromkeys(c.detector for c in story.consequences))
        yield Padding(Prose(f"└ {told('then {names}', names=names)}", style="dim"), (0, 0, 0, 2))


def _finding(f: Finding, severity: Severity) -> RenderableType:
    """Mark in the margin, so that a title of several lines stays one block."""
    table = Table.grid(padding=(0, 1))
    table.add_column(width=1)
    table.add_column()
    style = STYLES[str(severity)]
    what = safe(told(f.title))
    since = (
        told("since step {step}: {what}", step=step_text(f.first_step), what=what)
        if f.active
        else told("{when}: {what}", when=duration(f), what=what)
    )
    table.add_row(Text(MARKS[str(severity)], style=style), Prose.assemble((f.detector, style), f" {since}"))
    return table


def _changed(news: Sequence[str]) -> Iterator[RenderableType]:
    if news:
        yield Text(told("Changed"), style="bold underline")
        yield from (_line(f"  {safe(line)}") for line in reversed(news[-NEWS:]))
        yield Text()


def _strips(diagnosis: Diagnosis, width: int) -> Iterator[RenderableType]:
    run = diagnosis.run
    found = [run.get(concept) or run.get(concept, Split.EVAL) for sign in VITAL_SIGNS for concept in sign.brief]
    strips = [s for s in found if s is not None and len(s)]
    if not strips:
        return
    yield Text(told("Vital signs"), style="bold underline")
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=NAME)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    wide = max(NARROWEST, min(WIDEST, width - NAME - 14))
    for series in strips:
        newest = float(series.values[-1])
        table.add_row(
            f"  {safe(series.metric)}",
            _strip(series, diagnosis, wide),
            Text(f"{newest:.4g}", style="" if np.isfinite(newest) else STYLES["critical"]),
        )
    yield table


def _strip(series: Series, diagnosis: Diagnosis, width: int) -> Text:
    """The series as a line; where a finding that matters rests on it, in the finding's colour."""
    line = Text(sparkline(series.values, width))
    matter = [f for f in diagnosis.findings if f.severity >= Severity.WARNING and series.metric in f.metrics]
    for f in sorted(matter, key=lambda f: f.severity):
        first, end = np.searchsorted(series.steps, [f.first_step, f.last_step], side="left").tolist()
        last = min(end, len(series) - 1)
        if first <= last:
            line.stylize(
                STYLES[str(f.severity)],
                bin_of(first, len(series), width),
                bin_of(last, len(series), width) + 1,
            )
    return line
