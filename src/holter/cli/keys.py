"""``holter keys LOG...``: what Holter understood of a log's names, and what it did not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from holter.cli import _options as options
from holter.cli._not_read import code_of, tell_not_read
from holter.cli._speaking import Command
from holter.language import listed, said, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.dialects.base import Name
    from holter.runs.run import Run, Series

SCHEMA = "holter.keys/1"
WIDE = 160
"""Columns of the table where nobody's terminal limits it."""

_ESTIMATES = {"exact": said("full distribution"), "mc": said("surprisal"), "abs": said("absolute differences")}


@click.command(cls=Command)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@options.form
@options.dialect
def command(logs: tuple[str, ...], form: str, speaks: str | None) -> None:
    """Show which signal each name of LOGs became, with its unit and conversion, and which names are not understood."""
    from holter.runs.load import load

    loaded = load(logs, speaks=speaks)
    if form == "json":
        import orjson

        answer = {
            "schema": SCHEMA,
            "runs": [_json(r) for r in loaded.runs],
            "refused": [str(r) for r in loaded.refused],
        }
        click.echo(orjson.dumps(answer, option=orjson.OPT_INDENT_2))
    else:
        for run in loaded.runs:
            _print(run)
    tell_not_read(loaded.refused)
    raise SystemExit(code_of(logs, loaded.refused))


def _rows(run: Run) -> Iterator[tuple[Series, str]]:
    """Every series with its standing: read, derived, or set aside for a better one."""
    for series in run.series.values():
        yield series, "derived" if series.derived else "read"
    for series in run.spare.values():
        yield series, "spare"


def _name(run: Run, series: Series) -> Name | None:
    from holter.dialects.registry import dialect, meaning

    found = None if series.derived else meaning(dialect(run.dialect), series.metric)
    return found.name if found is not None else None


def _json(run: Run) -> dict[str, Any]:
    return {
        "name": run.name,
        "path": run.path,
        "dialect": run.dialect,
        "step_axis": run.step_axis,
        "rows": len(run),
        "keys": [
            {
                "metric": series.metric,
                "key": series.key,
                "concept": series.concept,
                "split": str(series.split),
                "unit": str(series.unit),
                "estimator": str(series.estimator) if series.estimator else None,
                "reduction": str(series.reduction) if series.reduction else None,
                "conversion": conversion(_name(run, series)),
                "fit": str(series.fit),
                "values": len(series),
                "standing": standing,
                "inputs": list(series.inputs),
                "note": getattr(_name(run, series), "note", ""),
            }
            for series, standing in _rows(run)
        ],
        "unknown": [{"metric": u.metric, "values": len(u.values)} for u in run.unknown.values()],
        "never_logged": list(run.never),
        "notes": list(run.notes),
    }


def conversion(name: Name | None) -> str:
    """How the log's number becomes the signal's, as a formula in ``x``; empty where it is taken as it is."""
    if name is None or (name.scale, name.power, name.offset) == (1.0, 1.0, 0.0):
        return ""
    x = "x" if name.power == 1.0 else f"x^{name.power:g}"
    scaled = x if name.scale == 1.0 else f"-{x}" if name.scale == -1.0 else f"{name.scale:g} {x}"
    return scaled if name.offset == 0.0 else f"{name.offset:g} {'-' if name.scale < 0 else '+'} {scaled.lstrip('-')}"


def _reading(run: Run, series: Series, standing: str) -> Iterator[str]:
    """How a name is read, in a few words: its standing, its estimator, its conversion, how well it fits."""
    if standing == "derived":
        yield told("derived")
    elif standing == "spare" and series.metric in getattr(run.series.get(series.key), "inputs", ()):
        yield told("goes on where {metric} ends", metric=run.series[series.key].metric)
    elif standing == "spare" and series.key in run.series:
        yield told("set aside for {metric}", metric=run.series[series.key].metric)
    elif standing == "spare":
        yield told("set aside")
    if series.estimator:
        yield told(_ESTIMATES.get(str(series.estimator), str(series.estimator)))
    formula = conversion(_name(run, series))
    if formula:
        yield formula
    yield told(str(series.fit))


def _print(run: Run) -> None:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from holter.reports.safe_text import safe

    console = Console(highlight=False)
    if not console.is_terminal:
        console = Console(highlight=False, width=WIDE)
    head = told("{run}: {dialect}, {n} rows by {axis}")
    console.print(Text(safe(head.format(run=run.name, dialect=run.dialect, n=len(run), axis=told(run.step_axis)))))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in (told("name in the log"), told("signal"), told("unit"), told("read as")):
        table.add_column(title, overflow="fold")
    for series, standing in _rows(run):
        read_as = told(listed(_reading(run, series, standing)))
        shown = (series.metric, series.key, told(str(series.unit)), read_as)
        table.add_row(*(Text(safe(str(each))) for each in shown))
    console.print(table)
    if run.unknown:
        console.print(Text(safe(told("Not understood: {names}", names=", ".join(run.unknown)))))
    if run.never:
        console.print(Text(told("Never logged by this framework: {names}", names=", ".join(run.never))))
    for note in run.notes:
        console.print(Text(safe(told(note))))
    console.print()
