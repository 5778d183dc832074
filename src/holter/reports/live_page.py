"""The page of ``holter watch``: vital signs as strips, what is wrong now, what changed, whether rows still come."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from rich.console import Group
from rich.table import Table
from rich.text import Text

from holter.findings.diagnosis.phases import span_text
from holter.findings.finding import Severity, step_text
from holter.reports.safe_text import safe
from holter.reports.sparkline import sparkline
from holter.reports.terminal import MARKS, STYLES
from holter.runs.run import Split

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from holter.findings.diagnosis import Diagnosis
    from holter.runs.run import Series

VITAL = (
    *("reward", "eval_score", "ref_kl", "policy_kl", "entropy", "length", "truncation", "clip_fraction"),
    *("policy_loss", "total_loss", "value_loss", "grad_norm"),
)
"""Concepts that are shown where they are logged, in this order."""
STRIP = 40
SEVERITY = {"cannot-tell": 0, "healthy": 0, "info": 1, "warning": 2, "critical": 3}


def page(
    diagnoses: Sequence[Diagnosis], news: Sequence[str], pulse: str, *, height: int | None = None
) -> RenderableType:
    """The page.

    Args:
        diagnoses: One a run; several get a line each, and the gravest one the page.
        news: What changed, oldest first.
        pulse: When rows came, in words.
        height: Lines there are; what matters less is cut. None for all.
    """
    if not diagnoses:
        return Group(Text(safe(pulse), style="dim"))
    worst = max(diagnoses, key=lambda d: SEVERITY[d.verdict.status])
    lines: list[RenderableType] = []
    if len(diagnoses) > 1:
        lines += [_head(d) for d in diagnoses]
        lines.append(Text())
    lines += [_head(worst), Text(f"  {_about(worst)}", style="dim"), Text(f"  {safe(pulse)}", style="dim"), Text()]
    wrong = _wrong(worst)
    recent = [Text(f"  {safe(line)}", no_wrap=True, overflow="ellipsis") for line in news[-5:]]
    strips = _strips(worst)
    tail = [*wrong, *([Text("Changed", style="bold underline"), *recent] if recent else [])]
    room = len(strips) if height is None else max(0, height - len(lines) - len(tail) - 3)
    lines += [Text("Vital signs", style="bold underline"), _table(strips[:room]), Text()] if strips[:room] else []
    return Group(*(lines + tail)[: height or None])


def _head(diagnosis: Diagnosis) -> Text:
    verdict = diagnosis.verdict
    style = STYLES[verdict.status]
    return Text.assemble(
        (f"{MARKS[verdict.status]} {verdict.status.upper()}  ", style),
        (safe(diagnosis.run.name), "bold"),
        f"  {safe(verdict.title)}",
        no_wrap=True,
        overflow="ellipsis",
    )


def _about(diagnosis: Diagnosis) -> str:
    run = diagnosis.run
    rows = (
        f"{len(run)} row{'s' * (len(run) != 1)}, {span_text(float(run.steps[0]), float(run.steps[-1]))}"
        if len(run)
        else "no row"
    )
    good = diagnosis.last_good_step
    return f"{run.dialect} · {rows}" + (f" · last good step {step_text(good)}" if good is not None else "")


def _strips(diagnosis: Diagnosis) -> list[Series]:
    run = diagnosis.run
    found = [run.get(concept) or run.get(concept, Split.EVAL) for concept in VITAL]
    return [s for s in found if s is not None and len(s)]


def _table(strips: Sequence[Series]) -> Table:
    table = Table.grid(padding=(0, 1))
    table.add_column(no_wrap=True, overflow="ellipsis", max_width=26)
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    for series in strips:
        newest = float(series.values[-1])
        style = "" if np.isfinite(newest) else STYLES["critical"]
        table.add_row(f"  {safe(series.metric)}", Text(sparkline(series.values, STRIP), style=style), f"{newest:.4g}")
    return table


def _wrong(diagnosis: Diagnosis) -> list[Text]:
    hot = [s for s in diagnosis.stories if s.severity >= Severity.WARNING and s.active]
    if not hot:
        return [Text("Nothing is wrong now, as far as this log shows.", style=STYLES["healthy"]), Text()]
    out = [Text("Wrong now", style="bold underline")]
    for story in hot:
        f = story.root
        style = STYLES[str(story.severity)]
        said = Text.assemble(
            (f"{MARKS[str(story.severity)]} {f.detector}", style),
            f" since step {step_text(f.first_step)}: {safe(f.title)}",
        )
        said.no_wrap, said.overflow = True, "ellipsis"
        out.append(said)
        if story.consequences:
            names = ", ".join(dict.fromkeys(c.detector for c in story.consequences))
            out.append(Text(f"  └ then {names}", style="dim", no_wrap=True, overflow="ellipsis"))
    return [*out, Text()]
