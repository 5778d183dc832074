"""The diagnosis in the terminal: verdict first, then phases, findings with a sparkline, advice."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from holter.findings.diagnosis.phases import span_text
from holter.findings.diagnosis.verdict import WORDS
from holter.findings.finding import Severity, step_text
from holter.reports.safe_text import safe
from holter.reports.sparkline import bin_of, sparkline
from holter.signals.catalog import concepts

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from rich.console import Console, RenderableType

    from holter.findings.diagnosis import Diagnosis, Story
    from holter.findings.finding import Evidence, Finding
    from holter.readers.base import Skipped

STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "healthy": "green", "cannot-tell": "magenta"}
MARKS = {"critical": "✗", "warning": "!", "info": "i", "healthy": "✓", "cannot-tell": "?"}
SPARK = 32
QUOTED = 6
"""Values of one piece of evidence that are printed; the JSON has all."""


def print_diagnoses(
    console: Console, diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped], *, verbose: bool
) -> None:
    """Print each run's diagnosis, then what could not be read."""
    for number, diagnosis in enumerate(diagnoses):
        if number:
            console.print()
        console.print(render(diagnosis, verbose=verbose))
    if refused:
        console.print()
        console.print(Text(f"Not read ({len(refused)}):", style="bold"))
        for each in refused if verbose else refused[:5]:
            console.print(Text(f"  {safe(str(each))}", style="dim"))
        if not verbose and len(refused) > 5:
            console.print(Text(f"  and {len(refused) - 5} more; --verbose shows them all", style="dim"))


def render(diagnosis: Diagnosis, *, verbose: bool = False) -> RenderableType:
    """One run's diagnosis."""
    parts: list[RenderableType] = [_header(diagnosis)]
    if len(diagnosis.phases) > 1 or diagnosis.verdict.status in ("healthy", "info"):
        parts.append(_phases(diagnosis))
    parts += [_story(diagnosis, s, verbose=verbose) for s in diagnosis.stories if s.severity >= Severity.WARNING]
    parts += _asides(diagnosis, verbose=verbose)
    if diagnosis.advice:
        parts.append(_advice(diagnosis))
    parts.append(_footer(diagnosis, verbose=verbose))
    return Group(*parts)


def _header(diagnosis: Diagnosis) -> Panel:
    run, verdict = diagnosis.run, diagnosis.verdict
    body = Text(safe(verdict.title), style=STYLES[verdict.status])
    body.append(f"\n{safe(verdict.text)}", style="default not bold")
    if diagnosis.last_good_step is not None:
        body.append(f"\nLast good step: {step_text(diagnosis.last_good_step)}.", style="default not bold")
    rows = f"{len(run)} rows" if len(run) != 1 else "1 row"
    span = f", {span_text(float(run.steps[0]), float(run.steps[-1]))}" if len(run) else ""
    title = Text(f" {MARKS[verdict.status]} {verdict.status.upper()} ", style=STYLES[verdict.status])
    about = f"{safe(run.name)} · {run.dialect} · {rows}{span}"
    return Panel(body, title=title, title_align="left", subtitle=Text(about, style="dim"), subtitle_align="left")


def _phases(diagnosis: Diagnosis) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for phase in diagnosis.phases:
        style = STYLES[phase.status]
        table.add_row(
            Text(MARKS[phase.status], style=style),
            Text(span_text(phase.first_step, phase.last_step), style="bold", no_wrap=True),
            Text(f"{'healthy: ' if phase.status == 'healthy' else ''}{safe(phase.title)}"),
        )
    return Padding(Group(Text("Phases", style="bold underline"), table), (1, 0, 0, 1))


def _story(diagnosis: Diagnosis, story: Story, *, verbose: bool) -> RenderableType:
    finding = story.root
    style = STYLES[str(finding.severity)]
    head = Text(f"{MARKS[str(finding.severity)]} ", style=style)
    head.append(finding.detector, style=f"bold {style}")
    when = span_text(finding.first_step, finding.last_step)
    head.append(
        f"  {when}{'' if finding.active else ', over'} · {WORDS[finding.confidence]} · {finding.code}", style="dim"
    )
    parts: list[RenderableType] = [head, Padding(Text(safe(finding.title)), (0, 0, 0, 2)), _strips(diagnosis, finding)]
    if verbose:
        parts.append(_evidence(finding.evidence))
    notes = Table.grid(padding=(0, 1))
    for each in story.consequences:
        said = Text.assemble(
            (each.detector, STYLES[str(each.severity)]), f" from step {step_text(each.first_step)}: {safe(each.title)}"
        )
        notes.add_row(
            Text("  └ then", style="dim", no_wrap=True), Group(said, _evidence(each.evidence)) if verbose else said
        )
    for against in finding.against:
        notes.add_row(Text("  against", style="dim", no_wrap=True), Text(safe(against), style="dim"))
    for other in finding.alternatives:
        text = f"{safe(other.says)} (to tell: {safe(other.check)})"
        notes.add_row(Text("  or", style="dim", no_wrap=True), Text(text, style="dim italic"))
    parts.append(notes)
    return Padding(Group(*parts), (1, 0, 0, 1))


def _strips(diagnosis: Diagnosis, finding: Finding) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for metric in finding.metrics[:4]:
        series = next((s for s in diagnosis.run.series.values() if s.metric == metric), None)
        if series is None or len(series) < 2:
            continue
        line = Text(sparkline(series.values, SPARK))
        start = int((series.steps < finding.first_step).sum())
        line.stylize("dim", 0, bin_of(min(start, len(series) - 1), len(series), SPARK))
        line.stylize(STYLES[str(finding.severity)], bin_of(min(start, len(series) - 1), len(series), SPARK))
        table.add_row(
            Text(safe(metric), style="dim"),
            line,
            Text(f"{series.values[0]:.4g} → {series.values[-1]:.4g}", style="dim"),
        )
    return Padding(table, (0, 0, 0, 2))


def _evidence(evidence: Iterable[Evidence]) -> RenderableType:
    lines = []
    for each in evidence:
        pairs = [f"{step_text(s)}: {v:.4g}" for s, v in zip(each.steps, each.values, strict=True)]
        quoted = ", ".join(pairs[:QUOTED]) + (f", … ({len(pairs)} values)" if len(pairs) > QUOTED else "")
        lines.append(Text(f"  {safe(each.metric)} [{each.unit}] {quoted}: {safe(each.says)}", style="dim"))
    return Group(*lines)


def _asides(diagnosis: Diagnosis, *, verbose: bool) -> list[RenderableType]:
    """Findings of severity info: worth knowing, never an alarm."""
    told = {id(f) for s in diagnosis.stories if s.severity >= Severity.WARNING for f in s.members}
    asides = [f for f in diagnosis.findings if f.severity is Severity.INFO and id(f) not in told]
    if not asides:
        return []
    lines: list[RenderableType] = [Text("Worth knowing", style="bold underline")]
    shown = asides if verbose else asides[:4]
    lines += [Text.assemble(("i ", STYLES["info"]), (f"{f.detector}: ", "bold"), safe(f.title)) for f in shown]
    if not verbose and len(asides) > 4:
        lines.append(Text(f"  and {len(asides) - 4} more; --verbose shows them", style="dim"))
    return [Padding(Group(*lines), (1, 0, 0, 1))]


def _advice(diagnosis: Diagnosis) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for number, advice in enumerate(diagnosis.advice, start=1):
        table.add_row(Text(f"{number}.", style="bold"), Text(safe(advice)))
    return Padding(Group(Text("What to try, in this order", style="bold underline"), table), (1, 0, 0, 1))


def _wanting(diagnosis: Diagnosis) -> str:
    """The signals whose absence keeps most detectors from looking."""
    missing = Counter(concept for u in diagnosis.unchecked for concept in u.missing)
    known = concepts()
    wanted = [
        f"{known[c][0].phrase} ({n})" for c, n in missing.most_common() if c in known and diagnosis.run.get(c) is None
    ]
    return f"; most for want of {', '.join(wanted[:4])}" if wanted else ""


def _footer(diagnosis: Diagnosis, *, verbose: bool) -> RenderableType:
    run = diagnosis.run
    lines: list[RenderableType] = []
    if diagnosis.unchecked:
        names = sorted({u.detector for u in diagnosis.unchecked})
        if verbose:
            lines.append(Text("Not checked", style="bold underline"))
            lines += [Text(f"- {u.detector}: {safe(u.why)}", style="dim") for u in diagnosis.unchecked]
        else:
            lines.append(
                Text(
                    f"Not checked: {len(names)} detectors{_wanting(diagnosis)}. --verbose says which and why.",
                    style="dim",
                )
            )
    lines += [Text(f"Ignored: {n} ({safe(r)})", style="dim") for n, r in diagnosis.ignored.items()]
    if run.unknown:
        names = [safe(n) for n in run.unknown]
        more = f" and {len(names) - 8} more" if len(names) > 8 and not verbose else ""
        lines.append(
            Text(f"Not understood ({len(names)}): {', '.join(names if verbose else names[:8])}{more}", style="dim")
        )
    lines += [Text(f"Note: {safe(n)}", style="dim") for n in run.notes]
    lines += [Text(f"Skipped: {safe(str(s))}", style="dim") for s in (run.skipped if verbose else run.skipped[:3])]
    if not verbose and len(run.skipped) > 3:
        lines.append(Text(f"Skipped: {len(run.skipped) - 3} more; --verbose shows them", style="dim"))
    lines.append(Text(f"Step axis: {safe(run.step_axis)}", style="dim"))
    return Padding(Group(*lines), (1, 0, 0, 1))
