"""Which settings differ between runs, and which of those are only a run's identity: its seed, its name, where it writes."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holter.runs.hyperparameters import flatten

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.runs.run import Run

SEEDS = frozenset({"seed", "data_seed", "full_determinism", "random_seed", "rng_seed", "sampling_seed"})
"""Settings that runs of one setting are meant to differ in."""

IDENTITY = SEEDS | {
    "name",
    "run_name",
    "run_id",
    "exp_name",
    "experiment_name",
    "project",
    "project_name",
    "id",
    "group",
    "tags",
    "notes",
    "host",
    "hostname",
    "created",
    "timestamp",
    "start_time",
    "command",
    "report_to",
    "logger",
    "eval_size",
    "resume_from_checkpoint",
    "episode",
    "epoch",
    "global_step",
}
"""Settings that say which run it is, and change nothing that it measures."""
_PLACES = ("_dir", "_folder", "_file", "_repo", "_url", "hub_model_id", "hub_token", "_entity")

ABSENT = "-"
"""How a setting is shown that a run does not have."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting that differs.

    Attributes:
        name: Its dotted path in the configurations.
        values: What each run has, in the order of the runs; None where a run does not say it.
    """

    name: str
    values: tuple[object, ...]

    @property
    def numbers(self) -> tuple[float, ...] | None:
        """The values as numbers, or None when one of them is none."""
        if all(isinstance(v, int | float) and not isinstance(v, bool) and math.isfinite(v) for v in self.values):
            return tuple(float(v) for v in self.values)  # type: ignore[arg-type]
        return None


def settings_of(run: Run) -> dict[str, object]:
    """A run's settings by dotted path, without what only says which run it is."""
    return {path: value for path, value in _leaves(run) if not _is_identity(path)}


def seed_of(run: Run) -> object | None:
    """The seed that the configuration states, or None."""
    return next((v for path, v in _leaves(run) if path.rsplit(".", 1)[-1] == "seed"), None)


def apart(runs: Sequence[Run]) -> tuple[Setting, ...]:
    """The settings in which the runs differ, in the order of the first configuration that has them.

    A log that holds no configuration at all differs in nothing that could be named.
    """
    all_settings = [settings_of(run) for run in runs]
    names = dict.fromkeys(name for each in all_settings for name in each)
    return tuple(
        Setting(name, tuple(each.get(name) for each in all_settings))
        for name in names
        if len({as_text(each.get(name)) for each in all_settings if each}) > 1
    )


def as_text(value: object) -> str:
    """A setting's value as it is shown; equal texts are equal settings, so ``1`` and ``1.0`` are one."""
    if value is None:
        return ABSENT
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value if isinstance(value, str) else json.dumps(value, sort_keys=True, default=str)
    return f"{value:.10g}"


def _leaves(run: Run) -> list[tuple[str, object]]:
    flat = dict(flatten(run.config))
    wrapped = {path.removesuffix(".value") for path in flat if path.endswith(".value")}
    return [
        (path, value)
        for path, value in flat.items()
        if not isinstance(value, Mapping)
        and not (path.endswith((".value", ".desc")) and path.rsplit(".", 1)[0] in wrapped)
    ]


def _is_identity(path: str) -> bool:
    last = path.rsplit(".", 1)[-1].lower()
    return last in IDENTITY or last.endswith(_PLACES)
