"""The rewards within a group are all equal, so that the group teaches nothing.

## Why it matters
GRPO compares the completions of one prompt with each other. Where they all get the same reward, every advantage is zero
and so is the gradient (what is left is the KL term). A share f of such groups makes each useful rollout cost 1 / (1 -
f) as much; at 1 the run only burns compute.

## When it fires
From the first rows on: every group agrees and the rewards have no spread, on every row so far; all advantages are 0
although rewards differ, which one row proves; or two rows and more have all had shares above `share`, of twenty groups
and more. Later: the median of the last 10 shares is above `share`; or, while the reward falls, the median of the last
5 is `rise` above the lowest median of 10 so far and above half of `share`, clear of its noise, until half of that rise
is undone: groups that agree on the wrong answer. It is critical when it is 1 for `rows` rows: no gradient at all. It
is an info while the reward has gained and stands near its best: the task is being solved, and such prompts should be
replaced by harder ones. That does not hold where rewards are right or wrong, and at least `failing` of all groups
agree on wrong: a share f of equal groups leaves no more than 1 - f to the rest of them, so at least f minus the reward
are wrong. It is an info, too, where the share of right answers has been 95 % and more since the first row (solved
groups, accuracy, a reward function named after the task): there is nothing left to learn. A reward of exactly 1 since
the first row, in a log without such a share, is a warning that says that it cannot tell a solved task from a constant
reward function. Where no share is logged, the spread of the whole batch, its largest and smallest reward, or its
advantages stand in: they are a proof when they say "equal", and prove nothing when they do not.

## What to do
- Rewards all at the floor: is the answer parsed at all, is it cut before it ends, is the task beyond the model?
- Rewards all at the ceiling: harder prompts, or stop.
- Filter prompts to success rates between 0 and 1 (dynamic sampling); a larger group; temperature 1; partial credit.
- A reward function that returns one constant: run it on a right, a wrong and an empty answer.

## When it is wrong
With `scale_rewards="batch"` TRL's share is that of the whole batch, 0 or 1. In evaluation with one completion a prompt
it is 1 everywhere and means nothing.

## References
Yu et al., ["DAPO: An Open-Source LLM Reinforcement Learning System at Scale"](https://arxiv.org/abs/2503.14476)
(2025), dynamic sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.agreement import agreement, binary_success, counted
from holter.detectors.statistics.alignment import on_rows
from holter.detectors.statistics.ceiling import one_from_the_start, solved_from_the_start
from holter.detectors.statistics.episodes import episodes, onset, persist, unexcused_since
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.noise import noise
from holter.detectors.statistics.progress import falls, near_best, rises
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.agreement import Agreement
    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run

ADVICE_FLOOR = (
    "Run the reward function by hand on a right, a wrong and an empty answer; check that answers are parsed and not cut.",
    "Take prompts that are sometimes solved (filter to success rates between 0 and 1, dynamic sampling), a larger group, "
    "temperature 1, or partial credit.",
)
ADVICE_CEILING = (
    "Replace solved prompts by harder ones (dynamic sampling), or stop: there is nothing left to learn here.",
    "Check on held-out prompts that the task is solved and not the reward.",
)

PASTED = 10
"""Rows below which a single row that no longer shows it ends the finding: nothing else is known of such a log."""
LATELY = 10
"""Newest shares that decide."""
ENOUGH = 20
"""Groups that tell a high share in the first rows: with one half of them equal, 16 of 20 come in six cases of a thousand."""
NEWEST = 5
"""Newest shares that decide while the reward falls."""


@dataclass(frozen=True, kw_only=True)
class ZeroVarianceGroups(Detector):
    """HLT821."""

    name: ClassVar = "zero-variance-groups"
    code: ClassVar = "HLT821"
    since: ClassVar = "0.1"
    says: ClassVar = "groups have equal rewards and no gradient"
    needs: ClassVar = (
        Need(
            concepts=(
                "zero_std_groups",
                "groups_mixed",
                "groups_failed",
                "reward_group_spread",
                "reward_spread",
                "reward_max",
                "advantage_max",
                "advantage_std",
            ),
            log="the share of groups with equal rewards (frac_reward_zero_std)",
        ),
    )
    uses: ClassVar = ("groups_solved", "reward_min", "advantage_min", "reward", "accuracy", "reward_component")
    explains: ClassVar = ("gradient-zero", "no-learning", "policy-not-updating", "reward-frozen")
    explained_by: ClassVar = ("zero-reward", "judge-outage", "truncation", "entropy-collapse", "duplicate-completions")

    share: float = limit(0.75, unit="fraction", help="tolerates more groups without a gradient", low=0.0, high=1.0)
    rise: float = limit(0.2, unit="fraction", help="while the reward falls: needs a larger rise", low=0.0, high=1.0)
    z: float = limit(6.0, unit="standard errors", help="while the reward falls: needs a clearer rise", low=0.0)
    failing: float = limit(0.3, unit="fraction", help="tolerates more groups that agree on wrong", low=0.0, high=1.0)
    rows: int = limit(5, unit="logged points", help="needs exact agreement for longer to call it critical", low=2)
    brief: int = limit(
        20, unit="logged points", help="calls longer stretches a passing matter once they are over", low=1
    )

    def check(self, run: Run) -> Iterator[Finding]:
        """Exact agreement from the start, then shares that stay high."""
        groups = agreement(run)
        if groups is None:
            return
        share = groups.share
        flags = self._from_the_start(run, groups) | persist(share >= 1.0, self.rows, self.rows)
        measured = groups.share[groups.exact]
        flags[groups.exact] |= trailing_median(measured, LATELY, least=LATELY) > self.share
        flags[groups.exact] |= self._from_few(measured)
        rising = self._rising(measured) & falls(run.get("reward"), groups.at[groups.exact])
        flags[groups.exact] |= hold(rising, measured, log=False)
        for episode in episodes(flags):
            yield self._say(run, groups, episode, flags)

    def _rising(self, share: NDArray[np.float64]) -> NDArray[np.bool_]:
        """Where the share has left its own lowest level, clear of the noise. Shape of `share`."""
        newest = trailing_median(share, NEWEST, least=NEWEST)
        lowest = running_min(trailing_median(share, LATELY, least=LATELY), lag=NEWEST)
        with np.errstate(invalid="ignore"):
            clear = newest - lowest > self.z * noise(share, lag=NEWEST).of_mean(NEWEST)
            out: NDArray[np.bool_] = clear & (newest > self.share / 2) & (newest - lowest > self.rise)
        return out

    def _from_the_start(self, run: Run, groups: Agreement) -> NDArray[np.bool_]:
        """Rows of an unbroken beginning in which all groups agree; with no spread in the batch one row is enough."""
        unbroken: NDArray[np.bool_] = np.logical_and.accumulate(groups.share >= 1.0)
        # A mean of exactly 0 of groups that all agree is a reward of 0 for everyone, unless signs cancel.
        flat = (on_rows(run.get("reward_spread"), groups.at) == 0) | (on_rows(run.get("reward"), groups.at) == 0)
        proven = np.logical_or.accumulate(flat | groups.proven) | ~groups.exact
        unbroken[: self.rows - 1] &= proven[: self.rows - 1]
        return unbroken

    def _from_few(self, share: NDArray[np.float64]) -> NDArray[np.bool_]:
        """The first `LATELY` shares, two and more, where all of them are high and of enough groups. Shape of `share`."""
        out = np.zeros(len(share), bool)
        first = share[:LATELY]
        if len(first) > 1:
            high = np.logical_and.accumulate(first > self.share)
            out[: len(first)] = high & (np.cumsum(counted(first)) >= ENOUGH) & (np.arange(len(first)) > 0)
        return out

    def _say(self, run: Run, groups: Agreement, episode: Episode, flags: NDArray[np.bool_]) -> Finding:
        share, at, i = groups.share, groups.at, episode.raised
        first, low, late = onset(share, i, window=200) if i >= 9 else (_start_of_ones(share, i),) * 3
        stretch = slice(i, episode.last + 1)
        level, solved, dead = self._course(run, groups, stretch)
        reward = run.get("reward")
        # What was solved before training began has no gradient, and needs none.
        spent = solved_from_the_start(run, at[stretch])
        harmless = (solved & ~dead) | spent
        perhaps = bool(one_from_the_start(reward, at[[episode.last]])[0]) and not spent[-1]
        lasted = episode.last - i + 1
        severity = Severity.INFO if harmless[-1] else Severity.WARNING
        if dead[-1] and not (solved[-1] or spent[-1] or perhaps) and lasted >= self.rows:
            severity = Severity.CRITICAL
        healed = len(share) < PASTED and episode.last < len(share) - 1
        if healed or (not episode.active and lasted <= self.brief):
            severity = Severity.INFO
        if severity > Severity.INFO:
            excused = np.ones(len(share), bool)
            excused[stretch] = harmless | ~flags[stretch]
            i = unexcused_since(episode, excused)
        solved_now, dead_now = bool(solved[-1]), bool(dead[-1])
        title = said(
            "{percent} % of groups have equal rewards and no gradient"
            if groups.exact[i]
            else "all advantages of the batch are equal, and there is no gradient"
            if groups.source(i).key.startswith("advantages/")
            else "all completions of the batch have equal rewards and no gradient",
            percent=number(100 * float(level[-1])),
        )
        title = said(
            "{what} ({metric}, from the first row on)" if first == 0 else "{what} ({metric})",
            what=title,
            metric=groups.metric(i),
        )
        if spent[-1]:
            title = said("{what}: solved from the first row on, there is nothing left to learn", what=title)
        elif perhaps and reward is not None:
            title = said(
                "{what}: {reward} is exactly 1, so either the task is solved or the reward function returns a constant; "
                "the log does not tell its greatest value",
                what=title,
                reward=reward.metric,
            )
        elif solved_now:
            title = said("{what}, while the reward is at its best: the task is being solved", what=title)
        return self.finding(
            severity,
            Confidence.CERTAIN if dead_now else Confidence.MODERATE,
            title,
            run=run,
            first=int(at[first]),
            last=int(at[episode.last]),
            raised=int(at[i]),
            onset=(int(at[low]), int(at[late])),
            active=episode.active and not healed,
            evidence=[*self._evidence(run, groups, first, episode)],
            advice=(
                (ADVICE_CEILING[0], ADVICE_FLOOR[0])
                if perhaps
                else ADVICE_CEILING
                if solved_now or spent[-1]
                else ADVICE_FLOOR
            ),
            alternatives=(
                Alternative(says="the task is solved", check="compare the reward with its ceiling"),
                Alternative(says="the completions are copies", check="print the completions of one group"),
            ),
        )

    def _course(
        self, run: Run, groups: Agreement, stretch: slice
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_]]:
        """Newest share, whether the task is being solved, and whether no group differs, at each row of a stretch."""
        share, at = groups.share[stretch], groups.at[stretch]
        reward = run.get("reward")
        level = trailing_median(share, LATELY)
        solved = (near_best(reward, at) & ~self._failing(run, level, at)) | ((level < 1) & rises(reward, at))
        seen = np.minimum(np.arange(1, len(share) + 1), LATELY)
        dead = ~persist(share < 1, 1, LATELY) & ((seen >= self.rows) | (stretch.start < self.rows))
        return level, solved, dead

    def _failing(self, run: Run, level: NDArray[np.float64], at: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Where right-or-wrong rewards leave `failing` of all groups to be equal and wrong. Shape of `level`.

        The first rows tell that rewards are of that kind; groups that are all equal no longer do.
        """
        reward = run.get("reward")
        if reward is None:
            return np.zeros(len(at), bool)
        known = reward.finite()
        binary = np.isfinite(binary_success(run, known.at[:LATELY]))
        if len(binary) < LATELY or not binary.all():
            return np.zeros(len(at), bool)
        newest = known.upto(at)
        mean = trailing_median(known.values, LATELY, least=LATELY)[np.maximum(newest, 0)]
        with np.errstate(invalid="ignore"):
            out: NDArray[np.bool_] = (newest >= 0) & (level - mean >= self.failing)
        return out

    def _evidence(self, run: Run, groups: Agreement, first: int, episode: Episode) -> Iterator[Evidence]:
        yield from groups.quotes((first, episode.raised, episode.last))
        reward = run.get("reward")
        if reward is not None:
            seen = {int(j) for j in reward.upto(groups.at[[first, episode.last]]) if j >= 0}
            if seen:
                yield quote(reward, sorted(seen), "the reward in those rows")


def _start_of_ones(share: NDArray[np.float64], i: int) -> int:
    """First row of the unbroken stretch of full agreement that ends at `i`."""
    broken = np.flatnonzero(share[: i + 1] < 1.0)
    return int(broken[-1]) + 1 if len(broken) and broken[-1] < i else 0
