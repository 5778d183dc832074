"""``holter watch LOG...``: a page in the terminal that follows a run while it trains."""

from __future__ import annotations

import signal
import sys
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli import _options as options
from holter.cli._speaking import Command
from holter.language import said, told

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from holter.alerts import Audience
    from holter.monitor.watching import Moment, Watch
    from holter.settings import Settings


@click.command(
    cls=Command,
    epilog="In the page: q leaves, j and k scroll, ? shows all keys. Where the output is no terminal, a line is printed for "
    "each finding that changes. HOLTER_NOTIFY holds addresses of services that hear of alerts, too.",
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
    "--exec",
    "program",
    metavar="CMD",
    help="Run this for every alert, without a shell; the finding is JSON on its standard input.",
)
@click.option(
    "--notify",
    metavar="FILE",
    help="Also send alerts to the services whose addresses this file holds, one a line, as apprise writes them.",
)
@options.floor
@options.dialect
@options.config
def command(
    logs: tuple[str, ...],
    every: float,
    once: bool,  # noqa: FBT001 - click passes flags by name
    program: str | None,
    notify: str | None,
    floor: str | None,
    speaks: str | None,
    config: Path | None,
) -> None:
    """Follow LOGs while they grow: vital signs, what is wrong now, what changed, whether rows still come.

    A LOG is what `holter check` reads: a file, a folder, a pattern. It may not exist yet.
    """
    from rich.console import Console

    from holter.monitor.watching import Watch

    if "-" in logs:
        raise click.UsageError(told("standard input cannot be read twice: save it to a file and watch that"))
    settings = _strict(options.settings_from(config), floor)
    watch = Watch(logs, settings=settings, speaks=speaks)
    console = Console(highlight=False)
    notes: list[str] = []
    audience = _audience(program, notify, notes)
    try:
        if once:
            _print(console, watch.look(time.time()))
        elif _takes_over(console):
            _follow_on_screen(watch, every, audience, notes)
        else:
            with _ends_as_by_ctrl_c():
                _follow_in_lines(watch, every, audience, notes)
    except KeyboardInterrupt:
        return
    finally:
        audience.close(patience=2.0)


def _strict(settings: Settings, floor: str | None) -> Settings:
    from dataclasses import replace

    return replace(settings, alerts=replace(settings.alerts, floor=floor)) if floor else settings


def _audience(program: str | None, notify: str | None, notes: list[str]) -> Audience:
    """Who hears of alerts beside whoever looks at the page."""
    from holter.alerts import Audience
    from holter.alerts.command import Command
    from holter.alerts.services import services
    from holter.errors import SettingsError

    if notify is not None and "://" in notify:
        # Whatever stands there may be a secret: it is not repeated.
        raise SettingsError(
            said("--notify takes a file that holds addresses, not an address: other users see command lines")
        )
    commands = [Command(program, notes.append)] if program else []
    return Audience(channels=[*commands, *services(file=Path(notify) if notify else None)])


def _takes_over(console: Console) -> bool:
    """Whether there is a terminal to take over, with a keyboard."""
    from holter.reports import full_screen

    return full_screen.available and console.is_terminal and sys.stdin.isatty() and not console.is_dumb_terminal


def _print(console: Console, moment: Moment) -> None:
    from holter.errors import UnreadableLogError
    from holter.reports.live_page import page

    if moment.trouble:
        raise UnreadableLogError(moment.trouble)
    console.print(page([w.diagnosis for w in moment.runs], (), [w.pulse.says for w in moment.runs], console.width))


def _follow_on_screen(watch: Watch, every: float, audience: Audience, notes: list[str]) -> None:
    from holter.monitor.watching import Watcher
    from holter.reports.full_screen import FullScreen
    from holter.reports.live_screen import LiveScreen

    with FullScreen() as terminal:
        page = LiveScreen(terminal.size)
        moments: list[Moment] = []

        def seen(moment: Moment) -> None:
            for alert in moment.alerts:
                if alert.told:
                    audience(alert)
            moments.append(moment)
            terminal.wake()

        watcher = Watcher(watch, every=every, clock=time.time, seen=seen)
        try:
            while True:
                while moments:
                    moment = moments.pop(0)
                    page.show(
                        [w.diagnosis for w in moment.runs],
                        [w.pulse.says for w in moment.runs],
                        [w.pulse.finding(w.diagnosis.run) for w in moment.runs],
                        _lines(moment),
                        moment.trouble,
                    )
                page.add([f"{time.strftime('%H:%M:%S')} {told(notes.pop(0))}" for _ in range(len(notes))])
                if watcher.error is not None:
                    raise watcher.error
                terminal.draw(page.lines(terminal.size))
                for key in terminal.pressed():
                    if not page.press(key):
                        return
        finally:
            watcher.close()


@contextmanager
def _ends_as_by_ctrl_c() -> Iterator[None]:
    """A signal that ends the process is Ctrl-C, so that alerts on their way arrive; one that is ignored stays so (nohup)."""
    ends = {s for name in ("SIGTERM", "SIGHUP") if (s := getattr(signal, name, None)) is not None}
    before = {s: signal.getsignal(s) for s in ends}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:
            signal.signal(number, signal.default_int_handler)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _follow_in_lines(watch: Watch, every: float, audience: Audience, notes: list[str]) -> None:
    trouble = ""
    while True:
        moment = watch.look(time.time())
        for alert in moment.alerts:
            if alert.told:
                audience(alert)
        for line in _lines(moment):
            click.echo(line)
        for _ in range(len(notes)):
            click.echo(f"holter: {told(notes.pop(0))}", err=True)
        if moment.trouble and moment.trouble != trouble:
            click.echo(f"holter: {told(moment.trouble)}", err=True)
        trouble = moment.trouble
        sys.stdout.flush()
        time.sleep(every)


def _lines(moment: Moment) -> list[str]:
    """What changed, a line each."""
    from holter.reports.safe_text import safe

    at = time.strftime("%H:%M:%S")
    return [f"{at} {f'{safe(a.run)}: ' if a.run else ''}{safe(str(a))}" for a in moment.alerts if a.told]
