"""Signals that were not logged but follow from others by arithmetic.

A signal is derived only where nothing of its concept was logged, so that a derived number never stands beside a logged one,
let alone before it. For the same reason a KL per token is not made into one per sequence: the unit travels with the series.
A row whose outcome is not finite is left out, because NaN in a series means that a NaN was logged.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING

import numpy as np

from holter.dialects.base import Fit
from holter.runs.run import Series, Split, signal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

SMALLEST_KL = 0.01
"""Nats a sequence below which a quotient by the KL is noise."""


@dataclass(frozen=True, slots=True)
class Rule:
    """How one signal follows from others.

    Attributes:
        key: What follows.
        formula: The formula as people read it, with canonical keys in braces.
        compute: The same on arrays over the rows that hold every input, in the order of the formula.
        fit: How well the outcome is the signal.
    """

    key: str
    formula: str
    compute: Callable[..., NDArray[np.float64]]
    fit: Fit = Fit.CLOSE

    @property
    def inputs(self) -> tuple[str, ...]:
        """Canonical keys of the inputs, each once, in the order of the formula."""
        return tuple(dict.fromkeys(re.findall(r"\{([^{}]+)\}", self.formula)))


def _quotient(over: NDArray[np.float64], under: NDArray[np.float64]) -> NDArray[np.float64]:
    """``over / under``, NaN where the denominator is 0: there the quantity does not exist."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(under == 0, np.nan, over / np.where(under == 0, 1.0, under))


def _coefficient(penalty: NDArray[np.float64], kl: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.abs(kl) > SMALLEST_KL, _quotient(-penalty, kl), np.nan)


def _root(variance: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.sqrt(np.where(variance < 0, np.nan, variance))


RULES = (
    Rule(
        "objective/rlhf_reward",
        "{objective/scores} + {objective/non_score_reward}",
        lambda scores, penalty: scores + penalty,
        Fit.EXACT,
    ),
    Rule(
        "objective/non_score_reward",
        "{objective/rlhf_reward} - {objective/scores}",
        lambda total, scores: total - scores,
        Fit.EXACT,
    ),
    Rule("objective/non_score_reward", "{objective/rlhf_reward} - {reward}", lambda total, reward: total - reward),
    Rule("objective/kl_coef", "-{objective/non_score_reward} / {objective/kl}", _coefficient),
    Rule(
        "frac_reward_zero_std",
        "{groups/all_solved} + {groups/none_solved}",
        lambda solved, failed: solved + failed,
    ),
    Rule("frac_reward_zero_std", "1 - {groups/mixed}", lambda mixed: 1 - mixed),
    Rule(
        "frac_reward_zero_std",
        "({groups/all_solved_count} + {groups/none_solved_count})"
        " / ({groups/all_solved_count} + {groups/none_solved_count} + {groups/mixed_count})",
        lambda solved, failed, mixed: _quotient(solved + failed, solved + failed + mixed),
    ),
    Rule("completions/clipped_ratio", "1 - {completions/eos_ratio}", lambda ended: 1 - ended),
    Rule(
        "explained_variance",
        "1 - {value/error} / {returns/var}",
        lambda error, variance: 1 - _quotient(error, variance),
    ),
    Rule("returns/std", "sqrt({returns/var})", _root, Fit.EXACT),
    Rule("value/std", "sqrt({value/var})", _root, Fit.EXACT),
    Rule(
        "clip_ratio/region_mean",
        "{clip_ratio/low_mean} + {clip_ratio/high_mean}",
        lambda low, high: low + high,
        Fit.EXACT,
    ),
    Rule(
        "completions/mean_length",
        "{sequence/mean_length} - {prompt_length/mean}",
        lambda whole, prompt: whole - prompt,
    ),
)
"""In the order in which they are tried; the first that has its inputs gives the signal."""


def derived(series: Mapping[str, Series]) -> dict[str, Series]:
    """Series that follow from `series` and whose concept is not among them, by canonical key."""
    out: dict[str, Series] = {}
    logged = {(s.concept, s.split) for s in series.values() if len(s)}
    for split in Split:
        prefix = "eval/" if split is Split.EVAL else ""
        for rule in RULES:
            found = [series.get(prefix + key) for key in rule.inputs]
            inputs = [s for s in found if s is not None and len(s)]
            if len(inputs) < len(found):
                continue
            made = _apply(rule, prefix + rule.key, inputs)
            if made is not None and (made.concept, split) not in logged and made.key not in out:
                out[made.key] = made
    return out


def _apply(rule: Rule, key: str, inputs: list[Series]) -> Series | None:
    target = signal_of(key)
    at = reduce(lambda a, b: np.intersect1d(a, b, assume_unique=True), (s.at for s in inputs))
    if target is None or not len(at):
        return None
    picked = [np.searchsorted(s.at, at) for s in inputs]
    signal, labels, split = target
    formula = rule.formula
    for name, one in zip(rule.inputs, inputs, strict=True):
        formula = formula.replace("{" + name + "}", one.metric)
    with np.errstate(all="ignore"):
        values = rule.compute(*(s.values[p] for s, p in zip(inputs, picked, strict=True)))
    finite = np.isfinite(values)
    if not finite.any():
        return None
    return Series(
        key=key,
        metric=formula,
        signal=signal,
        split=split,
        labels=labels,
        unit=signal.unit,
        estimator=signal.estimator,
        reduction=signal.reduction,
        fit=max((rule.fit, *(s.fit for s in inputs)), key=list(Fit).index),
        at=at[finite],
        steps=inputs[0].steps[picked[0]][finite],
        values=values[finite],
        derived=True,
        inputs=tuple(s.metric for s in inputs),
    )
