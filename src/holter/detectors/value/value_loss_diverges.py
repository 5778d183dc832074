"""The value loss grows away from where it had settled.

## Why it matters
A critic that loses the returns makes advantages of its own errors; the policy then follows noise, and usually reward and KL go
next. It is also the first sign of a reward whose scale was changed.

## When it fires
The median of the newest values is `lag` times that of the values before and a new extreme, or lies `z` robust standard
deviations and `ratio` times above the line through log values before, or its root climbed `climb` times as much over the last
stretch as over the one before, clear of the noise by `clear`, and by 1.3. Value loss is a squared error in units of the return:
where the spread of rewards or returns grew by the same factor squared, or the reward itself rises and the growth stays below
`fast` and below what that rise can add, growth is expected, and it is information.
A loss `beyond` times the mean square of returns, on `rows` rows, needs no past: answering 0 everywhere would be closer. Until the
loss has once been below that square it must exceed `least` as well: a head that was just made answers at random, up to some ten,
whatever the rewards are worth. That stays a warning after it is over, when it lasted twice as long: the policy was trained on
such advantages meanwhile. Where the log has the critic's error before each update (`value/error`), a loss over the update that is
`worse` times what that error makes of it, and larger than answering 0 would make it, is enough, in the first row too: the update
itself drove the critic away.
A loss that leaps above all of the last twenty rows while value clipping begins to hold back `held` of the tokens, on two rows, is
a critic that was replaced or broken, unless the reward leaped as far; it stays a warning when it has learned again.
With 5 to 20 values it reports a pattern: two values in a row above everything before and `bend` times the median, and another
signal that moved (KL, policy loss, length, entropy).

## What to do
- Lower the value learning rate or vf_coef; turn on value clipping.
- Look for a change of the reward's scale at the onset; normalise rewards.
- Train the critic alone for some steps before the policy goes on.

## When it is wrong
Rewards that are still rising fast: each new level surprises the critic, and the loss comes back.

## References
Yuan et al., ["What's Behind PPO's Collapse in Long-CoT?"](https://arxiv.org/abs/2503.01491) (2025). Schulman et al.,
["Proximal Policy Optimization Algorithms"](https://arxiv.org/abs/1707.06347) (2017).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.detectors.statistics.breaks import accelerates, breaks_trend, leaves_level
from holter.detectors.statistics.corroboration import MOVES, corroboration
from holter.detectors.statistics.episodes import episodes, onset, persist, unexcused
from holter.detectors.statistics.hold import hold
from holter.detectors.statistics.progress import Progress, rises
from holter.detectors.statistics.rolling import running_min, trailing_median
from holter.detectors.value.return_size import mean_square_return
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.detectors.statistics.episodes import Episode
    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Lower the value learning rate or vf_coef; turn on value clipping.",
    "Look for a change of the reward's scale at {onset}; normalise rewards.",
    "Train the critic alone for some steps before the policy goes on.",
)

OVERSHOOT = (
    "Lower the value learning rate 10 times or more, or clip the critic's gradient.",
    "Train the critic alone for some steps before the policy goes on.",
)

REPLACED = (
    "See whether the value model was loaded, reset or changed before that step.",
    "Train the critic alone for some steps before the policy goes on.",
)

ALTERNATIVES = (
    Alternative(
        says="the scale of the rewards changed", check="compare the spread of rewards before and after the onset"
    ),
    Alternative(
        says="the reward rises, and the critic has not caught up",
        check="look at explained variance, which has no scale",
    ),
)

GROWTH = 1.3
"""Least factor on the root of the loss over a stretch that bends upwards."""

LATELY = 20
"""Rows that a leap is held against."""
LEAP = 1.2
"""How far above all of them it goes."""

SPREADS = (("return_std", 2.0), ("return_var", 1.0), ("reward_spread", 2.0), ("reward_group_spread", 2.0))
"""Concepts whose growth explains that of the value loss, and the power that makes them a variance."""


@dataclass(frozen=True, kw_only=True)
class ValueLossDiverges(Detector):
    """HLT601."""

    name: ClassVar = "value-loss-diverges"
    code: ClassVar = "HLT601"
    since: ClassVar = "0.1"
    says: ClassVar = "the value loss turns up"
    explains: ClassVar = ("critic-useless",)
    needs: ClassVar = (Need(concepts=("value_loss",), log="the value loss of every step"),)
    uses: ClassVar = (
        "reward",
        "value_error",
        "value_clip_fraction",
        "explained_variance",
        *(c for c, _ in SPREADS),
        *(m.concept for m in MOVES),
    )

    lag: float = limit(2.5, unit="x", help="needs a larger rise over its past median", low=1.0)
    z: float = limit(6.0, unit="robust sd", help="needs a clearer break", low=2.0)
    ratio: float = limit(2.0, unit="x", help="needs a larger break", low=1.0)
    climb: float = limit(3.0, unit="x", help="needs a sharper bend of its root", low=1.0)
    clear: float = limit(8.0, unit="standard errors", help="needs a clearer bend of its root", low=2.0)
    fast: float = limit(6.0, unit="x", help="excuses larger growth by a rising reward", low=1.0)
    beyond: float = limit(10.0, unit="mean squares of returns", help="calls fewer losses absurd", low=1.0)
    least: float = limit(
        100.0, unit="square of a value", help="calls fewer losses absurd while the value head may be fresh", low=0.0
    )
    worse: float = limit(10.0, unit="x", help="needs an update to do the critic more harm", low=1.0)
    batch: float = limit(64.0, unit="samples", help="without a spread: calls fewer losses absurd", low=1.0)
    held: float = limit(0.25, unit="of tokens", help="needs value clipping to bind more", low=0.0, high=1.0)
    rows: int = limit(5, unit="rows", help="waits longer before it calls a loss absurd", low=2)
    bend: float = limit(1.7, unit="x", help="short logs: needs a larger rise", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """Long logs by statistics on log values, the first rows by their shape."""
        series = run.get("value_loss")
        assert series is not None
        loss = series.finite()
        loss = loss.where(loss.values >= 0)
        early = self._short(run, loss)
        if early is not None:
            yield early
        yield from self._overshoots(run, loss)
        yield from self._absurd(run, loss)
        if len(loss) <= 20:
            return
        yield from self._leaps(run, loss)
        x = np.maximum(loss.values, 1e-12)
        usual = trailing_median(x, 5, least=3)
        if not (usual > min(self.lag, self.ratio, GROWTH**2) * running_min(usual, lag=5)).any():
            return  # the tests below are costly, and pass nothing that this does not
        flags = leaves_level(x, factor=self.lag, extreme=1.2)
        flags |= breaks_trend(x, z=self.z, ratio=self.ratio, log=True, floor=0.05)
        flags |= accelerates(np.sqrt(x), z=self.clear, ratio=self.climb, growth=GROWTH)
        flags[:20] = False
        held = hold(flags, x)
        for episode in episodes(held):
            yield self._long(run, loss, episode, held)

    def _overshoots(self, run: Run, loss: Series) -> Iterator[Finding]:
        """Updates over which the critic errs far more than before them: steps of the optimizer that are much too long."""
        error = run.get("value_error")
        if error is None:
            return
        error = error.finite()
        before = on_rows(error, loss.at) / 2
        # Near perfection every step is an overshoot, and harmless.
        zero = mean_square_return(run, loss.at, self.batch) / 2
        with np.errstate(invalid="ignore"):
            flags = (loss.values > self.worse * before) & (before > 0) & (loss.values > zero)
        for episode in episodes(flags):
            shown = np.flatnonzero(flags[episode.raised : episode.last + 1]) + episode.raised
            worst = int(shown[np.argmax(loss.values[shown] / before[shown])])
            was = int(np.searchsorted(error.at, loss.at[worst]))
            yield self.finding(
                Severity.WARNING,
                Confidence.STRONG,
                said(
                    "{metric} over an update is {times} times what the error before it makes: the critic's steps are too long",
                    metric=loss.metric,
                    times=number(float(loss.values[worst] / before[worst])),
                ),
                run=run,
                first=int(loss.at[episode.raised]),
                last=int(loss.at[episode.last]),
                raised=int(loss.at[episode.raised]),
                active=episode.active,
                evidence=[
                    quote(loss, shown[:4].tolist(), "half the squared error, averaged over the update"),
                    quote(error, [was], "squared error of the same critic before the update"),
                ],
                advice=OVERSHOOT,
                alternatives=ALTERNATIVES[:1],
            )

    def _leaps(self, run: Run, loss: Series) -> Iterator[Finding]:
        """Errors that leap from one row to the next while value clipping begins to bind."""
        clipped = run.get("value_clip_fraction")
        if clipped is None or len(loss) <= LATELY + 1:
            return
        x, share = loss.values, on_rows(clipped.finite(), loss.at)
        lately = np.lib.stride_tricks.sliding_window_view(x, LATELY)[:-2]  # before each row that has one after it
        usual, most = np.median(lately, axis=1), lately.max(1)
        # NaN where nobody knows what value clipping held back before, and then no comparison with it holds.
        held = newest_on_rows(clipped.finite(), loss.at)
        bound = np.lib.stride_tricks.sliding_window_view(held, LATELY)[:-2].max(1)
        leap, after = slice(LATELY, -1), slice(LATELY + 1, None)
        flags = (x[leap] > self.lag * usual) & (x[leap] > LEAP * most) & (x[after] > self.lag * usual)
        flags &= (np.minimum(share[leap], share[after]) > self.held) & (share[leap] > 2 * bound)
        quiet = 0
        for at in np.flatnonzero(flags).tolist():
            k, before = at + LATELY, float(usual[at])
            surprise = self._surprise(run, int(loss.at[k]), loss.at[k + 1 : k + 2], before)[0]
            if k < quiet or x[k] - before < surprise:
                continue
            back = np.flatnonzero(x[k + 2 :] <= most[at])
            last = k + 1 + int(back[0]) if len(back) else len(x) - 1
            quiet = last + 1
            yield self.finding(
                Severity.WARNING,
                Confidence.STRONG,
                said(
                    "{metric} leaps from {before} to {now} in one row, and value clipping holds {percent} % of the tokens back",
                    metric=loss.metric,
                    before=number(before),
                    now=number(float(x[k])),
                    percent=number(round(100 * float(share[k]))),
                ),
                run=run,
                first=int(loss.at[k]),
                last=int(loss.at[last]),
                raised=int(loss.at[k + 1]),
                onset=(int(loss.at[k - 1]), int(loss.at[k])),
                active=not len(back),
                evidence=[
                    quote(loss, [k - 1, k, k + 1], "above all of the twenty rows before"),
                    quote(clipped, clipped.upto(loss.at[k - 1 : k + 2]).tolist(), "value clipping binds at once"),
                ],
                advice=REPLACED,
                alternatives=ALTERNATIVES[:1],
            )

    def _absurd(self, run: Run, loss: Series) -> Iterator[Finding]:
        """Errors far larger than any return, whatever came before."""
        square = mean_square_return(run, loss.at, self.batch)
        with np.errstate(invalid="ignore"):
            settled = running_min(loss.values - square, lag=1) < 0
            far = (loss.values > self.beyond * square) & (settled | (loss.values > self.least))
        flags = persist(far, self.rows, self.rows)
        for episode in episodes(flags):
            k = episode.raised
            first = k - self.rows + 1
            lasted = episode.last - first + 1
            worst = first + int(np.argmax(loss.values[first : episode.last + 1]))
            yield self.finding(
                Severity.WARNING if episode.active or lasted >= 2 * self.rows else Severity.INFO,
                Confidence.STRONG,
                said(
                    "{metric} is {worst}, and returns are of size {size}"
                    if episode.active
                    else "{metric} is {worst}, and returns are of size {size}; it lasted {n} rows",
                    metric=loss.metric,
                    worst=number(float(loss.values[worst])),
                    size=number(float(np.sqrt(square[worst]))),
                    n=lasted,
                ),
                run=run,
                first=int(loss.at[first]),
                last=int(loss.at[episode.last]),
                raised=int(loss.at[k]),
                active=episode.active,
                evidence=[
                    quote(
                        loss, sorted({first, worst, episode.last}), "a critic that answers 0 everywhere would be closer"
                    )
                ],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )

    def _long(self, run: Run, loss: Series, episode: Episode, held: NDArray[np.bool_]) -> Finding:
        k = episode.raised
        began, low, late = onset(np.log(np.maximum(loss.values, 1e-12)), k)
        first = int(loss.at[began])
        before = float(np.median(loss.values[max(0, began - 20) : max(began, 1)]))
        now = float(np.median(loss.values[max(began, episode.last - 4) : episode.last + 1]))
        since = max(began, k - 4)
        worst = np.maximum.accumulate(trailing_median(loss.values[since : episode.last + 1], 5, least=1))
        rows = loss.at[k : episode.last + 1]
        expected, benign = self._explained(run, first, rows, worst[k - since :], max(before, 1e-12))
        excused = ~held
        excused[k : episode.last + 1] |= expected
        bare = unexcused(episode, excused)
        raised = int(loss.at[k if bare is None else bare])
        others = corroboration(run, max(first - 1, 0), raised, leave_out=("value_loss",))
        title = said(
            "{metric} grows from about {before} to {now}", metric=loss.metric, before=number(before), now=number(now)
        )
        if benign:
            title = said("{title}, and so do the rewards it has to predict", title=title)
        if not episode.active:
            title = said("{title}; it came back", title=title)
        return self.finding(
            Severity.INFO if benign or not episode.active else Severity.WARNING,
            Confidence.STRONG if others and not benign else Confidence.MODERATE,
            title,
            run=run,
            first=first,
            last=int(loss.at[episode.last]),
            raised=raised,
            onset=(int(loss.at[low]), int(loss.at[late])),
            active=episode.active,
            evidence=[
                quote(
                    loss,
                    sorted({max(began - 1, 0), k, episode.last}),
                    said("{times} times the median before", times=number(now / max(before, 1e-12))),
                ),
                *others,
            ],
            advice=ADVICE,
            alternatives=ALTERNATIVES,
            against=benign,
        )

    def _explained(
        self, run: Run, first: int, at: NDArray[np.int64], loss: NDArray[np.float64], before: float
    ) -> tuple[NDArray[np.bool_], list[str]]:
        """Whether a growth since row `first` is to be expected, at each row of an episode.

        Args:
            run: The run.
            first: Row at which the growth began.
            at: Rows of the episode, the alarm first. Shape ``(k,)``.
            loss: What the loss had grown to by then. Shape ``(k,)``.
            before: What it was before.

        Returns:
            Where it is expected, shape ``(k,)``, and the reasons that hold at the last row, in words.
        """
        factor = loss / before
        expected = np.zeros(len(at), bool)
        out: list[str] = []
        for concept, power in SPREADS:
            series = run.get(concept)
            series = series.finite() if series is not None else None
            if series is None or not len(series):
                continue
            a = int(np.searchsorted(series.at, first))
            count = np.searchsorted(series.at, at, side="right") - a
            old = float(np.median(np.abs(series.values[max(0, a - 20) : a]))) if a >= 3 else 0.0
            if not old > 0 or count[-1] < 2:
                continue
            new = trailing_median(np.abs(series.values[a:]), 5, least=1)[np.maximum(count, 1) - 1]
            grew = (count >= 2) & ((new / old) ** power > factor / 2)
            expected |= grew
            if grew[-1] and not out:
                out.append(
                    said(
                        "{metric} grew from {before} to {now}",
                        metric=series.metric,
                        before=number(old),
                        now=number(float(new[-1])),
                    )
                )
        reward = run.get("reward")
        if reward is not None and rises(reward, at[:1])[0]:
            bound = np.maximum((self.lag - 1) * before, self._surprise(run, first, at, before))
            surprised = (factor < self.fast) & (loss - before < bound)
            expected |= surprised
            if surprised[-1]:
                out.append(said("{metric} is rising, and each new level surprises a critic", metric=reward.metric))
        return expected, out

    def _surprise(self, run: Run, first: int, at: NDArray[np.int64], before: float) -> NDArray[np.float64]:
        """How much a reward that rose since row `first` can add to the loss of a critic that learns as well as before.

        A critic that has not noticed the rise at all errs by all of it, so twice its square is generous. Where rewards are
        right or wrong, their variance p(1-p) moves with their mean p, and the loss with the variance.

        Returns:
            Shape of `at`, in units of the reward squared.
        """
        progress = Progress.of(run)
        if progress is None:
            return np.zeros(len(at))
        moved = progress.since(first, at)
        out = 2 * moved.change**2
        values = progress.series.values[progress.series.at <= at[0]]
        if (values >= 0).all() and (values <= 1).all():
            old, new = np.clip([moved.before], 0.01, 0.99), np.clip(moved.before + moved.change, 0.01, 0.99)
            out = np.maximum(out, 2 * before * (new * (1 - new) / (old * (1 - old)) - 0.5))
        return out

    def _short(self, run: Run, loss: Series) -> Finding | None:
        """Two values in a row above everything before, within the first twenty, and company."""
        x = loss.values
        for k in range(4, min(len(x), 20)):
            past = x[: k - 1]
            bar = max(1.25 * float(past.max()), self.bend * float(np.median(past)))
            if x[k - 1] < bar or x[k] < bar or x[k] < x[k - 1]:
                continue
            first, raised = int(loss.at[k - 1]), int(loss.at[k])
            others = corroboration(run, int(loss.at[k - 2]), raised, leave_out=("value_loss",))
            if not others:
                continue
            back = np.flatnonzero(x[k + 1 :] <= float(past.max()))
            active = not len(back)
            return self.finding(
                Severity.WARNING if active else Severity.INFO,
                Confidence.PATTERN,
                said(
                    "{metric} turns up from {before} to {now}, above all before",
                    metric=loss.metric,
                    before=number(float(x[k - 2])),
                    now=number(float(x[k])),
                ),
                run=run,
                first=first,
                last=int(loss.at[-1]) if active else int(loss.at[k + int(back[0])]),
                raised=raised,
                active=active,
                evidence=[self._rows(loss, k), *others],
                advice=ADVICE,
                alternatives=ALTERNATIVES,
            )
        return None

    def _rows(self, loss: Series, k: int) -> Evidence:
        return quote(loss, range(max(0, k - 4), k + 1), "two rows above everything before; too few for statistics")
