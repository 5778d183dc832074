"""What kind of log a run is: facts that switch rules, told from its columns and values alone.

Every function looks at what it is given and no further, so that a fact about ``run.until(step)`` is a fact as it stood then.
None means that the log cannot tell, and is never to be read as no.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

import numpy as np

from holter.runs.run import Split

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

COARSEST = 3
"""Decimals of the printers that round to a fixed number of them."""

FEW = 5
"""Values below which nothing is said of how a series is printed."""

HEAD = 64
"""Values of a series that tell how its log was printed; a printer does not change its format on the way."""

_NOT_MEASURED = ("axis", "lr", "critic_lr", "kl_coef", "step_time")
_CRITIC = ("value_loss", "value_clip_fraction", "explained_variance", "critic_grad_norm", "value_mean", "value_error")
_GROUPS = (
    *("zero_std_groups", "reward_group_spread", "groups_solved", "groups_failed", "groups_mixed"),
    *("groups_solved_count", "groups_failed_count", "groups_mixed_count", "zero_std_groups_count"),
)
_CRITIC_IF_ANY = ("verl", "easyr1", "ragen", "rllm", "openrlhf", "skyrl", "slime", "roll", "nemo-rl", "areal")


class Algorithm(StrEnum):
    """Family of the algorithm, as far as the metrics tell."""

    PPO = "ppo"
    """There is a critic."""
    GRPO = "grpo"
    """There is none: advantages come from comparing completions (GRPO, RLOO, REINFORCE++)."""
    UNKNOWN = "unknown"


def algorithm(run: Run) -> Algorithm:
    """The algorithm's family: by its critic, its groups, or the trainer that wrote the log.

    A framework that logs a critic wherever there is one, and logs none beside its policy loss, trains without.
    """
    if any(run.get(c) is not None for c in _CRITIC):
        return Algorithm.PPO
    if any(run.get(c) is not None for c in _GROUPS) or "grpo" in run.dialect:
        return Algorithm.GRPO
    if "ppo" in run.dialect:
        return Algorithm.PPO
    if run.dialect in _CRITIC_IF_ANY and run.get("policy_loss") is not None:
        return Algorithm.GRPO
    return Algorithm.UNKNOWN


def training_rows(run: Run) -> NDArray[np.int64]:
    """Rows that hold a training metric, axes aside. Shape ``(n,)``, increasing."""
    held = np.zeros(len(run), bool)
    for series in run.series.values():
        if series.split is Split.TRAIN and series.concept != "axis":
            held[series.at] = True
    return np.flatnonzero(held)


def begins_at_first_step(run: Run) -> bool:
    """Whether the first row is known to be that of step 0 or 1.

    It is not where the rows are merely counted, nor where fractions of an epoch number them: 0.85 is no step below 1.
    """
    if run.steps[0] > 1 or run.step_axis.startswith("row number"):
        return False
    epoch = run.series.get("epoch")
    by_epoch = epoch is not None and np.array_equal(epoch.values, run.steps)
    return not (by_epoch and bool((np.mod(run.steps, 1.0) != 0).any()))


def resolution(values: NDArray[np.float64]) -> float:
    """Distance between neighbouring numbers as the log prints them; 0.0 at full precision.

    A printer of three decimals writes 0.0004 as ``0.000``, which is no zero. Whole numbers and multiples of 1/8 are counts and
    shares as a rule and tell nothing, nor does a handful of values.

    Args:
        values: Values as logged. Shape ``(n,)``.

    Returns:
        0.1, 0.01 or 0.001, in the unit of the values, or 0.0.
    """
    finite = values[np.isfinite(values)]
    if len(finite) < FEW or _multiples(finite, 8.0):
        return 0.0
    for decimals in range(1, COARSEST + 1):
        if _multiples(finite, 10.0**decimals):
            return float(10.0**-decimals)
    return 0.0


def _multiples(values: NDArray[np.float64], parts: float) -> bool:
    """Whether every value is a whole number of ``1 / parts``."""
    scaled = values * parts
    return bool((np.abs(scaled - np.round(scaled)) <= 1e-6 * np.maximum(np.abs(scaled), 1e-3)).all())


def print_resolution(run: Run) -> float:
    """Resolution of the printer that wrote the log; 0.0 when any measured training series has more digits than it would.

    This tells of a series that is 0 throughout, which no look at the series itself could.
    """
    coarsest = 0.0
    for series in run.series.values():
        if series.split is not Split.TRAIN or series.derived or series.concept in _NOT_MEASURED:
            continue
        head = series.values[:HEAD]
        finite = head[np.isfinite(head)]
        if len(finite) < FEW or _multiples(finite, 8.0):
            continue
        found = resolution(finite)
        if not found:
            return 0.0
        coarsest = found if not coarsest else min(coarsest, found)
    return coarsest


def is_zero_throughout(run: Run, series: Series) -> bool | None:
    """Whether a series is exactly 0 in every row; None where its zeros may be rounded small numbers, or it has no values."""
    finite = series.values[np.isfinite(series.values)]
    if not len(finite):
        return None
    if (finite != 0).any():
        return False
    return None if print_resolution(run) else True


def beta_is_zero(run: Run) -> bool | None:
    """Whether no penalty holds the policy to its reference: by the configuration, the coefficient, or a KL that is 0.

    TRL's GRPO trainer logs no KL when beta is 0. A framework that never logs one, or logs one whatever beta is, cannot tell.
    """
    for name in ("beta", "kl_coef", "kl_loss_coef", "init_kl_coef"):
        said = run.config.get(name)
        if isinstance(said, int | float) and not isinstance(said, bool):
            return float(said) == 0.0
    coefficient = run.get("kl_coef")
    if coefficient is not None and not coefficient.derived:
        return is_zero_throughout(run, coefficient)
    kl = run.get("ref_kl")
    if run.dialect == "unsloth":
        return None
    if kl is None:
        return True if run.dialect == "trl-grpo" and len(training_rows(run)) else None
    zero = is_zero_throughout(run, kl)
    return zero if not zero or len(kl) >= 2 else None
