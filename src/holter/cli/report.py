"""``holter report LOG... -o FILE``: what Holter knows of a run as a page, Markdown, JSON or SARIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli import _options as options
from holter.cli._not_read import code_of, tell_not_read
from holter.cli._speaking import Command
from holter.cli.check import chosen_settings, diagnosed
from holter.errors import SettingsError
from holter.language import listed, said
from holter.reports.output import STANDARD, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import Skipped

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json", ".sarif": "sarif"}
"""Formats by the end of the output's name."""
PAGE = "holter-report.html"
"""Where a page goes when nothing is said."""


@click.command(cls=Command, epilog="Exit codes: 0 written, 2 a log could not be read or the command was used wrongly.")
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@options.output(PAGE)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(FORMATS.values()))),
    help="What to write.  [default: by the output's name, else html]",
)
@options.select
@options.ignore
@options.dialect
@options.eval_size
@options.axis
@options.config
def command(
    logs: tuple[str, ...],
    output: str | None,
    form: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    speaks: str | None,
    eval_size: int | None,
    axis: str,
    config: Path | None,
) -> None:
    r"""Write what Holter knows of the runs in LOGs as one file to look at, share or feed to other programs.

    A page is one self-contained HTML file: it works offline and asks the network for nothing. Several LOGs are laid over
    each other on one page, along their steps or what they consumed. Markdown is for pull requests and issues, JSON is what
    `holter check` answers, SARIF is for CI.

    \b
    holter report runs/mine -o run.html
    holter report runs/a runs/b runs/c -o runs.html
    holter report runs/mine --format markdown
    """
    form = form or _format_of(output)
    if output is None:
        output = PAGE if form == "html" else STANDARD
    settings = chosen_settings(config, None, select, ignore, eval_size)
    diagnoses, refused = diagnosed(logs, settings, speaks)
    write(_made(form, diagnoses, refused, axis), output)
    tell_not_read(refused)
    raise SystemExit(code_of(logs, refused))


def _format_of(output: str | None) -> str:
    """The format that the output's name means.

    Raises:
        SettingsError: When it means none.
    """
    if output is None or output == STANDARD:
        return "html"
    if Path(output).is_dir():
        raise SettingsError(
            f"{output}:", said("it is a folder; name a file in it, as {file}", file=Path(output) / PAGE)
        )
    form = FORMATS.get(Path(output).suffix.lower())
    if form is None:
        why = said(
            "the name does not say in which format; end it in {suffixes}, or say one of {names}",
            suffixes=listed(FORMATS),
            names=listed(f"--format {name}" for name in dict.fromkeys(FORMATS.values())),
        )
        raise SettingsError(f"{output}:", why)
    return form


def _made(form: str, diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped], axis: str) -> str:
    if form == "html":
        from holter.reports.html.page import page

        return page(diagnoses, refused, axis=axis)
    if form == "markdown":
        from holter.reports.markdown import markdown

        return markdown(diagnoses, refused)
    import orjson

    from holter.reports import json, sarif

    content = json.check(diagnoses, refused) if form == "json" else sarif.log(diagnoses, refused)
    return orjson.dumps(content, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
