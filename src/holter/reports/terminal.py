"""The diagnosis in the terminal: verdict first, then phases, findings with a sparkline, advice."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import repeat
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.console import Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from holter.findings.diagnosis.phases import span_text
from holter.findings.diagnosis.verdict import WORDS
from holter.findings.finding import Severity, step_text
from holter.language import Said, listed, phrase, said, told
from holter.reports.prose import Prose
from holter.reports.safe_text import safe
from holter.reports.sparkline import bin_of, sparkline
from holter.reports.words import duration, extent, not_read, status_head
from holter.signals.catalog import concepts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import Console, ConsoleOptions, RenderableType

    from holter.findings.diagnosis import Diagnosis, Phase, Story
    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Series

STYLES = {"critical": "bold red", "warning": "yellow", "info": "cyan", "healthy": "green", "cannot-tell": "magenta"}
MARKS = {"critical": "✗", "warning": "!", "info": "i", "healthy": "✓", "cannot-tell": "?"}
SPARK, LEAST_SPARK = 32, 8
"""Columns of a sparkline, and the fewest where there is little room."""
MOST_STRIPS = 4
"""Metrics of a finding that are drawn."""
GAPS = 2
"""Columns between its name, itself and its ends."""
LEAST_NAME = 28
"""Columns of a run's name that stay beside its verdict."""
EDGES = 6
"""Columns of a box's edge that say nothing: two corners and two blanks, with a dash beside each corner."""
MOST_NAMES = 8
"""Names that were not understood that are printed."""
QUOTED = 6
"""Values of one piece of evidence that are printed; the JSON has all."""


def print_diagnoses(console: Console, diagnoses: Sequence[Diagnosis], *, verbose: bool) -> None:
    """Print each run's diagnosis, and below those of several the verdicts together."""
    for number, diagnosis in enumerate(diagnoses):
        if number:
            console.print()
        console.print(render(diagnosis, verbose=verbose))
    if len(diagnoses) > 1:
        title = Text(told("{n} runs", n=len(diagnoses)), style="bold underline")
        console.print(Padding(Group(title, *verdict_lines(diagnoses)), (1, 0, 0, 1)))


def render(diagnosis: Diagnosis, *, verbose: bool = False) -> RenderableType:
    """One run's diagnosis."""
    parts: list[RenderableType] = [_Header(diagnosis)]
    if len(diagnosis.phases) > 1 or diagnosis.verdict.status in ("healthy", "info"):
        parts.append(_phases(diagnosis))
    parts += [_story(diagnosis, s, verbose=verbose) for s in diagnosis.stories if s.severity >= Severity.WARNING]
    parts += _asides(diagnosis, verbose=verbose)
    if diagnosis.advice:
        parts.append(_advice(diagnosis))
    parts.append(_footer(diagnosis, verbose=verbose))
    return Group(*parts)


@dataclass(frozen=True)
class _Header:
    """The verdict in a box. Its lower edge says which run it is of; of a path that is too long for it, only the end."""

    diagnosis: Diagnosis

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """As `rich` asks for it, which knows how wide it may be."""
        run = self.diagnosis.run
        about = f" · {run.dialect} · {told(extent(run))}"
        name = end_of(safe(run.name), options.max_width - EDGES - cell_len(about))
        yield _panel(self.diagnosis, name + about)


def end_of(name: str, columns: int) -> str:
    """The end of a name that is wider than so many columns; of a path, whole parts where two of them fit."""
    if cell_len(name) <= columns:
        return name
    while name and cell_len(name) >= columns:
        name = name[1:]
    whole = name[max(name.find("/"), 0) :]
    return f"…{whole if whole.count('/') > 1 else name}"


def verdict_lines(diagnoses: Sequence[Diagnosis], marks: Sequence[str] = ()) -> list[RenderableType]:
    """The runs and their verdicts, one under the other, each behind a mark of its own where marks are given."""
    wide = max(cell_len(status_head(d.verdict.status)) for d in diagnoses)
    return [_VerdictLine(d, wide, mark) for d, mark in zip(diagnoses, marks or repeat(""), strict=False)]


@dataclass(frozen=True)
class _VerdictLine:
    """A run and its verdict in one line. Where there is no room for all of it the beginning of a long path goes first."""

    diagnosis: Diagnosis
    wide: int
    mark: str

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """As `rich` asks for it, which knows how wide it may be."""
        verdict = self.diagnosis.verdict
        status = f"{MARKS[verdict.status]} {set_cell_size(status_head(verdict.status), self.wide)}  "
        title = f"  {safe(told(verdict.title))}"
        room = options.max_width - sum(map(cell_len, (self.mark, status, title)))
        name = end_of(safe(self.diagnosis.run.name), max(room, LEAST_NAME))
        parts = (self.mark, (status, STYLES[verdict.status]), (name, "bold"), title)
        yield Text.assemble(*parts, no_wrap=True, overflow="ellipsis")


def _panel(diagnosis: Diagnosis, about: str) -> Panel:
    verdict = diagnosis.verdict
    body = Prose(safe(told(verdict.title)), style=STYLES[verdict.status])
    body.append(f"\n{safe(told(verdict.text))}", style="default not bold")
    if diagnosis.last_good_step is not None:
        good = told("Last good step: {step}.", step=step_text(diagnosis.last_good_step))
        body.append(f"\n{good}", style="default not bold")
    title = Text(f" {MARKS[verdict.status]} {status_head(verdict.status)} ", style=STYLES[verdict.status])
    return Panel(body, title=title, title_align="left", subtitle=Text(about, style="dim"), subtitle_align="left")


def _phases(diagnosis: Diagnosis) -> RenderableType:
    table = Table.grid(padding=(0, 2))
    for phase in diagnosis.phases:
        style = STYLES[phase.status]
        table.add_row(
            Text(MARKS[phase.status], style=style),
            Text(told(span_text(phase.first_step, phase.last_step)), style="bold", no_wrap=True),
            Prose(safe(told(_phase(phase)))),
        )
    return Padding(Group(Text(told("Phases"), style="bold underline"), table), (1, 0, 0, 1))


def _phase(phase: Phase) -> str:
    return said("healthy: {what}", what=phrase(phase.title)) if phase.status == "healthy" else phase.title


def _story(diagnosis: Diagnosis, story: Story, *, verbose: bool) -> RenderableType:
    finding = story.root
    style = STYLES[str(finding.severity)]
    head = Text(f"{MARKS[str(finding.severity)]} ", style=style)
    head.append(finding.detector, style=f"bold {style}")
    when = told(duration(finding))
    head.append(f"  {when} · {told(WORDS[finding.confidence])} · {finding.code}", style="dim")
    title = Prose(safe(told(finding.title)))
    parts: list[RenderableType] = [
        head,
        Padding(title, (0, 0, 0, 2)),
        Padding(_Strips(diagnosis, finding), (0, 0, 0, 2)),
    ]
    if verbose:
        parts.append(_evidence(finding.evidence))
    notes = Table.grid(padding=(0, 1))
    for each in story.consequences:
        where = told("from step {step}: {what}", step=step_text(each.first_step), what=safe(told(each.title)))
        line = Prose.assemble((each.detector, STYLES[str(each.severity)]), f" {where}")
        label = Text(f"  └ {told('then')}", style="dim", no_wrap=True)
        notes.add_row(label, Group(line, _evidence(each.evidence)) if verbose else line)
    for against in finding.against:
        label = Text(f"  {told('against')}", style="dim", no_wrap=True)
        notes.add_row(label, Prose(safe(told(against)), style="dim"))
    for other in finding.alternatives:
        what = said("{what} (to tell: {check})", what=phrase(other.says), check=phrase(other.check))
        notes.add_row(Text(f"  {told('or')}", style="dim", no_wrap=True), Prose(safe(told(what)), style="dim italic"))
    parts.append(notes)
    return Padding(Group(*parts), (1, 0, 0, 1))


@dataclass(frozen=True)
class _Strips:
    """The metrics that a finding rests on as lines of blocks, drawn for the room there is: a line that is cut hides its end."""

    diagnosis: Diagnosis
    finding: Finding

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        """As `rich` asks for it, which knows how wide it may be."""
        named = [self._series(metric) for metric in self.finding.metrics[:MOST_STRIPS]]
        drawn = [series for series in named if series is not None and len(series) > 1]
        if not drawn:
            return
        names = [safe(s.metric) for s in drawn]
        ends = [f"{s.values[0]:.4g} → {s.values[-1]:.4g}" for s in drawn]
        room = options.max_width - max(map(len, ends)) - GAPS
        width = min(max(room - max(map(cell_len, names)), LEAST_SPARK), SPARK)
        table = Table.grid(padding=(0, 1))
        for name, series, end in zip(names, drawn, ends, strict=True):
            table.add_row(
                Text(end_of(name, max(room - width, 1)), style="dim"),
                self._strip(series, width),
                Text(end, style="dim"),
            )
        yield table

    def _series(self, metric: str) -> Series | None:
        return next((s for s in self.diagnosis.run.series.values() if s.metric == metric), None)

    def _strip(self, series: Series, width: int) -> Text:
        """Dim up to where the finding began, in its colour from there on."""
        line = Text(sparkline(series.values, width))
        start = int((series.steps < self.finding.first_step).sum())
        begins = bin_of(min(start, len(series) - 1), len(series), width)
        line.stylize("dim", 0, begins)
        line.stylize(STYLES[str(self.finding.severity)], begins)
        return line


def _evidence(evidence: Iterable[Evidence]) -> RenderableType:
    lines = []
    for each in evidence:
        pairs = [f"{step_text(s)}: {v:.4g}" for s, v in zip(each.steps, each.values, strict=True)]
        more = told(", … ({n} values)", n=len(pairs)) if len(pairs) > QUOTED else ""
        quoted = ", ".join(pairs[:QUOTED]) + more
        lines.append(Prose(f"  {safe(each.metric)} [{told(each.unit)}] {quoted}: {safe(told(each.says))}", style="dim"))
    return Group(*lines)


def _asides(diagnosis: Diagnosis, *, verbose: bool) -> list[RenderableType]:
    """Findings of severity info: worth knowing, never an alarm."""
    shown_above = {id(f) for s in diagnosis.stories if s.severity >= Severity.WARNING for f in s.members}
    asides = [f for f in diagnosis.findings if f.severity is Severity.INFO and id(f) not in shown_above]
    if not asides:
        return []
    lines: list[RenderableType] = [Text(told("Worth knowing"), style="bold underline")]
    shown = asides if verbose else asides[:4]
    lines += [Prose.assemble(("i ", STYLES["info"]), (f"{f.detector}: ", "bold"), safe(told(f.title))) for f in shown]
    if not verbose and len(asides) > 4:
        more = told("and {n} more; --verbose shows them", n=len(asides) - 4)
        lines.append(Text(f"  {more}", style="dim"))
    return [Padding(Group(*lines), (1, 0, 0, 1))]


def _advice(diagnosis: Diagnosis) -> RenderableType:
    table = Table.grid(padding=(0, 1))
    for number, advice in enumerate(diagnosis.advice, start=1):
        table.add_row(Text(f"{number}.", style="bold"), Prose(safe(told(advice))))
    return Padding(Group(Text(told("What to try, in this order"), style="bold underline"), table), (1, 0, 0, 1))


def _not_checked(diagnosis: Diagnosis) -> Said:
    """How many detectors could not look, and the signals whose absence keeps most of them from looking."""
    count = len({u.detector for u in diagnosis.unchecked})
    missing = Counter(concept for u in diagnosis.unchecked for concept in u.missing)
    known = concepts()
    wanted = [
        said("{signal} ({n})", signal=known[c][0].phrase, n=n)
        for c, n in missing.most_common()
        if c in known and diagnosis.run.get(c) is None
    ]
    if not wanted:
        return said("Not checked: {n} detectors. --verbose says which and why.", n=count)
    return said(
        "Not checked: {n} detectors; most for want of {signals}. --verbose says which and why.",
        n=count,
        signals=listed(wanted[:4]),
    )


def _footer(diagnosis: Diagnosis, *, verbose: bool) -> RenderableType:
    run = diagnosis.run
    lines: list[RenderableType] = []
    if diagnosis.unchecked:
        if verbose:
            lines.append(Text(told("Not checked"), style="bold underline"))
            lines += [Prose(f"- {u.detector}: {safe(told(u.why))}", style="dim") for u in diagnosis.unchecked]
        else:
            lines.append(Prose(told(_not_checked(diagnosis)), style="dim"))
            lines += [Prose(f"- {u.detector}: {safe(told(u.why))}") for u in diagnosis.unchecked if u.failed]
    below = [told("Ignored: {name} ({reason})", name=n, reason=r) for n, r in diagnosis.ignored.items()]
    if run.unknown:
        names = ", ".join(list(run.unknown)[: None if verbose else MOST_NAMES])
        more = 0 if verbose else len(run.unknown) - MOST_NAMES
        shown = told("{names} and {n} more", names=names, n=more) if more > 0 else names
        below.append(told("Not understood ({n}): {names}", n=len(run.unknown), names=shown))
    below += [told("Note: {note}", note=told(n)) for n in run.notes]
    skipped = run.skipped if verbose else run.skipped[:3]
    below += [told("Skipped: {what}", what=told(not_read(s))) for s in skipped]
    if len(skipped) < len(run.skipped):
        below.append(told("Skipped: {n} more; --verbose shows them", n=len(run.skipped) - len(skipped)))
    below.append(told("Step axis: {axis}", axis=told(run.step_axis)))
    lines += [Prose(safe(line), style="dim") for line in below]
    return Padding(Group(*lines), (1, 0, 0, 1))
