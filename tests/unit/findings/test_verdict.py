"""The verdict says no more than the log carries."""

from holter.findings.diagnosis import diagnose
from holter.runs.build import run_of


def test_one_row_without_a_fault_is_not_called_healthy():
    assert diagnose(run_of([1], {"reward": [0.5], "kl": [0.0]})).verdict.status == "cannot-tell"


def test_a_log_without_vital_signs_is_not_called_healthy():
    said = diagnose(run_of(list(range(50)), {"step_time": [1.0] * 50})).verdict
    assert said.status == "cannot-tell"


def test_a_log_without_held_out_score_says_what_that_means():
    run = run_of(
        list(range(1, 41)),
        {"reward": [0.01 * i for i in range(40)], "grad_norm": [1.0 + 0.01 * (i % 7) for i in range(40)]},
    )
    said = diagnose(run)
    assert "cannot be excluded" in said.verdict.text
    assert any(u.detector == "reward-hacking" for u in said.unchecked)


def test_the_text_counts_what_was_checked():
    run = run_of(
        list(range(1, 41)),
        {"reward": [0.01 * i for i in range(40)], "grad_norm": [1.0 + 0.01 * (i % 7) for i in range(40)]},
    )
    said = diagnose(run)
    assert "detectors had what they need" in said.verdict.text
