"""The ``holter`` command. One command, one file: a module of this package offers it as ``command``.

Modules are imported when their command is asked for, and they import what is heavy when they run, so that ``holter --help``
answers at once.
"""

from __future__ import annotations

import errno
import importlib
import io
import os
import pkgutil
import signal
import sys
from typing import Any

import click

from holter import __version__
from holter.cli._speaking import Group, UnknownLanguageError, all_speaking, asked_for, choose
from holter.cli._stand_ins import use_stand_ins
from holter.errors import HolterError, reason
from holter.language import said, speaking, spoken

UNREADABLE = 2
"""Exit code when a log could not be read or the command was used wrongly."""
INTERRUPTED = 128 + signal.SIGINT
"""Exit code after Ctrl-C, as shells give it: 1 would say that something is wrong with the run."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
"""What writing to standard output raises where its disk is full or broken."""


class _Commands(Group):
    """A group whose commands are the modules beside this file."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(_modules())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        module = _modules().get(cmd_name)
        if module is None:
            return None
        found = importlib.import_module(f"{__name__}.{module}").command
        assert isinstance(found, click.Command)
        return found

    def invoke(self, ctx: click.Context) -> Any:  # noqa: ANN401 - click's signature
        """Run a command, or as much of it as Ctrl-C lets it."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            click.echo(err=True)
            ctx.exit(INTERRUPTED)

    def main(self, args: Any = None, *rest: Any, **extra: Any) -> Any:  # noqa: ANN401 - click's signature
        """Run a command in the language that it asks for, or that the environment does."""
        with all_speaking(choose(asked_for(sys.argv[1:] if args is None else args))):
            return super().main(args, *rest, **extra)


def _modules() -> dict[str, str]:
    """Modules of commands by the command's name."""
    names = [m.name for m in pkgutil.iter_modules(__path__) if not m.name.startswith("_")]
    return {name.rstrip("_").replace("_", "-"): name for name in names}


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
    if isinstance(sys.stdout, io.TextIOWrapper):
        use_stand_ins(sys.stdout)
    try:
        holter()
    except HolterError as error:
        click.echo(f"holter: {_told(error)}", err=True)
        sys.exit(UNREADABLE)
    except OSError as error:
        if error.errno not in _FULL or error.filename is not None:
            raise
        # What is still in the stream's memory would be tried once more when the interpreter ends.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        full = HolterError(said("standard output cannot be written ({why}).", why=reason(error)))
        click.echo(f"holter: {_told(full)}", err=True)
        sys.exit(UNREADABLE)


def _told(error: HolterError) -> str:
    """What an error says in the language asked for, or the environment's."""
    try:
        language = choose(asked_for(sys.argv[1:]))
    except UnknownLanguageError:
        language = spoken()
    with speaking(language):
        return str(error)
