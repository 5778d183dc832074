"""``holter check LOG``: read a log, say what is wrong with it."""

from __future__ import annotations

import click


@click.command()
@click.argument("logs", nargs=-1, required=True)
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text")
@click.option("--fail-on", type=click.Choice(["info", "warning", "critical", "never"]), default="critical")
def command(logs: tuple[str, ...], form: str, fail_on: str) -> None:
    """Read LOGS and say what is wrong, since which step, how sure, and what to try."""
    from pathlib import Path

    import orjson

    from holter.detectors.registry import run_detectors
    from holter.findings.finding import Finding
    from holter.readers.base import Source
    from holter.reports import json as contract
    from holter.runs.load import load_source

    out = []
    for log in logs:
        for run in load_source(Source.of(Path(log))).runs:
            said = list(run_detectors(run))
            out.append(
                {
                    "name": run.name,
                    "dialect": run.dialect,
                    "step_axis": run.step_axis,
                    "rows": len(run),
                    "findings": [contract.finding(s) for s in said if isinstance(s, Finding)],
                    "unchecked": [contract.unchecked(s) for s in said if not isinstance(s, Finding)],
                    "unknown_keys": list(run.unknown),
                }
            )
            if form == "text":
                click.echo(f"{run.name} [{run.dialect}] {run.step_axis} {len(run)} rows")
                for s in said:
                    click.echo(f"  {s}")
    if form == "json":
        click.echo(orjson.dumps({"schema": contract.SCHEMA, "runs": out}, option=orjson.OPT_INDENT_2))
