"""What must hold of every detector, whatever the numbers; a new detector is found through the registry and tested at once."""

from __future__ import annotations

import dataclasses
import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holter.detectors.registry import all_detectors, run_detectors
from holter.findings.finding import Confidence, Evidence, Finding, Severity
from holter.runs.run import Run, Unknown
from holter.simulation.run import simulate

from .strategies import FAST, run_from, runs

DETECTORS = pytest.mark.parametrize("cls", all_detectors().values(), ids=lambda d: d.name)
MADE = [
    ("grpo", None, "off-policy"),
    ("grpo", None, "resumed"),
    ("ppo", None, "evaluated"),
    ("grpo", "kl-explosion", "plain"),
    ("grpo", "reward-hacking", "evaluated"),
    ("ppo", "truncation", "plain"),
    ("grpo", "length-collapse", "smoothed"),
    ("ppo", "value-divergence", "noisy"),
    ("grpo", "zero-variance", "plain"),
    ("grpo", "masked-nan", "plain"),
    ("ppo", "judge-outage", "plain"),
    ("grpo", "slow-down", "plain"),
]
"""Algorithm, fault and family of runs that are long enough for every window."""


def said(run: Run, cls: type) -> list[Finding]:
    return [f for f in run_detectors(run, [cls()]) if isinstance(f, Finding)]


def quotes_the_run(evidence: Evidence, run: Run) -> bool:
    """Whether some series of that name holds every quoted value at its step, to the last bit."""
    for series in run.series.values():
        if series.metric == evidence.metric:
            held = dict(zip(series.steps.tolist(), series.values.tolist(), strict=True))
            pairs = zip(evidence.steps, evidence.values, strict=True)
            if all(s in held and (held[s] == v or (v != v and held[s] != held[s])) for s, v in pairs):
                return True
    return False


def complaints(found: Finding, run: Run) -> list[str]:
    """What is wrong with a finding, whatever it says."""
    wrong = []
    steps = set(run.steps.tolist())
    told = [found.first_step, found.last_step, found.raised_step, *found.onset]
    if not steps.issuperset(told):
        wrong.append(f"steps {told} outside the run")
    if not (found.onset[0] <= found.first_step <= found.onset[1]):
        wrong.append(f"first step {found.first_step} outside its onset {found.onset}")
    if not found.first_step <= found.raised_step or not found.first_step <= found.last_step:
        wrong.append(f"first {found.first_step}, raised {found.raised_step}, last {found.last_step}")
    if not found.evidence:
        wrong.append("no evidence")
    wrong += [f"does not quote the log: {e}" for e in found.evidence if not quotes_the_run(e, run)]
    texts = [found.title, *found.advice, *found.against, *(e.says for e in found.evidence)]
    wrong += [f"control character in {t!r}" for t in texts if any(unicodedata.category(c) == "Cc" for c in t)]
    if found.severity is Severity.CRITICAL:
        two = len({e.metric for e in found.evidence}) >= 2
        if found.confidence is Confidence.CANNOT_TELL or not (two or found.confidence is Confidence.CERTAIN):
            wrong.append(f"critical on {found.confidence} and {len(found.evidence)} evidence")
    return [f"{found.detector}: {w}" for w in wrong]


@DETECTORS
@FAST
@given(data=st.data())
def test_never_crashes_and_says_only_what_it_can_show(cls, data):
    run = data.draw(runs(cls))
    assert not [c for f in said(run, cls) for c in complaints(f, run)]


@DETECTORS
@FAST
@given(data=st.data())
def test_live_and_afterwards_agree(cls, data):
    """A warning given while the run went on is still told once it has ended, perhaps as one that is over.

    An info may be withdrawn: it explains the log as it stands, and later rows can show more of it.
    """
    run = data.draw(runs(cls))
    afterwards = {f.first_step for f in said(run, cls)}
    for step in run.steps.tolist():
        live = {f.first_step for f in said(run.until(step), cls) if f.severity >= Severity.WARNING}
        assert live <= afterwards, f"said at step {step}"


@DETECTORS
@FAST
@given(data=st.data())
def test_scaling_the_step_axis_changes_nothing_but_steps(cls, data):
    run = data.draw(runs(cls))
    series = {k: dataclasses.replace(s, steps=s.steps * 3) for k, s in run.series.items()}
    scaled = dataclasses.replace(run, steps=run.steps * 3, series=series)

    def told(findings: list[Finding], factor: float) -> list[tuple[object, ...]]:
        return [
            (f.severity, f.confidence, f.active, f.first_step * factor, f.last_step * factor, f.raised_step * factor)
            for f in findings
        ]

    assert told(said(run, cls), 3) == told(said(scaled, cls), 1)


@DETECTORS
@FAST
@given(data=st.data())
def test_order_of_columns_and_unknown_columns_change_nothing(cls, data):
    run = data.draw(runs(cls))
    at = np.arange(len(run))
    stranger = Unknown("my/own", at, np.full(len(run), 31.0))
    other = dataclasses.replace(run, series=dict(reversed(run.series.items())), unknown={"my/own": stranger})
    assert repr(said(run, cls)) == repr(said(other, cls))


@pytest.mark.parametrize(("algorithm", "fault", "family"), MADE)
def test_made_runs_are_judged_alike_live_and_afterwards(algorithm, fault, family):
    run = run_from(simulate(algorithm, fault, family=family, rows=100, seed=7))
    everything = {cls: said(run, cls) for cls in all_detectors().values()}
    assert not [c for findings in everything.values() for f in findings for c in complaints(f, run)]
    for step in run.steps[6::19].tolist():
        part = run.until(step)
        for cls, findings in everything.items():
            live = {f.first_step for f in said(part, cls) if f.severity >= Severity.WARNING}
            assert live <= {f.first_step for f in findings}, f"{cls.name} at step {step}"
