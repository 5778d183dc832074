"""Comparisons against planted differences, and against none."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pytest

from holter.compare import AxisError, Basis, Verdict, compare
from holter.compare.effect import Level, effect
from holter.compare.student import two_sided
from holter.compare.sweep import spearman
from holter.runs.build import run_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from holter.runs.run import Run

STEPS = 120


def walk(generator: np.random.Generator, end: float, spread: float) -> NDArray[np.float64]:
    """A learning curve that ends near `end`, with noise along the way and a wandering of its own: what a seed does."""
    rise = end * (1 - np.exp(-np.arange(STEPS) / 25))
    own = np.cumsum(generator.normal(0, spread / math.sqrt(STEPS), STEPS))
    return rise + own + generator.normal(0, spread, STEPS)


def run(
    name: str, seed: int, *, end: float = 1.0, from_step: int = 0, drop: float = 0.0, signals: int = 1, **config: object
) -> Run:
    generator = np.random.default_rng(seed)
    reward = walk(generator, end, 0.05)
    reward[from_step:] -= drop
    columns = {"reward": reward.tolist(), "kl": np.abs(walk(generator, 0.05, 0.005)).tolist()}
    columns |= {f"rewards/f{i}/mean": walk(generator, 0.5, 0.05).tolist() for i in range(signals - 1)}
    steps = list(range(1, STEPS + 1))
    return run_of(steps, columns, config={"learning_rate": 1e-6, "seed": seed, **config}, name=name)


def seeds(count: int, start: int, **kwargs: object) -> list[Run]:
    return [run(f"{start}-{i}", start + i, **kwargs) for i in range(count)]  # type: ignore[arg-type]


def verdict(comparison, key: str) -> Verdict:
    return next(d for d in comparison.pairs[0].differences if d.key == key).effect.verdict


def test_a_planted_difference_is_found_and_nothing_else() -> None:
    found = compare([*seeds(4, 0, beta=0.1), *seeds(4, 100, beta=0.2, end=0.6)])
    assert verdict(found, "reward") is Verdict.LOWER
    assert verdict(found, "kl") is Verdict.SAME
    assert [s.name for s in found.apart] == ["beta"]


def test_the_interval_is_welchs_worked_by_hand() -> None:
    a, b = Level(mean=1.0, sd=0.2, runs=4, within=0.0), Level(mean=2.0, sd=0.2, runs=4, within=0.0)
    found = effect(a, b)
    reach = 2.447 * math.sqrt(0.04 / 4 + 0.04 / 4)  # equal spreads: 6 degrees of freedom, 2.447 in the tables
    assert (found.low, found.high) == pytest.approx((1 - reach, 1 + reach), abs=1e-3)


def test_unequal_spreads_cost_degrees_of_freedom() -> None:
    a, b = Level(mean=1.0, sd=0.2, runs=4, within=0.0), Level(mean=2.0, sd=0.6, runs=4, within=0.0)
    df = (0.01 + 0.09) ** 2 / (0.01**2 / 3 + 0.09**2 / 3)
    assert effect(a, b).p == pytest.approx(two_sided(1 / math.sqrt(0.1), df))
    assert df < 3.7


def test_seeds_that_agree_by_accident_do_not_make_noise_small() -> None:
    a = Level(mean=0.0, sd=0.0, runs=2, within=0.0)
    b = Level(mean=0.01, sd=0.0, runs=2, within=0.02)
    assert effect(a, b).p > 0.3


def test_one_run_borrows_the_spread_of_settings_that_have_seeds() -> None:
    found = compare([*seeds(4, 0, beta=0.1), run("one", 77, beta=0.2, end=0.5)])
    difference = next(d for d in found.pairs[0].differences if d.key == "reward")
    assert difference.effect.basis is Basis.OTHER_SEEDS
    assert difference.effect.verdict is Verdict.LOWER


def test_without_seeds_only_the_runs_are_spoken_of() -> None:
    found = compare([run("a", 1, beta=0.1), run("b", 2, beta=0.2, end=0.3)])
    difference = next(d for d in found.pairs[0].differences if d.key == "reward")
    assert difference.effect.basis is Basis.WITHIN
    assert math.isnan(difference.effect.size)


@pytest.mark.parametrize("planted", [40, 80])
def test_curves_part_where_the_difference_was_planted(planted: int) -> None:
    found = compare([*seeds(4, 0, beta=0.1), *seeds(4, 200, beta=0.2, from_step=planted, drop=0.6)])
    parting = next(d for d in found.pairs[0].differences if d.key == "reward").parting
    assert parting is not None
    assert abs(parting.at - planted) <= 2 * STEPS / 40


@pytest.mark.slow
def test_settings_that_are_the_same_are_seldom_told_apart() -> None:
    wrong = 0
    for trial in range(60):
        start = 1000 * (trial + 1)
        found = compare([*seeds(3, start, beta=0.1, signals=12), *seeds(3, start + 500, beta=0.2, signals=12)])
        wrong += any(d.effect.verdict in (Verdict.HIGHER, Verdict.LOWER) for d in found.pairs[0].differences)
    assert wrong <= 8  # 5 % of 60 are 3; more than 8 has a chance of 1 in 100


def test_a_worse_outcome_is_a_regression_and_a_better_one_is_not() -> None:
    base = seeds(4, 0, beta=0.1)
    assert [r.what for r in compare(seeds(4, 100, beta=0.2, end=0.6), baseline=base).regressions] == ["reward"]
    assert not compare(seeds(4, 100, beta=0.2, end=1.5), baseline=base).regressions


def test_a_margin_forgives_a_small_loss() -> None:
    base = seeds(4, 0, beta=0.1)
    assert not compare(seeds(4, 100, beta=0.2, end=0.6), baseline=base, margin=0.7).regressions


def test_a_new_finding_is_a_regression() -> None:
    sick = run("sick", 9, beta=0.2)
    values = sick["reward"].values
    values[60:] = np.nan
    found = compare([sick], baseline=seeds(3, 0, beta=0.1))
    assert any(r.what == "reward-not-finite" for r in found.regressions)
    assert any("values that are no number" in r.says for r in found.regressions)


def test_runs_are_aligned_on_what_they_count() -> None:
    steps = list(range(1, 101))
    slow = run_of(steps, {"reward": [s / 100 for s in steps], "num_tokens": [10 * s for s in steps]}, name="slow")
    fast = run_of(steps, {"reward": [s / 50 for s in steps], "num_tokens": [20 * s for s in steps]}, name="fast")
    by_tokens = compare([slow, fast], axis="tokens", by="none").signals["reward"]
    assert by_tokens.aligned.edges[-1] == 1000
    np.testing.assert_allclose(by_tokens.aligned.means[0], by_tokens.aligned.means[1], atol=0.03)
    by_step = compare([slow, fast], by="none").signals["reward"]
    assert by_step.aligned.means[1][-1] > 1.9 * by_step.aligned.means[0][-1]


def test_an_axis_that_a_log_does_not_count_is_refused_with_what_it_counts() -> None:
    assert issubclass(AxisError, ValueError)
    with pytest.raises(AxisError, match=r"does not count episodes. It can be aligned on step"):
        compare([run("a", 1), run("b", 2)], axis="episodes")


def test_spearman_is_the_share_of_orders_counted_one_by_one() -> None:
    x, y = np.array([1.0, 2, 3, 4]), np.array([10.0, 20, 30, 40])
    rho, p = spearman(x, y)
    assert rho == pytest.approx(1)
    assert p == pytest.approx(2 / 24)  # the order itself and its mirror image


def test_a_sweep_says_what_the_setting_did_and_what_cannot_be_told_apart() -> None:
    rates = [1e-6, 2e-6, 4e-6, 8e-6]
    runs = [
        run(f"{i}-{s}", 10 * i + s, end=1 - 0.2 * i, learning_rate=rate, warmup=100 * i)
        for i, rate in enumerate(rates)
        for s in range(3)
    ]
    found = compare(runs).sweep
    assert found is not None
    best = found.influences[0]
    assert best.signal == "reward"
    assert best.rho < -0.8
    assert best.stands
    assert found.together == (("learning_rate", "warmup"),)


def test_runs_that_share_no_range_are_not_compared() -> None:
    early = run_of([1, 2, 3], {"reward": [1, 2, 3]}, name="early")
    late = run_of([10, 11, 12], {"reward": [1, 2, 3]}, name="late")
    assert not compare([early, late], by="none").signals
