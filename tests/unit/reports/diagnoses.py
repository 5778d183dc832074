"""Diagnoses written by hand, so that what a report makes of them does not change when a detector does."""

import numpy as np

from holter.detectors.registry import all_detectors
from holter.findings.diagnosis import Diagnosis, Phase, Story, Verdict
from holter.findings.finding import Alternative, Confidence, Evidence, Finding, Severity, Unchecked
from holter.readers.base import Skipped
from holter.runs.build import run_of

STEPS = [float(s) for s in range(10, 130, 10)]


def sick(name: str = "runs/sick", metric: str = "kl") -> Diagnosis:
    """A run whose KL runs away from step 60, with a consequence, an aside, and a detector that could not look."""
    kl = [0.01 * 1.2**i if i < 5 else 0.5 * 2.0 ** (i - 5) for i in range(12)]
    run = run_of(
        STEPS,
        {"kl": kl, "reward": [0.1 * i for i in range(12)], "eval/helpful": [None if i % 4 else 0.5 for i in range(12)]},
        config={"beta": 0.04, "model": "a <b>model</b>"},
        name=name,
    )
    root = Finding(
        detector="kl-runaway",
        code=all_detectors()["kl-runaway"].code,
        severity=Severity.CRITICAL,
        confidence=Confidence.STRONG,
        title=f"{metric} runs away: 0.5 at step 60, 32 at the end",
        first_step=60.0,
        last_step=120.0,
        onset=(50.0, 60.0),
        raised_step=70.0,
        active=True,
        evidence=(
            Evidence(
                metric=metric, key="kl", steps=(60.0, 120.0), values=(0.5, 32.0), unit="nats/token", says="doubles"
            ),
        ),
        advice=("Raise beta.", "Go back to step 50."),
        alternatives=(Alternative(says="the reference was swapped", check="compare its hash"),),
        against=("the reward still rises",),
    )
    follower = Finding(
        detector="reward-decline",
        code=all_detectors()["reward-decline"].code,
        severity=Severity.WARNING,
        confidence=Confidence.MODERATE,
        title="reward falls",
        first_step=90.0,
        last_step=110.0,
        onset=(90.0, 90.0),
        raised_step=100.0,
        active=False,
        evidence=(
            Evidence(
                metric="reward", key="reward", steps=(90.0,), values=(float("nan"),), unit="reward", says="is no number"
            ),
        ),
        caused_by="kl-runaway",
    )
    aside = Finding(
        detector="printed-zero",
        code=all_detectors()["printed-zero"].code,
        severity=Severity.INFO,
        confidence=Confidence.CERTAIN,
        title="a rounded zero is not a zero",
        first_step=10.0,
        last_step=120.0,
        onset=(10.0, 10.0),
        raised_step=10.0,
        active=True,
        evidence=(Evidence(metric="loss", key="loss", steps=(10.0,), values=(0.0,), unit="1", says="0.000"),),
    )
    return Diagnosis(
        run=run,
        verdict=Verdict("critical", Confidence.STRONG, "From step 60: the policy runs away (very likely)", "It does."),
        phases=(Phase(10.0, 50.0, "healthy", "reward rises"), Phase(60.0, 120.0, "critical", "the policy runs away")),
        findings=(root, follower, aside),
        stories=(Story(root, (follower,)), Story(aside, ())),
        unchecked=(
            Unchecked(
                detector="zero-reward",
                code=all_detectors()["zero-reward"].code,
                missing=("reward",),
                why="no reward in this log.",
            ),
        ),
        ignored={"kl-spike": "expected | here"},
        advice=("Raise beta.", "Go back to step 50."),
        last_good_step=50.0,
    )


def healthy(name: str = "runs/healthy") -> Diagnosis:
    """A run in which nothing was found."""
    run = run_of(STEPS, {"reward": list(np.linspace(0, 1, 12))}, name=name)
    return Diagnosis(
        run=run,
        verdict=Verdict("healthy", Confidence.PATTERN, "Healthy, as far as this log shows", "Nothing was found."),
        phases=(Phase(10.0, 120.0, "healthy", "reward rises"),),
        findings=(),
        stories=(),
        unchecked=(),
        ignored={},
        advice=(),
        last_good_step=None,
    )


REFUSED = (Skipped("notes.txt", 3, "no log"),)
