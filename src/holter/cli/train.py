"""``holter train ALGORITHM CONFIG``: train from a configuration file, and record everything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from holter.cli._speaking import Command, Group
from holter.errors import HolterError, reason
from holter.language import Said, said, told

ALGORITHMS = {
    "grpo": ("GRPOConfig", "GRPOTrainer", said("Group Relative Policy Optimization")),
    "ppo": ("PPOConfig", "PPOTrainer", said("Proximal Policy Optimization")),
}
"""Config class, trainer and title of each algorithm, as ``holter`` offers them."""


def _from_holter(name: str) -> Any:  # noqa: ANN401
    import holter

    try:
        return getattr(holter, name)
    except ImportError as error:
        raise HolterError(reason(error)) from error


class _Training(Command):
    """A command whose options are the fields of a dataclass that only the training extra can import."""

    config = trainer = ""

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's
        """What the command does, with the algorithm in it."""
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(told(self.help or ""))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The settings with their help texts; without the training extra, how to get it."""
        super().format_options(ctx, formatter)
        import dataclasses

        from holter.trainers.launch import own_settings, parts_of

        with formatter.section(told("What is trained, on what")):
            formatter.write_dl([(name, told(what)) for name, what in parts_of(_from_holter(self.trainer)).items()])
        config = _from_holter(self.config)
        own = own_settings(config)
        fields = sorted((f for f in dataclasses.fields(config) if f.init), key=lambda f: f.name)
        for title, chosen in (
            (told("Settings, in the file or here"), [f for f in fields if f.name in own]),
            (told("Settings of transformers.TrainingArguments, likewise"), [f for f in fields if f.name not in own]),
        ):
            with formatter.section(title):
                formatter.write_dl([(f"--{f.name}", _help(f)) for f in chosen])


def _help(field: Any) -> str:  # noqa: ANN401
    """Help text and default of a dataclass' field."""
    import dataclasses

    says = told(" ".join(str(field.metadata.get("help", "")).replace("%%", "%").split()))
    if field.default in (None, dataclasses.MISSING):
        return says
    return f"{says}  {told('[default: {value}]', value=field.default)}"


@click.group(cls=Group)
def command() -> None:
    """Train a language model on rewards. `holter train grpo --help` and `holter train ppo --help` list every setting."""


def _add(algorithm: str, config: str, trainer: str, title: Said) -> None:
    @click.command(
        algorithm,
        cls=_Training,
        short_help=said("{title}.", title=title),
        context_settings={"ignore_unknown_options": True, "allow_extra_args": True},
    )
    @click.argument("file", metavar="CONFIG", type=click.Path(exists=True, dir_okay=False, path_type=Path))
    @click.option("--resume", is_flag=True, help="Go on from the last checkpoint in output_dir.")
    @click.pass_context
    def run(ctx: click.Context, file: Path, resume: bool) -> None:  # noqa: FBT001 - click passes flags by name
        from holter.trainers.launch import launch, merged, overrides, read_config

        said = merged(read_config(file), overrides(ctx.args))
        made = launch(_from_holter(config), _from_holter(trainer), said, str(file))
        made.train(resume_from_checkpoint=resume or None)
        made.save_model()
        if made.accelerator.is_main_process and made.report.folder is not None:
            click.echo(told("The run is in {folder}: holter check {folder}", folder=made.report.folder))

    run.help = said("{algorithm}, as CONFIG says (YAML); --NAME VALUE overrides it.", algorithm=title)
    run.config, run.trainer = config, trainer
    command.add_command(run)


for _algorithm, _of in ALGORITHMS.items():
    _add(_algorithm, *_of)
