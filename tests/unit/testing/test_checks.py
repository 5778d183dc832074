"""The checks that detectors are held to let good ones pass, and catch each way of being wrong."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from holter.detectors.base import Detector, Need, limit, quote
from holter.detectors.kl.kl_runaway import KLRunaway
from holter.errors import DeclarationError
from holter.findings.finding import Confidence, Evidence, Severity
from holter.testing import cases_in, checks
from holter.testing.drawn import keys_of, wild_runs


@dataclass(frozen=True, kw_only=True)
class Rewarded(Detector):
    """Warns wherever a reward is above 0.8, without a fault of its own."""

    name: ClassVar = "rewarded"
    code: ClassVar = "TST101"
    since: ClassVar = "1.0"
    needs: ClassVar = (Need(concepts=("reward",)),)

    level: float = limit(0.8, unit="reward", help="needs a larger reward", low=0.0)

    def rows(self, series, run):
        return np.flatnonzero(series.values > self.level)[:1]

    def says(self, series, row):
        return quote(series, [row], "large")

    def check(self, run):
        series = run.get("reward")
        for row in self.rows(series, run).tolist():
            at = int(series.at[row])
            yield self.finding(
                Severity.WARNING,
                Confidence.CERTAIN,
                "large",
                run=run,
                first=at,
                last=at,
                evidence=[self.says(series, row)],
            )


class Crashing(Rewarded):
    name: ClassVar = "crashing"

    def rows(self, series, run):
        if np.isnan(series.values).any():
            raise ZeroDivisionError("no NaN, please")
        return super().rows(series, run)


class Looking_ahead(Rewarded):  # noqa: N801
    name: ClassVar = "looking-ahead"

    def rows(self, series, run):
        return np.flatnonzero(series.values >= series.values.max())[:1]


class Inventing(Rewarded):
    name: ClassVar = "inventing"

    def says(self, series, row):
        return Evidence(
            metric=series.metric,
            key=series.key,
            steps=(float(series.steps[row]),),
            values=(0.123,),
            unit="reward",
            says="",
        )


class Changing(Rewarded):
    name: ClassVar = "changing"

    def rows(self, series, run):
        found = super().rows(series, run)
        series.values[:1] = 0.125
        return found


class Counting_steps(Rewarded):  # noqa: N801
    name: ClassVar = "counting-steps"

    def rows(self, series, run):
        return np.flatnonzero((series.values > self.level) & (series.steps > 150))[:1]


class Minding_strangers(Rewarded):  # noqa: N801
    name: ClassVar = "minding-strangers"

    def rows(self, series, run):
        return super().rows(series, run) if not run.unknown else np.empty(0, int)


PROPERTIES = {
    "shows what it says",
    "agrees live",
    "scales with steps",
    "ignores strangers",
    "leaves the run alone",
}


def complaints_of(cls):
    """Which of the properties a detector breaks, and what is said of it."""
    out = {}
    for check in checks(cls):
        if check.name in PROPERTIES:
            try:
                check()
            except AssertionError as error:
                out[check.name] = str(error)
    return out


def test_a_detector_of_holter_passes_them_all():
    every = checks(KLRunaway)
    assert {c.name for c in every} >= PROPERTIES
    assert sum(c.name.startswith("case: ") for c in every) > 3
    for check in every:
        check()


def test_a_simple_detector_without_faults_breaks_no_property():
    assert not complaints_of(Rewarded)


@pytest.mark.parametrize(
    ("cls", "broken", "words"),
    [
        (Crashing, "shows what it says", "ZeroDivisionError('no NaN, please') on {"),
        (Looking_ahead, "agrees live", "and not afterwards"),
        (Inventing, "shows what it says", "does not quote the log"),
        (Changing, "leaves the run alone", "changed reward"),
        (Counting_steps, "scales with steps", "steps times three"),
        (Minding_strangers, "ignores strangers", "a strange column"),
    ],
)
def test_each_way_of_being_wrong_is_caught(cls, broken, words):
    found = complaints_of(cls)
    assert words in found[broken]


def named(name, cls):
    (found,) = [c for c in checks(cls) if c.name == name]
    with pytest.raises(AssertionError) as error:
        found()
    return str(error.value)


def test_a_detector_that_accuses_healthy_runs_is_caught():
    assert "healthy grpo run of the family solved" in named("seldom accuses healthy runs", Rewarded)


def test_a_detector_that_no_entry_point_offers_is_caught():
    assert "no entry point of group holter.detectors leads to" in named("is found by discovery", Rewarded)


def test_a_code_that_another_detector_has_is_caught():
    class Twin(Rewarded):
        code: ClassVar = "HLT201"

    assert "kl-runaway has the code HLT201 too" in named("is found by discovery", Twin)


def test_a_detector_without_cases_is_caught():
    assert "there is no case file test_checks.md" in named(
        "has a case file with a sick, a healthy and a silent case", Rewarded
    )


def test_a_careless_declaration_is_caught_in_every_point():
    @dataclass(frozen=True, kw_only=True)
    class Careless(Detector):
        name: ClassVar = "Careless One"
        code: ClassVar = "7"
        since: ClassVar = "1.0"
        uses: ClassVar = ("no_such_concept",)
        bare: float = 1.0
        outside: float = limit(5.0, unit="x", help="", low=0.0, high=1.0)

    said = named("is declared rightly", Careless)
    for words in (
        "not kebab-case",
        "code '7'",
        "'no_such_concept'",
        "lacks one of the headings",
        "bare is not declared by limit()",
        "outside = 5 is outside 0 to 1",
    ):
        assert words in said


def test_a_forgotten_decorator_is_caught():
    assert "not declared as @dataclass" in named("is declared rightly", Crashing)


TABLE = "| step | reward |\n|---|---|\n| 1 | 0.9 |\n| 2 | - |\n| 3 | NaN |\n"


def test_a_case_file_is_checked_line_by_line(tmp_path):
    file = tmp_path / "rewarded.md"
    file.write_text(
        f"# rewarded\n\n## Large\n\n{TABLE}\n```findings\nTST101 rewarded warning certain step 1: small\n```\n"
    )
    (case,) = cases_in(file)
    assert (case.detector, case.title, case.run.steps.tolist()) == ("rewarded", "Large", [1, 2, 3])
    assert case.run["reward"].steps.tolist() == [1, 3]
    (check,) = [c for c in checks(Rewarded, file) if c.name == "case: Large"]
    with pytest.raises(AssertionError, match=r"step 1 \(over\): large"):
        check()


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (TABLE, "has no ```findings block"),
        ("prose\n```findings\n```\n", "has no table with a `step` column"),
        ("| step | kl |\n|---|---|\n| 1 | high |\n```findings\n```\n", "does not fit its header"),
        ("| step | kl |\n|---|---|\n| 1 |\n```findings\n```\n", "does not fit its header"),
    ],
)
def test_a_malformed_case_is_named(tmp_path, body, words):
    file = tmp_path / "rewarded.md"
    file.write_text(f"# rewarded\n\n## The case\n\n{body}")
    with pytest.raises(DeclarationError, match="section 'The case'") as error:
        cases_in(file)
    assert words in str(error.value)


def test_the_same_runs_are_drawn_every_time_and_hold_every_kind_of_cell():
    first, second = (list(wild_runs(KLRunaway, 40)) for _ in range(2))
    assert [{k: s.values.tobytes() for k, s in r.series.items()} for r in first] == [
        {k: s.values.tobytes() for k, s in r.series.items()} for r in second
    ]
    assert set(keys_of(KLRunaway)) <= {key for run in first for key in run.series}
    values = np.concatenate([run["kl"].values for run in first])
    assert np.isnan(values).any()
    assert np.isinf(values).any()
    assert any(len(run["kl"]) < len(run) for run in first)
    assert min(map(len, first)) == 0
    assert max(map(len, first)) > 10
