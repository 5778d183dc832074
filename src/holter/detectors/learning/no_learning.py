"""The reward has not moved, and enough rows were logged to say so.

## Why it matters
Every step costs the same whether it teaches something or not. The reasons differ, and so do the cures: an update too small to
matter, a penalty that holds the policy in place, a reward that does not depend on what the policy does.

## When it fires
The best mean over the newest quarter of the rows, so far, lies above the mean of the first rows by less than `unit` times the
spread of single rewards, *with twice its standard error added*: it is evidence of no change, not lack of evidence for one.
Where no spread is logged, the noise between rows tells it, with as many samples a row as the log counts, else `batch`. It
waits for `rows` rows, and, where the log tells, until a share `begun` of the planned steps is over or a decaying learning rate
has lost as much, because many a healthy run begins to learn late; or for `early` rows when the log shows that training has
ended. A reward that is constant or whose groups have no variance is left to `zero-variance-groups`, `zero-reward` and
`reward-frozen`, one at its ceiling is not called flat. When the reward rises later, the finding is over and becomes
information.

## What to do
- KL near zero and a gradient: the update is too small. Raise the learning rate, lower the KL coefficient, look for bfloat16
  weights that swallow the update.
- KL rises, reward does not: the reward is noise to the policy. Check that rewards belong to their completions; correlate the
  reward with length and with a few completions read by hand.
- No KL logged: log it; it tells the two apart.

## When it is wrong
A slow start: a reward can be flat for a third of a run and then rise, so "not yet" is all that can be said. A curriculum whose
prompts get harder as the policy gets better. A reward that falls is `reward-decline`, not this.

## References
Measured on synthetic and public runs: "no new best in 50 points" fires on 70 % of healthy runs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.constancy import ever_lively
from holter.detectors.statistics.episodes import episodes
from holter.detectors.statistics.hold import latched
from holter.detectors.statistics.progress import Progress
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said
from holter.runs.hyperparameters import hyperparameter
from holter.signals.base import Unit

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

ROUNDED = 0.005
"""Share of its peak below which a learning rate has not begun to decay."""


@dataclass(frozen=True, kw_only=True)
class NoLearning(Detector):
    """HLT321."""

    name: ClassVar = "no-learning"
    code: ClassVar = "HLT321"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward does not rise"
    needs: ClassVar = (Need(concepts=("reward",), points=30, log="the mean reward of every step"),)
    uses: ClassVar = (
        "reward_spread",
        "reward_group_spread",
        "reward_max",
        "zero_std_groups",
        "ref_kl",
        "grad_norm",
        "policy_kl",
    )

    unit: float = limit(0.35, unit="reward spreads", help="calls larger changes no change", low=0.0)
    batch: float = limit(
        32.0, unit="samples", help="without a spread or a count: calls larger changes no change", low=1.0
    )
    rows: int = limit(60, unit="rows", help="waits longer", low=20)
    early: int = limit(30, unit="rows", help="waits longer when training has ended", low=12)
    begun: float = limit(
        0.6, unit="of the plan", help="waits longer where steps are planned or the rate decays", low=0.0, high=1.0
    )
    still_token: float = limit(1e-3, unit="nats/token", help="calls more policies unmoved", low=0.0)
    still_sequence: float = limit(0.2, unit="nats/sequence", help="calls more policies unmoved", low=0.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """One finding: from the first row until the reward moves."""
        progress = Progress.of(run)
        if progress is None:
            return
        reward = progress.series
        x, n = reward.values, len(reward)
        early, newest, se, least = self._change(run, progress)
        late = np.maximum.accumulate(newest)
        enough = np.arange(1, n + 1) >= self.rows
        enough &= self._under_way(run, reward)
        enough[-1] |= n >= self.early and self._has_ended(run)
        with np.errstate(invalid="ignore"):
            flat = (late - early + 2 * se < least) & (late - early < 3 * se) & (newest - early > -least) & enough
            still = (late - early < least) & (newest - early > -least)
        flat = latched(flat, still)
        flat &= ~self._mute(run, progress) & ~self._at_ceiling(run, reward) & ever_lively(x, 0)
        found = list(episodes(flat))
        if not found:
            return
        k, active = found[0].raised, found[-1].active
        row = int(reward.at[k])
        moves, evidence = self._moves(run, row)
        gained = float(late[k] - early[k])
        yield self.finding(
            Severity.WARNING if active else Severity.INFO,
            Confidence.MODERATE,
            said(
                "{metric} did not move for the first {n} rows"
                if not active
                else "{metric} has not moved in {n} rows"
                if moves is None
                else "{metric} has not moved in {n} rows, though the policy moves"
                if moves
                else "{metric} has not moved in {n} rows: the update is too small, the policy does not move",
                metric=reward.metric,
                n=found[-1].last + 1,
            ),
            run=run,
            first=int(reward.at[0]),
            last=int(reward.at[found[-1].last]),
            raised=row,
            active=active,
            evidence=[
                quote(
                    reward,
                    [0, k],
                    said(
                        "best mean over a quarter of the rows minus the first mean: {gained} +- {error}; a change of {least} "
                        "would count",
                        gained=number(gained),
                        error=number(float(se[k])),
                        least=number(float(least[k])),
                    ),
                ),
                *evidence,
            ],
            advice=(
                "KL near zero: raise the learning rate, lower the KL coefficient, look for bfloat16 weights.",
                "KL rises: check that rewards belong to their completions, and what the reward depends on.",
            ),
            alternatives=(
                Alternative(
                    says="a slow start", check="wait, or look whether single prompts are already solved more often"
                ),
                Alternative(
                    says="the policy is at the ceiling of this reward", check="compare with the largest reward"
                ),
            ),
        )

    def _change(
        self, run: Run, progress: Progress
    ) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """First mean, newest mean, standard error of their difference, least change that matters. Each ``(n,)``."""
        x = progress.series.values
        n = len(x)
        count = np.arange(1, n + 1)
        total = np.concatenate(([0.0], np.cumsum(x - x[0])))
        first = np.clip(count // 10, np.minimum(8, count), 20)
        quarter = np.minimum(np.maximum(count // 4, 10), count)
        early = x[0] + total[first] / first
        newest = x[0] + (total[count] - total[count - quarter]) / quarter
        newest[: min(2 * 10, n)] = -np.inf
        inflated = (1 + progress.rho) / (1 - progress.rho)
        se = progress.sd * np.sqrt(inflated * (1 / first + 1 / quarter))
        return early, newest, se, self.unit * progress.of_single(run, self.batch)

    def _under_way(self, run: Run, reward: Series) -> NDArray[np.bool_]:
        """Where `begun` of the run is over, as the configuration or a learning rate that decays tells. Shape ``(n,)``.

        True throughout where neither does.
        """
        planned = hyperparameter(run, "planned_steps")
        if planned is not None and planned > 0:
            return reward.steps >= planned * self.begun
        lr = run.get("lr")
        lr = lr.where(lr.values > 0) if lr is not None else None
        if lr is None or not len(lr):
            return np.ones(len(reward), bool)
        spent = 1 - lr.values / np.maximum.accumulate(lr.values)
        i = lr.upto(reward.at)
        newest = np.where(i >= 0, spent[np.maximum(i, 0)], 0.0)
        return (newest < ROUNDED) | (newest >= self.begun)

    def _mute(self, run: Run, progress: Progress) -> NDArray[np.bool_]:
        """Where completions are not told apart, which is another detector's finding. Shape ``(n,)``."""
        out = np.zeros(len(progress.series), bool)
        for concept, low, high in (("reward_spread", None, 1e-9), ("zero_std_groups", 0.9, None)):
            series = run.get(concept)
            series = series.finite() if series is not None else None
            if series is None or not len(series):
                continue
            bad = series.values <= high if high is not None else series.values >= (low or 0.0)
            share = np.cumsum(bad) / np.arange(1, len(series) + 1)
            i = series.upto(progress.series.at)
            out |= np.where(i >= 0, share[np.maximum(i, 0)] > 0.5, False)
        return out

    def _at_ceiling(self, run: Run, reward: Series) -> NDArray[np.bool_]:
        """Where the mean so far stands within a twentieth of the largest reward that is known. Shape ``(n,)``."""
        mean = np.cumsum(reward.values) / np.arange(1, len(reward) + 1)
        low = np.minimum.accumulate(reward.values)
        high = np.maximum.accumulate(reward.values)
        out: NDArray[np.bool_] = (low >= 0.0) & (high <= 1.0) & (mean > 0.95)
        top = run.get("reward_max")
        if top is not None and len(top.finite()):
            top = top.finite()
            i = np.maximum(top.upto(reward.at), 0)
            out |= (mean > 0.95 * np.maximum.accumulate(top.values)[i]) & (mean > 0)
        return out

    def _moves(self, run: Run, row: int) -> tuple[bool | None, list[Evidence]]:
        """Whether the policy moves, None where no KL tells, and the values it rests on."""
        kl = run.get("ref_kl")
        kl = kl.where(kl.at <= row).finite() if kl is not None else None
        grad = run.get("grad_norm")
        grad = grad.where(grad.at <= row).finite() if grad is not None else None
        if kl is None or len(kl) < 3:
            return None, []
        level = float(np.median(kl.values[-5:]))
        still = self.still_sequence if kl.unit == Unit.NATS_PER_SEQUENCE else self.still_token
        evidence = [quote(kl, [0, len(kl) - 1], said("about {level} {unit} lately", level=number(level), unit=kl.unit))]
        if level >= still:
            return True, evidence
        if grad is not None and len(grad) and float(np.median(grad.values)) > 0:
            evidence.append(quote(grad, [len(grad) - 1], "there is a gradient"))
        return False, evidence

    def _has_ended(self, run: Run) -> bool:
        """Whether the last row carries the summary that trainers write once, at the end."""
        total = run.get("time_total")
        return total is not None and len(total) == 1 and int(total.at[0]) == len(run) - 1 and len(run) > 1
