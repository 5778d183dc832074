"""``holter rules test LOG...``: detectors and settings, tried on finished runs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from holter.cli import _options as options
from holter.cli._not_read import code_of, tell_not_read
from holter.cli._speaking import Group
from holter.language import listed, said, told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.alerts import Alert
    from holter.monitor.replay import Replayed, Tally

SCHEMA = "holter.rules/1"


@click.group(cls=Group)
def command() -> None:
    """Try detectors and their limits on runs that are over."""


@command.command(
    "test",
    epilog="A run is known to be healthy or sick by --healthy, or by meta.json beside its log: "
    '{"healthy": false, "onset_step": 340}.',
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option("--healthy", is_flag=True, help="All LOGs are of healthy runs: whatever is told is told wrongly.")
@options.config
@options.select
@options.floor
@options.form
def test(
    logs: tuple[str, ...],
    healthy: bool,  # noqa: FBT001 - click passes flags by name
    config: Path | None,
    select: tuple[str, ...],
    floor: str | None,
    form: str,
) -> None:
    """Replay LOGs: when would I have been told of what, and how often wrongly?"""
    from holter.monitor.label import HEALTHY, label_beside
    from holter.monitor.replay import replay, tally
    from holter.runs.load import load

    settings = options.settings_from(config)
    settings = replace(
        settings,
        select=select or settings.select,
        alerts=replace(settings.alerts, floor=floor or settings.alerts.floor),
    )
    loaded = load(logs)
    replays = [replay(run, HEALTHY if healthy else label_beside(Path(run.path)), settings) for run in loaded.runs]
    total = tally(replays)
    if form == "json":
        import orjson

        said = _json(replays, total, settings.source)
        said["refused"] = [{"file": r.file, "line": r.line, "why": r.why} for r in loaded.refused]
        click.echo(orjson.dumps(said, option=orjson.OPT_INDENT_2))
    else:
        _print(replays, total, settings.source)
    tell_not_read(loaded.refused)
    raise SystemExit(code_of(logs, loaded.refused))


def _print(replays: Sequence[Replayed], total: Tally, source: str) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from holter.findings.finding import step_text
    from holter.reports.safe_text import safe

    console = Console(highlight=False)
    runs = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in (told("run"), told("truth")):
        runs.add_column(title, overflow="fold")
    for title in (told("onset"), told("told at"), told("rows late")):
        runs.add_column(title, justify="right")
    runs.add_column(told("by"))
    for name, each in zip(_short([r.run.path for r in replays]), replays, strict=True):
        first = each.told[0] if each.told else None
        wrong = first is not None and each.is_false(first)
        onset = each.label.onset
        delay = each.delay
        runs.add_row(
            safe(name),
            safe(told(each.label.says)) or told("unknown"),
            "" if onset is None else step_text(onset),
            told("never") if first is None else step_text(first.step),
            told("false alarm") if wrong else "" if delay is None else str(delay),
            Text("" if first is None else first.finding.detector, style="yellow" if wrong else ""),
        )
    console.print(runs)
    console.print()
    for line in _sentences(total, source):
        console.print(line)
    if total.detectors:
        console.print()
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
        table.add_column(told("detector"))
        for title in (told("rightly"), told("wrongly"), told("unknown")):
            table.add_column(title, justify="right")
        for name, counts in total.detectors.items():
            table.add_row(name, *(str(n) for n in counts))
        console.print(table)


def _sentences(total: Tally, source: str) -> list[str]:
    runs = said("1 run") if total.runs == 1 else said("{n} runs", n=total.runs)
    out = [said("{runs}, settings: {settings}.", runs=runs, settings=source)]
    if total.sick:
        parts = [said("Sick: told of {n} in {all}", n=total.caught, all=total.sick)]
        if total.delay is not None:
            parts.append(said("the median delay is {n} rows", n=f"{total.delay:g}"))
        if total.early:
            parts.append(said("{n} told before the trouble began", n=total.early))
        out.append(said("{sentences}.", sentences=listed(parts, "; ")))
    if total.healthy:
        out.append(said("Healthy: told wrongly of {n} in {all}.", n=total.disturbed, all=total.healthy))
    unknown = total.runs - total.sick - total.healthy
    if unknown:
        out.append(
            said(
                "Runs of which nobody said whether they are healthy: {n}. --healthy, or meta.json beside the log, says it.",
                n=unknown,
            )
        )
    return [told(sentence) for sentence in out]


def _short(paths: Sequence[str]) -> list[str]:
    """Paths without what all of them have in common at their beginning and at their end."""
    parts = [Path(path).parts for path in paths]
    if len(set(parts)) < 2:
        return list(paths)
    for end in (0, -1):
        while all(len(p) > 1 for p in parts) and len({p[end] for p in parts}) == 1:
            parts = [p[1:] if end == 0 else p[:-1] for p in parts]
    return ["/".join(p) for p in parts]


def _json(replays: Sequence[Replayed], total: Tally, source: str) -> dict[str, Any]:
    return {
        "schema": SCHEMA,
        "settings": source,
        "runs": [
            {
                "path": r.run.path,
                "healthy": r.label.healthy,
                "label": r.label.says,
                "onset": r.label.onset,
                "rows_late": r.delay,
                "told": [{**_alert(a), "wrongly": r.is_false(a)} for a in r.told],
            }
            for r in replays
        ],
        "total": {
            "runs": total.runs,
            "sick": total.sick,
            "caught": total.caught,
            "early": total.early,
            "healthy": total.healthy,
            "disturbed": total.disturbed,
            "median_rows_late": total.delay,
            "detectors": {n: {"rightly": c[0], "wrongly": c[1], "unknown": c[2]} for n, c in total.detectors.items()},
        },
    }


def _alert(alert: Alert) -> dict[str, Any]:
    from holter.reports.json import finite

    f = alert.finding
    return {
        "kind": alert.kind,
        "step": finite(alert.step),
        "detector": f.detector,
        "severity": str(f.severity),
        "first_step": finite(f.first_step),
        "title": f.title,
    }
