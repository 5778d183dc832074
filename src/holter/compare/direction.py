"""Which direction of a signal is good, and which signals say how good the policy is."""

from __future__ import annotations

import re
from enum import IntEnum
from typing import TYPE_CHECKING

from holter.detectors.evaluation.held_out import held_out, own_evaluations

if TYPE_CHECKING:
    from collections.abc import Callable

    from holter.runs.run import Run, Series


class Better(IntEnum):
    """Which direction is good."""

    HIGHER = 1
    LOWER = -1
    UNKNOWN = 0
    """Neither, or it depends: a KL, an entropy, a length."""


_OUTCOMES = {
    "reward": Better.HIGHER,
    "reward_penalised": Better.HIGHER,
    "accuracy": Better.HIGHER,
    "eval_alignment": Better.HIGHER,
    "eval_preference_accuracy": Better.HIGHER,
    "perplexity": Better.LOWER,
}
_COURSE = {
    "reward_component": Better.HIGHER,
    "explained_variance": Better.HIGHER,
    "eos_fraction": Better.HIGHER,
    "truncation": Better.LOWER,
    "zero_std_groups": Better.LOWER,
    "value_error": Better.LOWER,
    "repetition": Better.LOWER,
    "step_time": Better.LOWER,
    "throughput": Better.HIGHER,
    "throughput_episodes": Better.HIGHER,
    "throughput_samples": Better.HIGHER,
    "memory_peak": Better.LOWER,
}
_LOWER_BY_NAME = re.compile(
    r"(?:^|[/_.\-])(?:loss|ppl|perplexity|nll|errors?|toxicity|fail\w*|invalid|hack\w*)(?:$|[/_.\-])", re.I
)


def direction(run: Run) -> Callable[[Series], tuple[Better, bool]]:
    """A function that says of a series of `run` which direction is good, and whether the series is an outcome.

    Outcomes are the reward, held-out scores and evaluated rewards. All else describes how the training goes.
    """
    scores = {s.key for s in held_out(run)} | {s.key for s, _ in own_evaluations(run)}

    def of(series: Series) -> tuple[Better, bool]:
        if series.key in scores:
            return Better.HIGHER, True
        if series.concept in _OUTCOMES:
            return _OUTCOMES[series.concept], True
        if series.concept == "eval_score" and _LOWER_BY_NAME.search(series.metric):
            return Better.LOWER, True
        return _COURSE.get(series.concept, Better.UNKNOWN), False

    return of
