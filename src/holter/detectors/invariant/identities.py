"""What must hold between metrics of one row, and what a metric's value alone gives away.

Each check returns a `Broken` for the first row that breaks it persistently, or nothing. All are arithmetic; none needs
a trend.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from holter.detectors.base import number
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.episodes import persist
from holter.findings.finding import Alternative, Severity
from holter.language import said
from holter.runs.hyperparameters import reward_weights
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.runs.run import Run, Series

MOST_COMPONENTS = 5
GAUSSIAN_ENTROPY = 0.5 * float(np.log(2 * np.pi * np.e))
VOCABULARIES = (
    32000,
    32100,
    32768,
    50257,
    50265,
    50272,
    50280,
    50304,
    50432,
    65024,
    100352,
    128256,
    129280,
    151643,
    151936,
    152064,
    256000,
    256128,
    262144,
)
"""Sizes of common vocabularies: an entropy of exactly ln V, constant, is that of a uniform policy."""

ADVICE = ("Look at the code that logs them: masks, reductions, rows that are averaged differently.",)
"""Advice where a check gives none of its own."""


@dataclass(frozen=True, slots=True, eq=False)
class Broken:
    """A definition that does not hold.

    Attributes:
        series: The metric it is about; positions are positions in it.
        first: First position that shows it.
        raised: Position at which it could first be said.
        last: Last position that shows it.
        title: The statement.
        severity: How much is at stake.
        beside: Other metrics that the statement rests on.
        advice: What to do.
        alternatives: What else it could be.
    """

    series: Series
    first: int
    raised: int
    last: int
    title: str
    severity: Severity
    beside: tuple[Series, ...] = ()
    advice: tuple[str, ...] = ()
    alternatives: tuple[Alternative, ...] = ()


def penalised_reward(run: Run, tolerance: float) -> Iterator[Broken]:
    """Penalised reward = score + KL part; some documents print it with a minus, and a log may follow them."""
    total, score, penalty = run.get("reward_penalised"), run.get("reward"), run.get("kl_penalty")
    if total is None or score is None or penalty is None:
        return
    s, p = on_rows(score, total.at), on_rows(penalty, total.at)
    with np.errstate(all="ignore"):
        size = np.abs(total.values) + np.abs(s) + np.abs(p)
        plus = np.abs(total.values - (s + p)) > tolerance * size + 1e-3
        minus = np.abs(total.values - (s - p)) > tolerance * size + 1e-3
        known = np.isfinite(size)
        beside = (score, penalty)
        named = {"total": total.metric, "score": score.metric, "penalty": penalty.metric}
        yield from _first(
            total,
            known & plus & minus,
            said("{total} is neither the sum nor the difference of {score} and {penalty}", **named),
            Severity.WARNING,
            beside,
            ("Look at how the three are reduced: one of them may be averaged over other samples than the rest.",),
        )
        yield from _first(
            total,
            known & plus & ~minus,
            said(
                "{total} is {score} minus {penalty}: here the KL part is logged as a cost, elsewhere as a (negative) reward",
                **named,
            ),
            Severity.INFO,
            beside,
            ("Read the sign of the KL part with care when comparing with runs of other frameworks.",),
        )


def weighted_sum(run: Run, tolerance: float) -> Iterator[Broken]:
    """Reward = sum of weighted component means, where the weights are known; which belongs to which is tried out."""
    weights, reward, parts = reward_weights(run), run.get("reward"), run.all("reward_component")
    if weights is None or reward is None or len(parts) != len(weights) or len(parts) > MOST_COMPONENTS:
        return
    means = np.stack([on_rows(part, reward.at) for part in parts])
    with np.errstate(all="ignore"):
        off: NDArray[np.bool_] = np.asarray(np.isfinite(means).all(axis=0))
        for order in set(permutations(weights)):
            terms = np.asarray(order)[:, None] * means
            slack = 5 * tolerance * np.abs(terms).sum(axis=0) + 1e-2
            off &= np.abs(reward.values - terms.sum(axis=0)) > slack
    yield from _first(
        reward,
        off,
        said("{metric} is not the weighted sum of its {n} components", metric=reward.metric, n=len(weights)),
        Severity.INFO,
        tuple(parts[:2]),
        ("Check the weights, and whether a reward function abstains (None, NaN): it then counts as 0 in the sum.",),
    )


def clipped_region(run: Run, tolerance: float) -> Iterator[Broken]:
    """The share of tokens in either clipped region = low + high: no token is in both."""
    region, low, high = (run.series.get(f"clip_ratio/{k}_mean") for k in ("region", "low", "high"))
    if region is None or low is None or high is None:
        return
    both = on_rows(low, region.at) + on_rows(high, region.at)
    with np.errstate(all="ignore"):
        off = np.isfinite(both) & (np.abs(region.values - both) > tolerance * np.abs(both) + 1e-3)
    yield from _first(
        region,
        off,
        said("{region} is not {low} + {high}", region=region.metric, low=low.metric, high=high.metric),
        Severity.WARNING,
        (low, high),
    )


def length_order(run: Run, tolerance: float) -> Iterator[Broken]:
    """Shortest <= mean <= longest completion, also after averaging over a window."""
    low, mean, high = (run.get(c) for c in ("length_min", "length", "length_max"))
    if mean is None:
        return
    with np.errstate(all="ignore"):
        slack = tolerance * np.abs(mean.values) + 0.51  # lengths are rounded to whole tokens by some
        off = (on_rows(low, mean.at) > mean.values + slack) | (on_rows(high, mean.at) < mean.values - slack)
    beside = tuple(s for s in (low, high) if s is not None)
    yield from _first(
        mean,
        off,
        said("{metric} is not between the shortest and the longest completion", metric=mean.metric),
        Severity.WARNING,
        beside,
    )


def partial_ratio(run: Run, tolerance: float) -> Iterator[Broken]:
    """A mean ratio of exactly 1/n with the variance of a table of which 1/n is filled: TRL's statistics table.

    With n mini-batches only every n-th slot is written and the zeros are averaged in, which makes every averaged training
    statistic of TRL's PPO too small by the factor n.
    """
    ratio = run.series.get("val/ratio")
    if ratio is None:
        return
    variance = on_rows(run.series.get("val/ratio_var"), ratio.at)
    with np.errstate(all="ignore"):
        n = np.round(1 / ratio.values)
        exact = (n >= 2) & (n <= 64) & (np.abs(ratio.values * n - 1) < 5 * tolerance)
        expected = (n - 1) / n**2
        zeros = (variance > 0.5 * expected) & (variance < 2.5 * expected)
    seen = np.flatnonzero(exact & zeros)
    times = int(n[seen[0]]) if len(seen) else 0
    yield from _first(
        ratio,
        exact & zeros,
        said(
            "{metric} sits at 1/{times} with the variance of zeros among ones: averages over a table of which 1/{times} is "
            "filled",
            metric=ratio.metric,
            times=times,
        ),
        Severity.INFO,
        tuple(s for s in (run.series.get("val/ratio_var"),) if s is not None),
        (
            said(
                "Multiply the averaged training statistics of this log by {times}, or set num_mini_batches = 1: TRL fills only "
                "a part of its table when gradient accumulation and mini-batches are both above 1.",
                times=times,
            ),
            "The policy is not to blame; do not lower the learning rate for it.",
        ),
    )


def telling_entropy(run: Run, _: float) -> Iterator[Broken]:
    """An entropy that never moves and equals that of a known distribution."""
    for entropy in run.all("entropy"):
        if entropy.unit != Unit.NATS_PER_TOKEN:
            continue
        x = entropy.values
        with np.errstate(all="ignore"):
            gaussian = np.abs(x - GAUSSIAN_ENTROPY) < 2e-5
            uniform = np.zeros(len(x), bool)
            for size in VOCABULARIES:
                uniform |= np.abs(x - np.log(size)) < 2e-5
        yield from _first(
            entropy,
            gaussian,
            said(
                "{metric} is {value}, the entropy of a Gaussian with standard deviation 1: it does not depend on the policy's "
                "state",
                metric=entropy.metric,
                value=number(GAUSSIAN_ENTROPY),
            ),
            Severity.INFO,
            advice=(
                "A continuous policy with a fixed standard deviation has this entropy for ever; watch the KL instead.",
            ),
            rows=1,
        )
        yield from _first(
            entropy,
            uniform,
            said(
                "{metric} is the logarithm of a vocabulary size: the policy is uniform over all tokens",
                metric=entropy.metric,
            ),
            Severity.WARNING,
            advice=("Look at the logits: a head that was not loaded, or logits multiplied by zero.",),
            rows=2,
        )


def _first(
    series: Series,
    off: NDArray[np.bool_],
    title: str,
    severity: Severity,
    beside: tuple[Series, ...] = (),
    advice: tuple[str, ...] = (),
    alternatives: tuple[Alternative, ...] = (),
    rows: int = 3,
) -> Iterator[Broken]:
    """The first time that `rows` of rows in a row are off; one odd row may be a rounding or an abstaining sample."""
    held = np.flatnonzero(persist(off, rows, rows))
    if len(held):
        raised = int(held[0])
        yield Broken(
            series,
            raised - rows + 1,
            raised,
            int(np.flatnonzero(off)[-1]),
            title,
            severity,
            beside,
            advice or ADVICE,
            alternatives,
        )


CHECKS = (penalised_reward, weighted_sum, clipped_region, length_order, partial_ratio, telling_entropy)
