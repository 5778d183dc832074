"""What a later row shows does not move back the row at which a warning could be given, nor take the warning back."""

from __future__ import annotations

from holter.detectors.registry import all_detectors
from holter.findings.finding import Severity
from holter.runs.build import run_of
from holter.testing.properties import agrees_live, said, shows_what_it_says, warns_since_it_says

NAN, INF = float("nan"), float("inf")


def test_a_part_that_stays_nan_is_a_warning_from_its_third_value_on():
    part = [0.2, 0.3, NAN, NAN, NAN, NAN]
    run = run_of(range(6), {"reward": [0.5] * 6, "rewards/format/mean": part})
    cls = all_detectors()["reward-not-finite"]
    (found,) = said(cls, run)
    assert (found.severity, found.first_step, found.raised_step) == (Severity.WARNING, 2, 4)
    assert not warns_since_it_says(cls, run)


def test_hidden_nans_are_a_warning_from_the_row_at_which_they_have_become_enough():
    unscored = [
        1,
        0,
        0,
        1,
        0,
        0,
        1,
        0,
        0,
        1,
        0,
        1,
        3,
        3,
        3,
        3,
        3,
    ]  # of 16; 14 of 240 in the first 15 rows, 11 of 224 in 14
    mean = [0.5 + 0.01 * n for n in range(len(unscored))]
    total = [m * (1 - n / 16) for m, n in zip(mean, unscored, strict=True)]
    lengths = [20 + (2 * n + 1) / 16 for n in range(len(unscored))]
    run = run_of(
        range(len(unscored)), {"reward": total, "rewards/format/mean": mean, "completions/mean_length": lengths}
    )
    cls = all_detectors()["reward-not-finite"]
    (found,) = said(cls, run)
    assert (found.severity, found.first_step, found.raised_step) == (Severity.WARNING, 0, 14)
    assert [f.severity for f in said(cls, run.until(13))] == [Severity.INFO]
    assert not agrees_live(cls, run)
    assert not warns_since_it_says(cls, run)


def test_a_rate_of_zero_is_a_warning_once_the_log_shows_that_it_is_not_rounded():
    coarse, fine = [0.25, 0.31, 0.42, 0.38, 0.29, 0.33, 0.41], [0.3123456, 0.2987654, 0.3345671]
    run = run_of(range(10), {"lr": [0.0] * 10, "grad_norm": coarse + fine})
    cls = all_detectors()["lr-zero"]
    (found,) = said(cls, run)
    assert (found.severity, found.first_step, found.raised_step) == (Severity.CRITICAL, 0, 7)
    assert not warns_since_it_says(cls, run)


def test_a_masked_nan_quotes_the_second_kl_when_that_is_the_one_that_shows_it():
    columns = {"loss": [0.1, 0.2, 0.0], "kl": [0.1, 0.1, 0.1], "objective/kl": [0.1, 0.2, INF], "grad_norm": [1.0] * 3}
    run = run_of(range(3), columns)
    cls = all_detectors()["masked-nan"]
    (found,) = said(cls, run)
    assert {e.metric for e in found.evidence} == {"loss", "objective/kl"}
    assert not shows_what_it_says(cls, run)


def test_an_entropy_that_begins_later_does_not_take_back_what_was_said_of_the_first():
    run = run_of(range(6), {"policy/entropy_avg": [-3.0] * 6, "entropy": [None, *[0.8] * 5]})
    assert not agrees_live(all_detectors()["entropy-implausible"], run)


def test_the_pattern_of_a_few_evaluations_is_still_told_when_the_run_has_become_long():
    score = [0.5, None, 0.4, None, 0.2, *[None] * 35]
    columns = {"reward": [0.1, 0.3, 0.5, 0.7, 0.9, *[0.9] * 35], "eval/accuracy": score}
    run = run_of(range(40), columns)
    cls = all_detectors()["reward-hacking"]
    assert [f.severity for f in said(cls, run.until(10))] == [Severity.WARNING]
    assert [(f.severity, f.active) for f in said(cls, run)] == [(Severity.INFO, False)]
    assert not agrees_live(cls, run)
