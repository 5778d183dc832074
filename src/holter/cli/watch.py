"""``holter watch LOG...``: a page in the terminal that follows a run while it trains."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.settings import find_settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from holter.monitor.follow import Follow, Seen


@click.command(
    epilog="Ctrl-C ends it. Where the output is no terminal, a line is printed for each finding that changes."
)
@click.argument("logs", nargs=-1, required=True, metavar="LOG...")
@click.option(
    "--every",
    type=click.FloatRange(min=0.1),
    default=1.0,
    show_default=True,
    help="Seconds between two looks at the files.",
)
@click.option("--once", is_flag=True, help="Print the page as it is now, and end.")
@click.option(
    "--dialect", "speaks", metavar="NAME", help="Which framework writes the log, where it cannot tell by itself."
)
@click.option("--config", "config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings file.")
def command(
    logs: tuple[str, ...],
    every: float,
    once: bool,  # noqa: FBT001 - click passes flags by name
    speaks: str | None,
    config: Path | None,
) -> None:
    """Follow LOGs while they grow: vital signs, what is wrong now, what changed, whether rows still come.

    A LOG is what `holter check` reads: a file, a folder, a pattern. It may not exist yet.
    """
    from rich.console import Console

    from holter.monitor.follow import Follow

    if "-" in logs:
        raise click.UsageError("standard input cannot be read twice: save it to a file and watch that")
    follow = Follow(logs, settings=read_settings(config) if config else find_settings(Path.cwd()), speaks=speaks)
    console = Console(highlight=False)
    if once:
        seen = follow.poll(time.time())
        _fail_on(seen)
        _page(console, seen, [], height=None)
        return
    try:
        if console.is_terminal:
            _live(console, follow, every)
        else:
            _lines(follow, every)
    except KeyboardInterrupt:
        return


def _fail_on(seen: Seen) -> None:
    from holter.errors import UnreadableLogError

    if seen.trouble:
        raise UnreadableLogError(seen.trouble)


def _looks(follow: Follow, every: float) -> Iterator[Seen]:
    while True:
        yield follow.poll(time.time())
        time.sleep(every)


def _page(console: Console, seen: Seen, news: list[str], height: int | None) -> None:
    from holter.reports.live_page import page

    console.print(page(seen.diagnoses, news, pulse(seen), height=height))


def _live(console: Console, follow: Follow, every: float) -> None:
    from rich.live import Live

    from holter.reports.live_page import page

    news: list[str] = []
    with Live(console=console, screen=True, auto_refresh=False) as live:
        for seen in _looks(follow, every):
            news = [*news, *(_news(seen))][-100:]
            live.update(page(seen.diagnoses, news, pulse(seen), height=console.height - 1), refresh=True)


def _lines(follow: Follow, every: float) -> None:
    told = ""
    for seen in _looks(follow, every):
        for line in _news(seen):
            click.echo(line)
        if seen.trouble and seen.trouble != told:
            click.echo(f"holter: {seen.trouble}", err=True)
        told = seen.trouble
        sys.stdout.flush()


def _news(seen: Seen) -> list[str]:
    several = len(seen.diagnoses) > 1
    at = time.strftime("%H:%M:%S")
    return [f"{at} {f'{name}: ' if several else ''}{alert}" for name, alert in seen.news if alert.told]


def pulse(seen: Seen) -> str:
    """When rows came, in words."""
    parts = [seen.trouble] if seen.trouble else []
    if seen.pace is not None:
        parts.append(f"{seen.pace:.3g} rows a minute")
    if seen.age is not None:
        parts.append(f"changed {_ago(seen.age)} ago")
    if seen.stalled:
        parts.append("STALLED: the run has stopped logging")
    return " · ".join(parts)


def _ago(seconds: float) -> str:
    for unit, size in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {unit}{'s' * (count != 1)}"
    return f"{int(seconds)} s"
