"""``holter simulate``: make a labelled run, healthy or sick, to try the tools on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holter.cli._speaking import Command
from holter.errors import HolterError, reason
from holter.language import said, told

if TYPE_CHECKING:
    from holter.simulation.run import Simulated


@click.command(cls=Command)
@click.option(
    "--algorithm",
    type=click.Choice(["grpo", "ppo"]),
    default="grpo",
    show_default=True,
    help="Whose metrics are logged.",
)
@click.option("--fault", default=None, help="What goes wrong; without it, or as `none`, a healthy run. See --list.")
@click.option(
    "--onset", type=click.IntRange(min=1), default=None, help="Step at which it begins. Default: after 40 % of the run."
)
@click.option("--ramp", type=click.IntRange(min=0), default=None, help="Steps until it is fully there; 0: at once.")
@click.option(
    "--family", default="plain", show_default=True, help="Healthy conditions under which it happens. See --list."
)
@click.option("--rows", type=click.IntRange(min=1, max=1_000_000), default=200, show_default=True, help="Logged rows.")
@click.option(
    "--seed", type=click.IntRange(min=0), default=0, show_default=True, help="The same seed gives the same run."
)
@click.option(
    "-o", "--output", type=click.Path(file_okay=False, path_type=Path), help="Folder for log.jsonl and meta.json."
)
@click.option("--force", is_flag=True, help="Overwrite another run in that folder.")
@click.option("--list", "listing", is_flag=True, help="List faults and families.")
def command(
    algorithm: str,
    fault: str | None,
    onset: int | None,
    ramp: int | None,
    family: str,
    rows: int,
    seed: int,
    output: Path | None,
    force: bool,  # noqa: FBT001 - click passes flags by name
    listing: bool,  # noqa: FBT001 - click passes it by name
) -> None:
    r"""Make a run with a known fault, as TRL would log it, and write it with its label.

    \b
    holter simulate --fault kl-explosion --onset 120 --seed 3 -o runs/made
    holter check runs/made
    """
    from holter.simulation.conditions import FAMILIES
    from holter.simulation.faults import FAULTS
    from holter.simulation.run import simulate

    if listing:
        click.echo(told("faults:"))
        width = max(map(len, FAULTS))
        for name, known in FAULTS.items():
            click.echo(f"  {name:{width}}  {'/'.join(known.algorithms):8}  {told(known.says)}")
        click.echo(told("families (all healthy):"))
        click.echo("  " + ", ".join(FAMILIES))
        return
    if output is None:
        raise click.UsageError(told("name a folder to write to: -o DIR (or use --list)."))
    fault = None if fault == "none" else fault
    try:
        made = simulate(algorithm, fault, onset=onset, ramp=ramp, family=family, rows=rows, seed=seed)
    except ValueError as error:
        raise click.UsageError(told(reason(error))) from error
    log = _written(made, output, force=force)
    about = told("{file}: {n} rows of {algorithm}, {fault}, from step {step} on")
    if not fault:
        about = told("{file}: {n} rows of {algorithm}, healthy")
    click.echo(about.format(file=log, n=len(made.rows), algorithm=algorithm, fault=fault, step=made.meta["onset"]))


def _written(made: Simulated, folder: Path, *, force: bool) -> Path:
    """The log, written. The same run once more changes nothing; another one is overwritten only by force."""
    try:
        for file, content in made.files(folder).items():
            if not force and file.exists() and file.read_bytes() != content.encode():
                raise HolterError(
                    said("{file}: it is there already; choose another folder, or overwrite it with --force", file=file)
                )
        return made.write(folder)
    except OSError as error:
        raise HolterError(said("{file}: it cannot be written ({why}).", file=folder, why=reason(error))) from error
