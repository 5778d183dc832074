"""The ``holter`` command. One command, one file: a module of this package offers it as ``command``.

Modules are imported when their command is asked for, and they import what is heavy when they run, so that ``holter --help``
answers at once.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holter import __version__
from holter.errors import HolterError
from holter.language import LANGUAGES, choose, speak, spoken

if TYPE_CHECKING:
    from collections.abc import Callable

UNREADABLE = 2
"""Exit code when a log could not be read or the command was used wrongly."""


Command = TypeVar("Command", bound="Callable[..., Any]")


def language_option(command: Command) -> Command:
    """Give a command the option ``--lang``: obeyed before anything else is looked at, and until the command ends."""
    return click.option(
        "--lang",
        metavar=f"[{'|'.join(LANGUAGES)}]",
        is_eager=True,
        expose_value=False,
        callback=_speak,
        help="Language.  [default: HOLTER_LANG, else the locale's]",
    )(command)


def _speak(ctx: click.Context, _: click.Parameter, asked: str | None) -> None:
    if not ctx.resilient_parsing:
        ctx.call_on_close(partial(speak, spoken()))
        speak(choose(asked))


class _Commands(click.Group):
    """A group whose commands are the modules beside this file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(m.name.rstrip("_").replace("_", "-") for m in pkgutil.iter_modules(__path__))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        for module in pkgutil.iter_modules(__path__):
            if module.name.rstrip("_").replace("_", "-") == cmd_name:
                found = importlib.import_module(f"{__name__}.{module.name}").command
                assert isinstance(found, click.Command)
                return found
        return None


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: holter check LOG",
)
@click.version_option(__version__, prog_name="holter")
def holter() -> None:
    """A Holter monitor for RLHF: reads the log of a training run and says what is wrong, since when, and how sure."""


def main() -> None:
    """Run the command line; errors of Holter become one line on standard error and exit code 2."""
    try:
        holter()
    except HolterError as error:
        click.echo(f"holter: {error}", err=True)
        sys.exit(UNREADABLE)
