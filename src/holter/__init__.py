"""Holter: a Holter monitor for RLHF.

It records the vital signs of an RL post-training run and reads them like a good clinician: what is wrong, since which step,
how sure, what else it could be, what to try.
"""

__version__ = "0.1.0"

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holter.callback import HolterCallback as HolterCallback
    from holter.findings.diagnosis.logs import check as check
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

_SESSION = ("alert", "config", "define_metric", "finish", "init", "log", "log_samples", "run", "summary")

_WHERE = {
    "GRPOConfig": "holter.trainers.grpo_config",
    "GRPOTrainer": "holter.trainers.grpo",
    "HolterCallback": "holter.callback",
    "PPOConfig": "holter.trainers.ppo_config",
    "PPOTrainer": "holter.trainers.ppo",
    "check": "holter.findings.diagnosis.logs",
    **dict.fromkeys(_SESSION, "holter.session"),
}
"""Names and where they are; imported when they are first used, so that whoever reads a log waits for no torch."""


def __getattr__(name: str) -> Any:  # noqa: ANN401
    """Import what is asked for.

    Raises:
        ImportError: When it needs the training extra, which is not installed.
    """
    import importlib

    if name not in _WHERE:
        raise AttributeError(f"module 'holter' has no attribute {name!r}")
    try:
        return getattr(importlib.import_module(_WHERE[name]), name)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("holter"):
            raise
        from holter.language import said

        needs = said("holter.{name} needs {package}: pip install 'holter[train]'", name=name, package=error.name)
        raise ImportError(needs) from error


def __dir__() -> list[str]:
    return sorted([*globals(), *_WHERE])
