"""Holter: a Holter monitor for RLHF.

It records the vital signs of an RL post-training run and reads them like a good clinician: what is wrong, since which step,
how sure, what else it could be, what to try.
"""

__version__ = "0.1.0"

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holter.callback import HolterCallback as HolterCallback
    from holter.session import alert as alert
    from holter.session import define_metric as define_metric
    from holter.session import finish as finish
    from holter.session import init as init
    from holter.session import log as log
    from holter.session import log_samples as log_samples
    from holter.trainers.grpo import GRPOTrainer as GRPOTrainer
    from holter.trainers.grpo_config import GRPOConfig as GRPOConfig
    from holter.trainers.ppo import PPOTrainer as PPOTrainer
    from holter.trainers.ppo_config import PPOConfig as PPOConfig

_TRAINERS = {
    "GRPOConfig": "holter.trainers.grpo_config",
    "GRPOTrainer": "holter.trainers.grpo",
    "HolterCallback": "holter.callback",
    "PPOConfig": "holter.trainers.ppo_config",
    "PPOTrainer": "holter.trainers.ppo",
}
"""Names that need the training extra, and where they are: importing Holter to read a log imports no torch."""

_SESSION = ("alert", "config", "define_metric", "finish", "init", "log", "log_samples", "run", "summary")
"""Names of a recording, imported when they are first used: reading a log needs none of them."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import what trains models or records them when it is asked for.

    Raises:
        ImportError: When the training extra is not installed.
    """
    import importlib

    if name in _SESSION:
        return getattr(importlib.import_module("holter.session"), name)
    if name not in _TRAINERS:
        raise AttributeError(f"module 'holter' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_TRAINERS[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("holter"):
            raise
        raise ImportError(f"holter.{name} needs {error.name}: pip install 'holter[train]'") from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_TRAINERS, *_SESSION])
