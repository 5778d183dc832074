"""Hand-written logs do not say how a number is reduced: what is far for a mean per token is ordinary for a sum, and back."""

import json

import numpy as np
import pytest

from holter.detectors.entropy.entropy_collapse import EntropyCollapse
from holter.detectors.invariant.impossible_value import ImpossibleValue
from holter.detectors.kl.kl_above_budget import KLAboveBudget
from holter.detectors.kl.kl_nonzero_at_start import KLNonzeroAtStart
from holter.detectors.learning.no_learning import NoLearning
from holter.detectors.policy.policy_loss_diverges import PolicyLossDiverges
from holter.detectors.policy.policy_not_updating import PolicyNotUpdating
from holter.detectors.sampling.sampler_mismatch import SamplerMismatch
from holter.detectors.statistics.progress import half_scale
from holter.findings.finding import Severity
from holter.readers.base import Source
from holter.runs.canonical import canonical
from holter.runs.load import logs_of
from holter.testing.properties import said, warns_since_it_says


def of(columns, dialect="generic"):
    """A run of a file of JSON lines, whose dialect is told by its names alone."""
    rows = len(next(iter(columns.values())))
    lines = [json.dumps({"step": i + 1, **{k: float(v[i]) for k, v in columns.items()}}) for i in range(rows)]
    (log,) = logs_of(Source("run.jsonl", data="\n".join(lines).encode()))
    (run,) = canonical(log)
    assert run.dialect == dialect
    return run


def severities(cls, run):
    return [f.severity for f in said(cls, run)]


def settled(level, rows=60):
    """A KL that starts at 0.2, grows over some rows, and stays."""
    noise = np.random.default_rng(0).normal(size=rows) * 0.02 * level
    return np.maximum(0.2 + (level - 0.2) * (1 - np.exp(-np.arange(rows) / 12)) + noise, 0.1)


def learning(rows=60):
    return 0.5 + 0.4 * (1 - np.exp(-np.arange(rows) / 15)) + 0.01 * np.random.default_rng(1).normal(size=rows)


def test_a_kl_of_unknown_unit_that_is_ordinary_as_a_sum_is_no_alarm():
    run = of({"kl": settled(5.0), "reward": learning()})
    (found,) = said(KLAboveBudget, run)
    assert found.severity is Severity.INFO
    assert "far for a mean per token, ordinary for a sum over the completion" in found.title
    assert found.alternatives[0].says.startswith("the KL is summed over the completion")


def test_a_kl_of_unknown_unit_that_is_far_in_either_unit_is_an_alarm():
    assert severities(KLAboveBudget, of({"kl": settled(14.0), "reward": learning()})) == [Severity.WARNING]


def test_a_kl_of_unknown_unit_is_an_alarm_where_the_reward_falls_with_it():
    reward = np.concatenate((np.full(5, 0.8), 0.8 - 0.012 * np.arange(55)))
    found = severities(KLAboveBudget, of({"kl": settled(5.0), "reward": reward, "reward_std": np.full(60, 0.2)}))
    assert Severity.CRITICAL in found


def test_a_kl_of_unknown_unit_is_raised_when_it_became_an_alarm():
    reward = np.concatenate((np.full(30, 0.8), 0.8 - 0.02 * np.arange(30)))
    for level, falling in ((14.0, learning()), (5.0, reward)):
        run = of({"kl": settled(level), "reward": falling, "reward_std": np.full(60, 0.2)})
        assert Severity.INFO not in severities(KLAboveBudget, run)
        assert not warns_since_it_says(KLAboveBudget, run)


def test_a_kl_whose_name_says_its_unit_is_held_against_that_unit():
    run = of({"KL (nats/token)": settled(5.0), "reward": learning()})
    assert severities(KLAboveBudget, run) == [Severity.WARNING]


def test_a_first_kl_that_is_the_small_beginning_of_a_sum_is_no_alarm():
    (found,) = said(KLNonzeroAtStart, of({"kl": [0.2, 2.9, 4.8, 5.2], "reward": [0.1, 0.2, 0.3, 0.4]}))
    assert found.severity is Severity.INFO
    assert "near for a sum over the completion" in found.title


def test_a_first_kl_that_stays_is_an_offset_in_either_unit():
    run = of({"kl": [0.31, 0.3, 0.32, 0.33], "reward": [0.1, 0.2, 0.3, 0.4]})
    assert severities(KLNonzeroAtStart, run) == [Severity.WARNING]


def summed_losses(rows, rng, size=8.0):
    """Losses summed over tokens, of one prompt a row: three of five prompts are tied and have no loss."""
    return np.where(np.arange(rows) % 5 < 3, -0.0, rng.normal(size=rows) * size)


@pytest.mark.parametrize("seed", range(5))
def test_rows_of_tied_groups_do_not_make_the_losses_between_them_explosions(seed):
    loss = summed_losses(120, np.random.default_rng(seed))
    assert not said(PolicyLossDiverges, of({"loss": loss, "reward": learning(120)}))


@pytest.mark.parametrize("seed", range(5))
def test_a_loss_that_explodes_among_rows_of_tied_groups_is_seen(seed):
    loss = summed_losses(120, np.random.default_rng(seed))
    loss[100:] *= 200
    (found,) = said(PolicyLossDiverges, of({"loss": loss, "reward": learning(120)}))
    assert found.severity is Severity.WARNING
    assert 100 < found.first_step <= 106


def one_prompt_a_row(rows, rng, rate=0.7):
    return rng.binomial(1, rate, rows) * 1.0


@pytest.mark.parametrize("seed", range(5))
def test_a_hundred_rows_of_one_prompt_each_cannot_tell_that_nothing_is_learnt(seed):
    reward = one_prompt_a_row(100, np.random.default_rng(seed))
    assert not said(NoLearning, of({"reward": reward, "loss": np.ones(100)}))


def test_rows_of_many_prompts_that_do_not_move_still_tell_it():
    reward = 0.7 + 0.02 * np.random.default_rng(0).normal(size=100)
    assert severities(NoLearning, of({"reward": reward, "loss": np.ones(100)})) == [Severity.WARNING]


def test_the_scale_is_known_where_both_ends_came_three_times_and_only_from_then_on():
    x = np.array([0.0, 1.0, 0.0, 1.0, 0.5, 0.0, 1.0, 2.0, 1.0, 2.0, 2.0])
    naive = []
    for i in range(1, len(x) + 1):
        low, high = x[:i].min(), x[:i].max()
        both = (x[:i] == low).sum() >= 3 and (x[:i] == high).sum() >= 3 and high > low
        naive.append((high - low) / 2 if both else np.inf)
    assert half_scale(x).tolist() == naive
    assert naive[5:8] == [np.inf, 0.5, np.inf]


SAMPLED = {
    "reward": [0.5, 0.6, 0.7, 0.6, 0.7, 0.8],
    "loss": [0.01, 0.02, 0.01, 0.02, 0.01, 0.02],
    "completions/mean_length": [300, 310, 290, 320, 300, 310],
    "frac_reward_zero_std": [0.0] * 6,
    "sampling/importance_sampling_ratio/mean": [0.003, 0.03, 0.16, 0.04, 0.05, 0.13],
}


def sampled(difference):
    return of(SAMPLED | {"sampling/sampling_logp_difference/mean": difference}, "trl-grpo")


def test_a_ratio_of_whole_completions_whose_tokens_differ_little_is_no_alarm():
    (found,) = said(SamplerMismatch, sampled([0.02] * 6))
    assert found.severity is Severity.INFO
    assert "a product over whole completions, whose tokens differ little" in found.title


def test_a_ratio_off_one_beside_tokens_that_differ_is_an_alarm():
    assert Severity.WARNING in severities(SamplerMismatch, sampled([0.3] * 6))


def test_a_mismatch_is_raised_when_tokens_were_known_to_differ():
    run = sampled([0.02, 0.02, 0.02, 0.3, 0.3, 0.3])
    (found,) = said(SamplerMismatch, run)
    assert (found.severity, found.raised_step) == (Severity.WARNING, 4)
    assert not warns_since_it_says(SamplerMismatch, run)


def test_a_ratio_of_nothing_is_no_ratio():
    columns = SAMPLED | {"sampling/importance_sampling_ratio/mean": [0.0] * 6}
    run = of(columns | {"sampling/sampling_logp_difference/mean": [0.0] * 6}, "trl-grpo")
    assert not said(SamplerMismatch, run)


def test_a_first_row_on_the_policy_s_own_samples_has_no_approximate_kl_to_show():
    slime = {"train/loss": [1e-6], "train/ppo_kl": [6e-12], "train/grad_norm": [0.4], "train/pg_clipfrac": [0.0]}
    assert not said(PolicyNotUpdating, of(slime | {"train/ois": [1.0]}, "slime"))
    assert severities(PolicyNotUpdating, of(slime, "slime")) == [Severity.WARNING]


def test_an_accuracy_in_percent_under_a_name_of_one_s_own_is_not_impossible():
    run = of({"reward": [0.5, 0.6, 0.7], "accuracy": [50.8, 55.6, 57.2], "loss": [0.1, 0.2, 0.1]})
    assert not said(ImpossibleValue, run)
    mixed = of({"reward": [0.5, 0.6, 0.7], "accuracy": [0.5, 0.6, 57.2], "loss": [0.1, 0.2, 0.1]})
    assert severities(ImpossibleValue, mixed) == [Severity.INFO]


def test_an_entropy_that_falls_to_an_ordinary_level_in_the_first_rows_is_no_collapse():
    columns = {
        "reward": [0.0, 0.25, 0.125, 0.25, 0.25],
        "entropy": [1.33, 1.24, 1.2, 0.34, 0.36],
        "completions/mean_length": [6.4, 6.6, 25.6, 82.2, 357.6],
        "loss": [0.1] * 5,
    }
    assert not said(EntropyCollapse, of(columns, "trl-grpo"))
    lower = columns | {"entropy": [1.33, 1.24, 1.2, 0.14, 0.16]}
    assert severities(EntropyCollapse, of(lower, "trl-grpo")) == [Severity.WARNING]
