"""``holter compare RUN RUN...``: what differs, where it began, and whether seeds alone could have done it."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli import _options as options
from holter.cli._not_read import code_of, tell_not_read
from holter.cli._speaking import Command
from holter.errors import HolterError
from holter.language import said, told
from holter.reports.output import STANDARD, write

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.compare import Comparison
    from holter.readers.base import Skipped

FORMATS = {".html": "html", ".htm": "html", ".md": "markdown", ".json": "json"}
"""Formats by the end of the output's name."""
PAGE = "holter-compare.html"
"""Where a page goes when nothing is said."""
FOUND = 1
"""Exit code when something is worse than in the baseline and ``--fail-on regression`` is given."""


@click.command(
    cls=Command,
    epilog="Exit codes: 0 compared, 1 a regression with --fail-on regression, 2 a log could not be read or the command was used "
    "wrongly.",
)
@click.argument("runs", nargs=-1, metavar="RUN...")
@click.option(
    "--baseline",
    multiple=True,
    metavar="LOG",
    help="Runs that the others are held against; may be given several times. Without it: the first setting.",
)
@options.axis
@click.option(
    "--group-by",
    "by",
    type=click.Choice(["auto", "config", "name", "none"]),
    default="auto",
    show_default=True,
    help="Which runs are seeds of one setting: those with the same configuration, with the same name but for a seed, or none.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["regression", "never"]),
    default="never",
    show_default=True,
    help="What makes the exit code 1.",
)
@click.option(
    "--margin",
    type=click.FloatRange(min=0),
    default=0.0,
    show_default=True,
    help="Share of the baseline's level by which an outcome may be worse.",
)
@options.dialect
@options.config
@options.output(PAGE)
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", *dict.fromkeys(FORMATS.values())]),
    help="For people, as a page, for pull requests, or for scripts.  [default: by the output's name, else text]",
)
@click.option("--verbose", "-v", is_flag=True, help="Every signal and setting, not only the first.")
def command(
    runs: tuple[str, ...],
    baseline: tuple[str, ...],
    axis: str,
    by: str,
    fail_on: str,
    margin: float,
    speaks: str | None,
    config: Path | None,
    output: str | None,
    form: str | None,
    verbose: bool,  # noqa: FBT001 - click passes flags by name
) -> None:
    r"""Hold RUNs against each other.

    Says which settings differ, which signals end elsewhere and by how much beyond the noise between seeds, from which step
    on the curves part, and what is worse. Runs of one setting that differ in their seed are taken together.

    \b
    holter compare runs/beta-0.04 runs/beta-0.0
    holter compare sweep/ -o sweep.html
    holter compare --baseline main/ branch/ --fail-on regression
    """
    from holter.compare import compare
    from holter.reports.words import not_read
    from holter.runs.load import load

    if not runs:
        raise click.UsageError(told("give the runs to compare, or a folder that holds several"))
    form = form or (FORMATS.get(Path(output).suffix.lower()) if output else None) or "text"
    settings = options.settings_from(config)
    loaded = load(runs, speaks=speaks)
    held = load(baseline, speaks=speaks) if baseline else None
    if held is None and len(loaded.runs) < 2:
        run = loaded.runs[0].name
        raise HolterError(
            said("there is only one run to compare: {run}. Give a second one, or --baseline LOG.", run=run),
            *(said("Not read: {what}", what=not_read(each)) for each in loaded.refused),
        )
    comparison = compare(
        loaded.runs,
        axis=axis,
        by=by,
        baseline=held.runs if held else (),
        margin=margin,
        settings=settings,
    )
    refused = [*(held.refused if held else ()), *loaded.refused]
    if form == "text" and output in (None, STANDARD):
        _print(comparison, verbose=verbose)
    else:
        write(_made(form, comparison, refused, verbose=verbose), output or (PAGE if form == "html" else STANDARD))
    tell_not_read(refused, every=verbose)
    if fail_on == "regression" and comparison.regressions:
        raise SystemExit(FOUND)
    raise SystemExit(code_of((*runs, *baseline), refused))


def _print(comparison: Comparison, *, verbose: bool) -> None:
    from rich.console import Console

    from holter.reports.comparison import print_comparison

    print_comparison(Console(highlight=False), comparison, verbose=verbose)


def _made(form: str, comparison: Comparison, refused: Sequence[Skipped], *, verbose: bool) -> str:
    if form == "html":
        from holter.reports.html.compare_page import page

        return page(comparison, refused)
    if form == "markdown":
        from holter.reports.comparison_markdown import markdown

        return markdown(comparison, refused)
    if form == "json":
        import orjson

        from holter.reports.comparison_json import compare as contract

        said = contract(comparison, refused)
        return orjson.dumps(said, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE).decode()
    from rich.console import Console

    from holter.reports.comparison import print_comparison

    with io.StringIO() as file:
        print_comparison(Console(file=file, highlight=False, width=120), comparison, verbose=verbose)
        return file.getvalue()
