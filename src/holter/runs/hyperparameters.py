"""Hyper-parameters of a run under one name each, whatever the framework calls them.

A configuration may be flat, nested (verl), dotted, or wrapped as a tracker stores it (``{"beta": {"value": 0.04}}``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from holter.readers.rows import DEEPEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.runs.run import Run

NAMES: Mapping[str, tuple[str, ...]] = {
    "group_size": ("num_generations", "n_samples_per_prompt", "rollout.n", "group_size", "num_samples_per_prompt"),
    "completion_limit": (
        "max_completion_length",
        "response_length",
        "max_response_length",
        "generate_max_len",
        "max_new_tokens",
    ),
    "kl_coefficient": ("beta", "kl_coef", "init_kl_coef", "kl_loss_coef", "kl_beta"),
    "updates_per_batch": ("num_iterations", "num_ppo_epochs", "ppo_epochs"),
    "batch_episodes": ("batch_size", "train_batch_size", "rollout_batch_size"),
    "planned_steps": ("max_steps", "total_training_steps", "total_steps", "num_training_steps"),
    "vocabulary_size": ("vocab_size",),
}
"""Our name, and the names that frameworks give it; the last part of a nested or dotted path must match."""


def hyperparameter(run: Run, name: str) -> float | None:
    """A hyper-parameter as a number, or None when the configuration does not say it.

    Args:
        run: The run whose configuration is asked.
        name: A key of `NAMES`.
    """
    flat = dict(flatten(run.config))
    for wanted in NAMES[name]:
        for path, value in flat.items():
            if (path == wanted or path.endswith(f".{wanted}")) and _is_number(value):
                return float(value)  # type: ignore[arg-type]
    return None


def reward_weights(run: Run) -> tuple[float, ...] | None:
    """Weights of the reward functions in their order, or None when the configuration does not list them."""
    for path, value in flatten(run.config):
        listed = isinstance(value, list | tuple) and bool(value) and all(_is_number(w) for w in value)
        if listed and path.rsplit(".", 1)[-1] == "reward_weights":
            return tuple(float(w) for w in value)  # type: ignore[attr-defined]
    return None


def kl_target(run: Run) -> float | None:
    """The budget of an adaptive controller for the KL to the reference, in the unit of its KL; None where there is none.

    A limit on the KL of one update (``target_kl`` of PPO) is not meant, nor the default target beside a fixed coefficient.
    """
    flat = dict(flatten(run.config))
    for path, value in flat.items():
        of_controller = f".{path}".endswith(".kl_ctrl.target_kl")
        if not of_controller and path.rsplit(".", 1)[-1] != "kl_target":
            continue
        fixed = of_controller and flat.get(f"{path.removesuffix('target_kl')}type") == "fixed"
        if not fixed and _is_number(value) and value > 0:  # type: ignore[operator]
            return float(value)  # type: ignore[arg-type]
    target = flat.get("target")
    if flat.get("adap_kl_ctrl") and _is_number(target) and target > 0:  # type: ignore[operator]
        return float(target)  # type: ignore[arg-type]
    return None


def flatten(config: Mapping[str, object], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, object]]:
    """A configuration as dotted paths and their values; of a value that a tracker wrapped, the wrapping too.

    Trackers join nested settings with a slash, frameworks with a dot: both are one path. What is nested more than `DEEPEST`
    deep is no setting, and left aside.
    """
    if depth > DEEPEST:
        return
    for key, value in config.items():
        path = f"{prefix}{key}".replace("/", ".")
        if isinstance(value, Mapping):
            if "value" in value:
                yield path, value["value"]
            yield from flatten(value, f"{path}.", depth + 1)
        else:
            yield path, value


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
