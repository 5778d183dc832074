"""``holter list KIND``: every signal, detector, reader or dialect, one line each."""

from __future__ import annotations

import shutil
import sys

import click

from holter.cli import _options as options
from holter.cli._speaking import Command, Formatter
from holter.language import told

SCHEMA = "holter.list/1"
KINDS = ("signals", "detectors", "readers", "dialects")
COLUMN = 34
"""Widest first column in a terminal; a longer name gets a line of its own."""
UNBROKEN = 10_000
"""Width when piped: one member, one line."""


def _kind(ctx: click.Context, param: click.Parameter, value: str) -> str:
    """One of `KINDS`, typed in the singular or the plural."""
    plural = value.lower() if value.lower().endswith("s") else f"{value.lower()}s"
    if plural not in KINDS:
        says = told("there is no kind {kind}; say {others} or {last}.")
        others = ", ".join(KINDS[:-1])
        raise click.BadParameter(says.format(kind=repr(value), others=others, last=KINDS[-1]), ctx, param)
    return plural


@click.command("list", cls=Command, epilog="`holter explain NAME` shows the page of any of them.")
@click.argument("kind", callback=_kind, metavar="|".join(KINDS))
@options.form
def command(kind: str, form: str) -> None:
    """List all signals, detectors, readers or dialects, one line each."""
    from holter.reports.lookup import members

    found = members(kind)
    if form == "json":
        import orjson

        click.echo(orjson.dumps({"schema": SCHEMA, "kind": kind, "members": found}, option=orjson.OPT_INDENT_2))
        return
    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else UNBROKEN
    click.echo(aligned([(_first(m), _second(m)) for m in found], width), nl=False)


def _first(member: dict[str, str]) -> str:
    return f"{member['code']}  {member['name']}" if "code" in member else member["name"]


def _second(member: dict[str, str]) -> str:
    aside = member.get("unit") or member.get("versions") or ""
    if not aside or aside == "1":
        return member["title"]
    return told("{title} ({aside})", title=member["title"], aside=told(aside))


def aligned(rows: list[tuple[str, str]], width: int) -> str:
    """Two columns, the second wrapped at `width` characters."""
    formatter = Formatter(width=width)
    if rows:
        formatter.write_dl(rows, col_max=COLUMN if width < UNBROKEN else UNBROKEN)
    return formatter.getvalue()
