"""The log lacks a vital sign of its algorithm.

## Why it matters
What is not logged cannot be found, and a monitor that stays silent about it looks like a clean bill of health. Reward
hacking in particular is invisible in training scalars: it needs a held-out score.

## When it fires
Of the vital signs of the run's algorithm (reward, KL to the reference, entropy, completion length or truncation, a
held-out evaluation; the share of groups without a gradient for GRPO; value loss for PPO) at least one is in no row. KL
is not missed when its coefficient is 0.

## What to do
Each missing signal is named with the way to get it.

## When it is wrong
A log that is kept in several files, of which one was given. This is a statement about the log as it stands.

## References
RHOB / Flight Recorder (2026) and the calibration behind the reward detectors: without an evaluation, hacking cannot be
told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from holter.detectors.base import Detector, quote
from holter.detectors.log.witness import fullest
from holter.findings.finding import Confidence, Severity
from holter.language import listed, said
from holter.runs.run import Split
from holter.runs.structure import algorithm, beta_is_zero

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.findings.finding import Finding
    from holter.runs.run import Run


@dataclass(frozen=True, slots=True)
class Vital:
    """A vital sign: what any of these concepts shows, and how to log it.

    Attributes:
        name: In words.
        concepts: Any of them will do.
        log: How to get it.
        of: Algorithm it belongs to; empty: every one.
    """

    name: str
    concepts: tuple[str, ...]
    log: str
    of: str = ""


VITALS = (
    Vital(said("reward"), ("reward", "reward_penalised", "accuracy"), "Log the mean reward of each batch."),
    Vital(
        said("KL to the reference"),
        ("ref_kl", "kl_loss"),
        "Log the KL to the reference; with beta = 0 at least every few steps, by a forward pass of the frozen start.",
    ),
    Vital(said("entropy"), ("entropy",), "Log the mean token entropy (TRL logs it from 0.20 on)."),
    Vital(
        said("completion length or truncation"),
        ("length", "length_median", "truncation", "eos_count", "eos_fraction"),
        "Log the mean length and the share of truncated completions.",
    ),
    Vital(
        said("share of groups without a gradient"),
        ("zero_std_groups", "groups_mixed", "groups_failed", "reward_group_spread"),
        "Log the share of groups with equal rewards (frac_reward_zero_std; TRL from 0.18 on).",
        of="grpo",
    ),
    Vital(said("value loss"), ("value_loss", "explained_variance", "value_error"), "Log the value loss.", of="ppo"),
)
EVALUATION = Vital(
    said("held-out evaluation"), (), "Score held-out prompts every few steps, at step 0 too, and log how many they are."
)


@dataclass(frozen=True, kw_only=True)
class MissingSignal(Detector):
    """HLT904."""

    name: ClassVar = "missing-signal"
    code: ClassVar = "HLT904"
    since: ClassVar = "0.1"
    says: ClassVar = "the log lacks a vital sign"

    def check(self, run: Run) -> Iterator[Finding]:
        """One finding that names them all."""
        series = fullest(run)
        missing = self._missing(run)
        if series is None or not missing:
            return
        yield self.finding(
            Severity.INFO,
            Confidence.CERTAIN,
            said("this log has no {signals}: trouble there would go unseen", signals=_named([v.name for v in missing])),
            run=run,
            first=0,
            last=len(run) - 1,
            evidence=[quote(series, sorted({0, len(series) - 1}), "what the log does have most of")],
            advice=tuple(v.log for v in missing),
        )

    def _missing(self, run: Run) -> list[Vital]:
        kind = algorithm(run)
        off = beta_is_zero(run)
        held = {s.concept for s in run.series.values() if len(s)}
        out = [
            v
            for v in VITALS
            if v.of in ("", kind) and not held & set(v.concepts) and not (off and "ref_kl" in v.concepts)
        ]
        evaluated = any(s.split is Split.EVAL and len(s) for s in run.series.values())
        return out if evaluated else [*out, EVALUATION]


def _named(signals: list[str]) -> str:
    """Signals as they stand behind "no"."""
    if len(signals) == 1:
        return signals[0]
    return said("{signals} and no {last}", signals=listed(signals[:-1], ", no "), last=signals[-1])
