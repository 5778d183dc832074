"""Options that several commands have, each in one place, and what they say of the settings."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from holter.settings import LEVELS, Settings, find_settings, read_settings

if TYPE_CHECKING:
    from collections.abc import Callable

Command = TypeVar("Command", bound="Callable[..., Any] | click.Command")

select = click.option(
    "--select", multiple=True, metavar="NAME", help="Run only these detectors; patterns like 'kl-*' work."
)
ignore = click.option(
    "--ignore", multiple=True, metavar="NAME=REASON", help="Leave a detector out; the reason is printed."
)
dialect = click.option(
    "--dialect", "speaks", metavar="NAME", help="Which framework wrote the log, where it cannot tell by itself."
)
eval_size = click.option(
    "--eval-size", type=click.IntRange(min=1), help="Items in the held-out evaluation; its standard error follows."
)
config = click.option("--config", type=click.Path(exists=True, dir_okay=False, path_type=Path), help="Settings file.")
floor = click.option("--floor", type=click.Choice(LEVELS), help="Least severity that is told.  [default: warning]")
form = click.option(
    "--format",
    "form",
    type=click.Choice(["text", "json"]),
    default="text",
    help="For people, or for scripts and agents.",
)


def output(page: str) -> Callable[[Command], Command]:
    """Where a report is written; a page that is not told so goes to the file `page`."""
    return click.option(
        "-o",
        "--output",
        metavar="FILE",
        help=f"Where to write; - for standard output.  [default: {page} for a page, else standard output]",
    )


AXES = {"steps": "step", "episodes": "episodes", "tokens": "tokens"}
"""What runs can be aligned on, as it is typed and as `holter.compare` calls it."""


def _axis(ctx: click.Context, param: click.Parameter, value: str) -> str:  # noqa: ARG001 - click's signature
    return AXES.get(value) or AXES[f"{value}s"]


axis = click.option(
    "--axis",
    type=click.Choice([*AXES, *(name.removesuffix("s") for name in AXES)]),
    metavar=f"[{'|'.join(AXES)}]",
    default="steps",
    show_default=True,
    callback=_axis,
    help="What the runs are aligned on.",
)


def settings_from(file: Path | None) -> Settings:
    """The settings of the file that ``--config`` names, else of the one that is found from the working folder upwards."""
    return read_settings(file) if file else find_settings(Path.cwd())
