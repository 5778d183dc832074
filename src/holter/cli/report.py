"""``holter report LOG... -o FILE``: what Holter knows of a run as a page, Markdown, JSON or SARIF."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli._speaking import Command
from holter.cli.check import NOT_READ, chosen_settings, diagnosed, lacks_any
from holter.language import text, told
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
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help=f"Where to write; - for standard output.  [default: {PAGE} for a page, else standard output]",
)
@click.option(
    "--format",
    "form",
    type=click.Choice(list(dict.fromkeys(FORMATS.values()))),
    help="What to write.  [default: by the output's name, else html]",
)
@click.option("--select", multiple=True, metavar="NAME", help="Run only these detectors; patterns like 'kl-*' work.")
@click.option("--ignore", multiple=True, metavar="NAME=REASON", help="Leave a detector out; the reason is printed.")
@click.option(
    "--dialect", "speaks", metavar="NAME", help="Which framework wrote the log, where it cannot tell by itself."
)
@click.option(
    "--eval-size", type=click.IntRange(min=1), help="Items in the held-out evaluation; its standard error follows."
)
@click.option(
    "--axis",
    type=click.Choice(["step", "episodes", "tokens"]),
    default="step",
    show_default=True,
    help="What several runs are laid along.",
)
@click.option("--config", "config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings file.")
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
    from holter.reports.words import not_read

    form = form or (FORMATS.get(Path(output).suffix.lower()) if output else None) or "html"
    if output is None:
        output = PAGE if form == "html" else STANDARD
    settings = chosen_settings(config, None, select, ignore, eval_size)
    diagnoses, refused = diagnosed(logs, settings, speaks)
    write(_made(form, diagnoses, refused, axis), output)
    for each in refused:
        click.echo(f"holter: {text('Not read: {what}').format(what=told(not_read(each)))}", err=True)
    if lacks_any(logs, refused):
        raise SystemExit(NOT_READ)


def _made(form: str, diagnoses: Sequence[Diagnosis], refused: Sequence[Skipped], axis: str) -> str:
    if form == "html":
        from holter.reports.html.page import page

        return page(diagnoses, refused, axis=axis)
    if form == "markdown":
        from holter.reports.markdown import markdown

        return markdown(diagnoses, refused)
    import orjson

    from holter.reports import json, sarif

    said = json.check(diagnoses, refused) if form == "json" else sarif.log(diagnoses, refused)
    return orjson.dumps(said, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
