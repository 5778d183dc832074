"""A reward is NaN or infinite.

## Why it matters
Advantages are made from rewards. A NaN or an infinite reward makes every advantage of its group meaningless; trainers
that average with `nanmean` hide it, and the run goes on without learning from those samples, or dies with the next
update.

## When it fires
On reward, its components, its spread or the advantages being NaN or infinite. It is critical when the total reward or
its spread is not finite up to the end of the log, from its first value on or for `values` values or beside a loss
that breaks in the same row. A component that is NaN now and then while the total is finite is a reward function that
abstains, as it may when only some prompts concern it: an info with a count. It is a warning once it stays NaN.
A NaN that the means hide is found by arithmetic: where the gap between the total and its weighted parts is, in every
row, a whole number of completions of one function, and these numbers have no common divisor, as whole groups have, that
function gave no number for them and each counted as 0. From a share of `share` on this is a warning while it lasts.

## What to do
- Log the raw rewards of the flagged step with their completions; find the division, logarithm or parser that fails.
- Return a finite number, the lowest reward, for a completion that cannot be judged.
- Bound rewards before they reach the trainer.

## When it is wrong
Components of a mixture of tasks are NaN whenever no prompt of their task is in the batch. A function may return None on
purpose for a completion that it cannot judge; it costs that completion as much as a reward of 0 all the same.

## References
[huggingface/trl issue 4501](https://github.com/huggingface/trl/issues/4501): rewards of None become NaN and are left
out of the mean.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.numerics.bad_values import LOSS, REWARD, Bad, bad_series, flags, names, value_count, word
from holter.detectors.numerics.unscored import unscored
from holter.detectors.statistics.episodes import Episode, episodes
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Finding
    from holter.runs.run import Run

TOTAL = ("reward", "reward_spread", "reward_group_spread", "reward_penalised")
QUIET = 10
"""Rows without a completion that went unscored after which the function answers again."""


@dataclass(frozen=True, kw_only=True)
class RewardNotFinite(Detector):
    """HLT103."""

    name: ClassVar = "reward-not-finite"
    code: ClassVar = "HLT103"
    since: ClassVar = "0.1"
    says: ClassVar = "the reward is not finite"
    explains: ClassVar = ("not-finite", "no-learning", "reward-collapse")
    needs: ClassVar = (Need(concepts=("reward", "reward_component"), log="the reward"),)
    uses: ClassVar = ("reward_spread", "reward_penalised", "advantage_mean", "total_loss", "policy_loss", "length")

    values: int = limit(3, unit="values", help="lets a reward be not finite for longer before it is critical", low=1)
    share: float = limit(0.05, unit="of completions", help="lets more completions go unscored", low=0.0, high=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Total rewards first, then components while the total is finite."""
        bads = bad_series(run, lambda c: c in REWARD)
        total = [b for b in bads if b.series.concept in TOTAL]
        rest = [b for b in bads if b.series.concept not in TOTAL]
        yield from self._from_the_start(run, total, rest)
        ill = flags(total, len(run))
        for episode in episodes(ill):
            yield self._total(run, episode, [b for b in total if len(b.rows(episode.raised, episode.last))])
        alone = flags(rest, len(run)) & ~ill
        for episode in episodes(alone):
            mine = [b for b in rest if len(b.rows(episode.raised, episode.last))]
            if mine:
                yield self._part(run, episode, mine, alone)
        if not bads:
            yield from self._hidden(run)

    def _from_the_start(self, run: Run, total: list[Bad], rest: list[Bad]) -> Iterator[Finding]:
        """Rewards that were not finite from their first value on."""
        for group, heavy in ((total, True), (rest, False)):
            mine = [b for b in group if b.lead]
            if not mine:
                continue
            first = min(int(b.series.at[0]) for b in mine)
            if not heavy and any(b.lead and b.series.at[0] <= first for b in total):
                continue  # the total is not finite because of them, and its finding names them
            parts = [b for b in rest if b.lead] if heavy else []
            mine.sort(key=lambda b: TOTAL.index(b.series.concept) if heavy else 0)
            never = any(b.never for b in mine)
            value = word(np.concatenate([b.series.values[: b.lead] for b in mine]))
            severity = (Severity.CRITICAL if heavy else Severity.WARNING) if never else Severity.INFO
            title = said(
                "{metrics} are {value} from the first row on"
                if len(mine) > 1
                else "{metrics} is {value} from the first row on",
                metrics=names(mine),
                value=value,
            )
            if not never:
                title = said("{what}, for {values}", what=title, values=value_count(max(b.lead for b in mine)))
            if parts:
                also = "{what}; so are {metrics}" if len(parts) > 1 else "{what}; so is {metrics}"
                title = said(also, what=title, metrics=names(parts))
            yield self.finding(
                severity,
                Confidence.CERTAIN,
                title,
                run=run,
                first=first,
                last=max(int(b.series.at[b.lead - 1]) for b in mine),
                active=never,
                evidence=[
                    quote(
                        b.series,
                        range(min(b.lead, 3)),
                        "is not finite from its first value on",
                    )
                    for b in [*mine[:3], *parts[:2]]
                ],
                advice=_ADVICE,
            )

    def _total(self, run: Run, episode: Episode, mine: list[Bad]) -> Finding:
        head = min(mine, key=lambda b: (int(b.rows(episode.raised, episode.last)[0]), TOTAL.index(b.series.concept)))
        at = head.rows(episode.raised, episode.last)
        healed = all(b.heals(episode.last) for b in mine)
        rows = head.series.at[at]
        broken = any(not np.isfinite(s.values[np.isin(s.at, rows)]).all() for c in LOSS for s in run.all(c))
        critical = not healed and (len(at) >= self.values or broken)
        return self.finding(
            Severity.CRITICAL if critical else Severity.WARNING,
            Confidence.CERTAIN,
            said(
                "{metric} becomes {value}: {values}, {end}, and the loss with it"
                if broken
                else "{metric} becomes {value}: {values}, {end}",
                metric=head.series.metric,
                value=word(head.series.values[at]),
                values=value_count(len(at)),
                end=said("then finite again" if healed else "to the end of the log"),
            ),
            run=run,
            first=episode.raised,
            last=episode.last,
            active=not healed,
            evidence=[
                quote(
                    b.series,
                    [
                        max(0, int(b.rows(episode.raised, episode.last)[0]) - 1),
                        int(b.rows(episode.raised, episode.last)[0]),
                    ],
                    "was finite the row before",
                )
                for b in [head, *(b for b in mine if b is not head)][:4]
            ],
            advice=_ADVICE,
        )

    def _part(self, run: Run, episode: Episode, mine: list[Bad], alone: NDArray[np.bool_]) -> Finding:
        """Components that are not finite while the total is, as it is in the rows `alone`."""
        healed = all(b.heals(episode.last) for b in mine)
        total = sum(len(b.rows(episode.raised, episode.last)) for b in mine)
        held = [(b.series.at, b.rows(episode.raised, episode.last)) for b in mine]
        long = [int(at[rows[int(self.values) - 1]]) for at, rows in held if len(rows) >= self.values]
        stays = bool(long) and not healed
        bad_at = np.concatenate([at[rows] for at, rows in held])
        told = bad_at[alone[bad_at] & (bad_at >= min(long, default=len(run)))]
        bad = np.concatenate([b.series.values[b.rows(episode.raised, episode.last)] for b in mine])
        return self.finding(
            Severity.WARNING if stays else Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{metrics} are {value} in {values} while the total reward is finite"
                if len(mine) > 1
                else "{metrics} is {value} in {values} while the total reward is finite",
                metrics=names(mine),
                value=word(bad),
                values=value_count(total),
            ),
            run=run,
            first=episode.raised,
            last=episode.last,
            raised=(int(told.min()) if len(told) else episode.last) if stays else None,
            active=not healed,
            evidence=[
                quote(
                    b.series,
                    b.rows(episode.raised, episode.last)[:3],
                    said(
                        "{values} of {metric}",
                        values=value_count(len(b.rows(episode.raised, episode.last))),
                        metric=b.series.metric,
                    ),
                )
                for b in mine[:4]
            ],
            advice=("Check whether this reward function may abstain, and for which prompts.", *_ADVICE[:2]),
        )

    def _hidden(self, run: Run) -> Iterator[Finding]:
        """Completions without a number, which the means leave out and the total counts as 0."""
        found = unscored(run)
        reward = run.get("reward")
        if found is None or reward is None:
            return
        rows = np.flatnonzero(found.counts)
        first, last = int(rows[0]), int(rows[-1])
        # Share of the completions without a number since the first of them, as it stood at each of these rows.
        shares = np.cumsum(found.counts)[rows] / (rows - first + 1) / found.completions
        share = float(shares[-1])
        active = len(found.at) - 1 - last < QUIET
        row, raised = int(found.at[first]), found.raised
        warns = active and share >= self.share
        if warns:
            # A look before that would have found fewer.
            held = np.searchsorted(rows, raised, side="right") - 1
            raised = max(raised, int(rows[held + int(np.argmax(shares[held:] >= self.share))]))
        yield self.finding(
            Severity.WARNING if warns else Severity.INFO,
            Confidence.CERTAIN,
            said(
                "{percent} % of completions have no number from {function}, and count as 0 in {reward}",
                percent=number(100 * share),
                function=found.series.metric,
                reward=reward.metric,
            ),
            run=run,
            first=row,
            last=int(found.at[last]),
            raised=int(found.at[raised]),
            active=active,
            evidence=[
                quote(
                    found.series,
                    [int(np.searchsorted(found.series.at, row))],
                    said(
                        "the total misses {count} of {completions} completions of it here, a whole number in every row",
                        count=int(found.counts[first]),
                        completions=found.completions,
                    ),
                ),
                quote(reward, [int(np.searchsorted(reward.at, row))], "less than the sum of its parts"),
            ],
            advice=_ADVICE,
            alternatives=(
                Alternative(
                    says="the function returns None on purpose for completions that it cannot judge",
                    check="count what it returns for the completions of one prompt",
                ),
            ),
        )


_ADVICE = (
    "Log the raw rewards of this step with their completions: look for a division, a logarithm, a parser that fails.",
    "Return the lowest reward, a finite number, for a completion that cannot be judged.",
    "Bound the rewards before they reach the trainer.",
)
