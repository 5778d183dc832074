"""``holter explain NAME``: the page of a metric, a detector, a framework's names or a file format."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from holter.cli._speaking import Command
from holter.language import told

if TYPE_CHECKING:
    from holter.reports.pages import Page

SCHEMA = "holter.explain/1"
WIDEST = 100
"""Columns beyond which prose is hard to read."""


@click.command(cls=Command, epilog="Exit codes: 0 the page was shown, 2 nothing has that name.")
@click.argument("name", required=False)
@click.option("--dialect", "speaks", metavar="NAME", help="Explain the framework's own name, as this dialect means it.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people (Markdown when piped), or for scripts and agents.",
)
def command(name: str | None, speaks: str | None, form: str) -> None:
    """Show what a metric, a detector, a framework or a file format is.

    NAME is a metric (objective/kl, rewards/accuracy/mean), a concept (ref_kl), a detector or its code (kl-runaway,
    HLT201), a dialect (verl), a reader (jsonl), or a framework's own name for a metric (actor/ppo_kl).
    """
    from holter.dialects.registry import dialect
    from holter.reports.lookup import look_up, look_up_in
    from holter.reports.pages import dialect_page

    if name is None:
        if speaks is None:
            raise click.UsageError(
                told("Give the NAME of a metric, a detector, a dialect or a reader, or a --dialect.")
            )
        page = dialect_page(dialect(speaks))
    else:
        page = look_up_in(name, speaks) if speaks else look_up(name)
    _print(page, form)


def _print(page: Page, form: str) -> None:
    if form == "json":
        import orjson

        said = {"schema": SCHEMA, "kind": page.kind, "name": page.name, "title": page.title, "page": page.markdown}
        click.echo(orjson.dumps({**said, "facts": page.facts}, option=orjson.OPT_INDENT_2))
    elif sys.stdout.isatty():
        from rich.console import Console
        from rich.markdown import Markdown

        console = Console()
        console.print(Markdown(page.markdown, hyperlinks=False), width=min(console.width, WIDEST))
    else:
        click.echo(page.markdown, nl=False)
