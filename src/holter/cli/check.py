"""``holter check LOG...``: read logs, say what is wrong with them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import click

from holter.cli import _options as options
from holter.cli._not_read import code_of, tell_not_read
from holter.cli._speaking import Command
from holter.language import told
from holter.settings import FAIL_ON, Settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import Skipped

FOUND = 1
"""Exit code when a finding is at or above ``--fail-on``."""


@click.command(
    cls=Command,
    epilog="Exit codes: 0 nothing at or above --fail-on, 1 something, 2 a log could not be read or the command was used wrongly.",
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@options.form
@click.option(
    "--fail-on", type=click.Choice(FAIL_ON), help="Least severity that makes the exit code 1.  [default: critical]"
)
@options.select
@options.ignore
@options.dialect
@options.eval_size
@options.config
@click.option(
    "--verbose", "-v", is_flag=True, help="Also the evidence, and why each unchecked detector could not look."
)
def command(
    logs: tuple[str, ...],
    form: str,
    fail_on: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    speaks: str | None,
    eval_size: int | None,
    config: Path | None,
    verbose: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    """Read LOGs and say what is wrong, since which step, how sure, and what to try.

    A LOG is a file, a folder, a pattern, or - for standard input: JSON lines, CSV, trainer_state.json, TensorBoard event
    files, a table pasted as text.
    """
    settings = chosen_settings(config, fail_on, select, ignore, eval_size)
    diagnoses, refused = diagnosed(logs, settings, speaks)
    _print(diagnoses, refused, form, verbose=verbose)
    tell_not_read(refused, every=verbose)
    raise SystemExit(_exit_code(diagnoses, settings.fail_on) or code_of(logs, refused))


def diagnosed(
    logs: Sequence[str], settings: Settings, speaks: str | None
) -> tuple[list[Diagnosis], tuple[Skipped, ...]]:
    """The diagnoses of the runs in some logs, and what could not be read."""
    from holter.findings.diagnosis.logs import check

    checked = check(*logs, settings=settings, dialect=speaks)
    return list(checked.diagnoses), checked.refused


def chosen_settings(
    config: Path | None,
    fail_on: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    eval_size: int | None,
) -> Settings:
    """The settings file's word, unless the command line says otherwise."""
    from holter.detectors.chosen import matching

    settings = options.settings_from(config)
    # What was typed is refused here, because later a wrong name counts as the settings file's.
    matching([*select, *(each.partition("=")[0] for each in ignore)])
    ignored = dict(settings.ignore)
    for each in ignore:
        name, _, reason = each.partition("=")
        if not reason.strip():
            says = told("--ignore {given}: say why, as --ignore {name}='it is expected because ...'")
            raise click.UsageError(says.format(given=each, name=name))
        ignored[name] = reason
    return replace(
        settings,
        fail_on=fail_on or settings.fail_on,
        select=select or settings.select,
        ignore=ignored,
        eval_size=eval_size or settings.eval_size,
    )


def _print(diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped], form: str, *, verbose: bool) -> None:
    if form == "json":
        import orjson

        from holter.reports import json as contract

        click.echo(orjson.dumps(contract.check(diagnoses, refused), option=orjson.OPT_INDENT_2))
        return
    from rich.console import Console

    from holter.reports.terminal import print_diagnoses

    print_diagnoses(Console(highlight=False, soft_wrap=False), diagnoses, verbose=verbose)


def _exit_code(diagnoses: Sequence[Diagnosis], fail_on: str) -> int:
    from holter.findings.finding import Severity

    if fail_on == "never":
        return 0
    least = Severity[fail_on.upper()]
    return FOUND if any(f.severity >= least for d in diagnoses for f in d.findings) else 0
