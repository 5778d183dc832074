"""EOS does not end completions: none of them has one, or they have more than one each.

## Why it matters
A policy that is never shown ending cannot learn to end. If no completion contains an EOS from the first row on, all of them
are cut, and every reward is a reward of half an answer. If a batch contains more EOS tokens than completions, generation
runs on after the end, and what is trained on includes the text behind it, or padding is counted as EOS.

## When it fires
From the first rows on: the EOS count is 0 in `share` of all rows so far; or the fraction of completions that ended is 0; or
everything is truncated and the shortest and the longest completion are equally long, or the mean length never moves.
Or: the EOS count is above the number of completions of the batch, known from the episode counter.

## What to do
- Compare `tokenizer.eos_token_id`, `generation_config.eos_token_id` and the token that the chat template ends a turn with.
- Set the stop token explicitly (TRL PPO: `stop_token="eos"`; vLLM: `stop_token_ids`).
- Give a pad token of its own: with pad = EOS the end of an answer counts as padding, and padding counts as an end.
- Check that the limit leaves room for a whole answer, and that the SFT data ended with EOS.

## When it is wrong
Generation that is stopped by a string or another token on purpose (the count of EOS is 0 then, and truncation stays
low). A batch that is logged by one process while the episode counter counts all of them: the count can be too small,
never too large.

## References
TRL's PPO trainer counts `(responses == eos_token_id).sum()` over raw responses, padding included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from holter.detectors.base import Detector, Need, limit, number, quote
from holter.detectors.completion.batch_episodes import episodes_per_row
from holter.detectors.statistics.alignment import newest_on_rows, on_rows
from holter.detectors.statistics.episodes import Episode, episodes
from holter.findings.finding import Alternative, Confidence, Severity
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from holter.findings.finding import Evidence, Finding
    from holter.runs.run import Run, Series

ADVICE = (
    "Compare tokenizer.eos_token_id, generation_config.eos_token_id and the token that ends a turn in the chat template.",
    "Set the stop token explicitly, and give the tokenizer a pad token that is not EOS.",
    "Check that the length limit leaves room for a whole answer.",
)
SHORT_LIMIT = Alternative(
    says="the length limit is shorter than any whole answer",
    check="generate once with four times the limit and see whether EOS comes",
)
OTHER_STOP = Alternative(
    says="generation is stopped on purpose by a string or another token",
    check="look at the stop settings; completions then end before the limit",
)

FEW = 3
"""Rows of a log so short that a single one with too many EOS tokens is warned of."""


@dataclass(frozen=True, kw_only=True)
class NoEos(Detector):
    """HLT802."""

    name: ClassVar = "no-eos"
    code: ClassVar = "HLT802"
    since: ClassVar = "0.1"
    says: ClassVar = "completions do not end with EOS"
    needs: ClassVar = (
        Need(
            concepts=("eos_count", "eos_fraction", "truncation"),
            log="the number of EOS tokens, or the share of truncated completions",
        ),
    )
    uses: ClassVar = ("length", "length_min", "length_max")
    explains: ClassVar = ("truncation", "zero-reward", "zero-variance-groups", "no-learning")

    share: float = limit(0.9, unit="fraction of rows", help="tolerates fewer rows with an EOS", low=0.5, high=1.0)
    same: float = limit(0.01, unit="fraction", help="tolerates larger differences of length and truncation", low=0.0)
    more: float = limit(1.2, unit="EOS per completion", help="tolerates more EOS tokens per completion", low=1.0)

    def check(self, run: Run) -> Iterator[Finding]:
        """No EOS at all, or more than there are completions."""
        count = run.get("eos_count")
        if count is not None:
            yield from self._none(run, count.finite(), said("no completion of the batch contains an EOS token"))
            yield from self._too_many(run, count.finite())
        ended = run.get("eos_fraction")
        if ended is not None and not ended.derived:
            yield from self._none(run, ended.finite(), said("no completion ended by itself"))
        cut = run.get("truncation")
        if cut is not None and not cut.derived:
            yield from self._all_cut(run, cut.finite())

    def _none(self, run: Run, ends: Series, says: str) -> Iterator[Finding]:
        lengths_equal = _equally_long(run, ends, self.same) == 1
        for episode in episodes(_from_the_start(np.where(ends.values == 0, 1.0, 0.0), self.share)):
            evidence = [quote(ends, sorted({0, episode.last}), says)]
            equal = bool(lengths_equal[episode.last])
            if equal:
                evidence += _lengths(run, int(ends.at[episode.last]))
            title = said("{metric} is 0 from the first row on: {says}", metric=ends.metric, says=says)
            yield self._say(run, ends, episode, title, evidence, [SHORT_LIMIT, OTHER_STOP], sure=equal)

    def _all_cut(self, run: Run, cut: Series) -> Iterator[Finding]:
        hits = np.where(cut.values >= 1 - self.same, _equally_long(run, cut, self.same), 0.0)
        for episode in episodes(_from_the_start(hits, self.share)):
            lengths = _lengths(run, int(cut.at[episode.last]))
            evidence = [quote(cut, sorted({0, episode.last}), "every completion is cut"), *lengths]
            title = said(
                "every completion is cut at {length} tokens from the first row on ({metric} {share})"
                if lengths
                else "every completion is cut from the first row on ({metric} {share})",
                length=number(lengths[-1].values[-1]) if lengths else "",
                metric=cut.metric,
                share=number(cut.values[episode.last]),
            )
            yield self._say(run, cut, episode, title, evidence, [SHORT_LIMIT], sure=True)

    def _too_many(self, run: Run, count: Series) -> Iterator[Finding]:
        batch = episodes_per_row(run, count)
        with np.errstate(all="ignore"):
            flags = count.values > self.more * batch
        for episode in episodes(flags):
            i = episode.raised
            again = np.flatnonzero(flags[i + 1 : episode.last + 1])
            yield self.finding(
                Severity.WARNING if len(again) or len(count) <= FEW else Severity.INFO,
                Confidence.CERTAIN,
                said(
                    "{metric} counts {count} EOS tokens in {batch} completions: generation runs on after the end, or padding "
                    "counts as EOS",
                    metric=count.metric,
                    count=number(count.values[i]),
                    batch=number(batch[i]),
                ),
                run=run,
                first=int(count.at[i]),
                last=int(count.at[episode.last]),
                raised=int(count.at[i + 1 + int(again[0]) if len(again) and i >= FEW else i]),
                active=episode.active,
                evidence=[quote(count, sorted({i, episode.last}), "EOS tokens in one batch"), *_counter(run, count, i)],
                advice=ADVICE,
                alternatives=[
                    Alternative(
                        says="padding is counted: the pad token is EOS",
                        check="the count falls when completions get longer; compare pad_token_id with eos_token_id",
                    ),
                    Alternative(
                        says="generation does not stop at EOS (no stop token is set)",
                        check="look for text behind the end of an answer",
                    ),
                ],
            )

    def _say(
        self,
        run: Run,
        series: Series,
        episode: Episode,
        title: str,
        evidence: list[Evidence],
        alternatives: list[Alternative],
        *,
        sure: bool,
    ) -> Finding:
        over = not episode.active
        return self.finding(
            Severity.INFO
            if over and episode.last < 20
            else Severity.CRITICAL
            if sure and not over
            else Severity.WARNING,
            Confidence.CERTAIN,
            title,
            run=run,
            first=int(series.at[0 if episode.raised <= 1 else episode.raised]),
            raised=int(series.at[episode.raised]),
            last=int(series.at[episode.last]),
            active=episode.active,
            evidence=evidence,
            advice=ADVICE,
            alternatives=alternatives,
        )


def _from_the_start(hits: NDArray[np.float64], share: float) -> NDArray[np.bool_]:
    """Where `share` of all rows so far are hits (1), misses (0) or unknown (NaN), the first known one among the hits."""
    known = np.isfinite(hits)
    hit = known & (hits == 1)
    if not hit.any() or not hit[np.argmax(known)]:
        return np.zeros(len(hits), bool)
    return np.asarray(hit & (np.cumsum(hit) >= share * np.cumsum(known)))


def _equally_long(run: Run, series: Series, same: float) -> NDArray[np.float64]:
    """On which rows of `series` all completions are equally long: shortest = longest, or a mean that never moved.

    Returns:
        1, 0, or NaN where it cannot be told. Shape ``(len(series),)``.
    """
    shortest, longest = (on_rows(run.get(c), series.at) for c in ("length_min", "length_max"))
    mean = newest_on_rows(run.get("length"), series.at)
    with np.errstate(all="ignore"):
        equal = (longest > 0) & (longest - shortest <= same * longest)
        seen = np.isfinite(mean)
        high = np.maximum.accumulate(np.where(seen, mean, -np.inf))
        low = np.minimum.accumulate(np.where(seen, mean, np.inf))
        still = (high > 0) & (high - low <= same * high)
    told = np.where(np.cumsum(seen) > 1, still.astype(np.float64), np.nan)
    return np.where(np.isfinite(shortest) & np.isfinite(longest), equal.astype(np.float64), told)


def _lengths(run: Run, row: int) -> list[Evidence]:
    out = []
    for concept in ("length_min", "length_max", "length"):
        length = run.get(concept)
        newest = int(length.upto(np.asarray([row]))[0]) if length is not None else -1
        if length is not None and newest >= 0 and np.isfinite(length.values[newest]):
            out.append(quote(length, [newest], said("{signal} in that row", signal=length.signal.phrase)))
    return out[:2]


def _counter(run: Run, series: Series, i: int) -> list[Evidence]:
    counter = run.series.get("episode")
    if counter is None:
        return []
    j = int(counter.upto(series.at[[i]])[0])
    return [quote(counter, [j - 1, j] if j > 0 else [j], "episodes so far: the gain is the batch")] if j >= 0 else []
