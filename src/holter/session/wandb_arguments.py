"""Arguments that people are used to from ``wandb.init``."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from holter.errors import SettingsError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

OF_WANDB = (
    "allow_val_change",
    "anonymous",
    "config_exclude_keys",
    "config_include_keys",
    "dir",
    "entity",
    "force",
    "fork_from",
    "group",
    "job_type",
    "mode",
    "monitor_gym",
    "notes",
    "reinit",
    "resume_from",
    "save_code",
    "sync_tensorboard",
    "tags",
    "tensorboard",
)
"""What ``wandb.init`` takes beyond what `holter.init` does."""
DISABLED = "disabled"
"""The ``mode`` in which nothing is recorded."""


def for_wandb(
    given: Mapping[str, object], own: Iterable[str], options: Mapping[str, Mapping[str, object]]
) -> dict[str, Mapping[str, object]]:
    """`options` of the trackers, with what was said to W&B among them.

    Args:
        given: Arguments that `holter.init` does not have.
        own: Names of those it has.
        options: Settings of single trackers by name.

    Raises:
        SettingsError: For an argument that ``wandb.init`` does not have either, with the nearest one.
    """
    for name in given:
        if name not in OF_WANDB:
            near = difflib.get_close_matches(name, [*own, *OF_WANDB], n=1)
            hint = [said("Did you mean {names}?", names=near[0])] if near else []
            raise SettingsError(said("holter.init has no argument {name!r}, nor has wandb.init.", name=name), *hint)
    return {**options, "wandb": {**given, **options.get("wandb", {})}} if given else dict(options)
