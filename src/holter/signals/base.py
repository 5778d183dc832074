"""What a signal is: one named, dimensioned quantity that a training run logs once a step.

A *key* says how a signal is called (TRL's own name wherever TRL has one). A *concept* says what it is, whatever it is
called: ``objective/kl`` and ``kl`` are both a ``ref_kl``, one in nats a sequence, the other in nats a token. Detectors ask
for concepts and get the unit with the numbers, so that no limit is ever applied in the wrong unit.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from holter.language import said

if TYPE_CHECKING:
    from holter.language import Said


class Unit(StrEnum):
    """Units a signal can carry. Two signals compare only within one unit."""

    NATS_PER_TOKEN = "nats/token"
    NATS_PER_SEQUENCE = "nats/sequence"
    FRACTION = "fraction"
    RATIO = "ratio"
    NUMBER = "1"
    REWARD = "reward"
    REWARD_SQUARED = "reward^2"
    PROBABILITY = "probability"
    TOKENS = "tokens"
    COUNT = "count"
    STEPS = "steps"
    EPISODES = "episodes"
    EPOCHS = "epochs"
    TURNS = "turns"
    VERSIONS = "versions"
    CALLS_PER_COMPLETION = "calls/completion"
    SAMPLES = "samples"
    SECONDS = "s"
    EPISODES_PER_SECOND = "episodes/s"
    SAMPLES_PER_SECOND = "samples/s"
    TOKENS_PER_SECOND = "tokens/s"
    TOKENS_PER_SECOND_PER_GPU = "tokens/s/GPU"
    TFLOPS_PER_GPU = "TFLOP/s/GPU"
    GIGABYTES = "GB"


class Estimator(StrEnum):
    """How a divergence or an entropy is estimated from sampled tokens; ``d = log p - log q``.

    References:
        Schulman, "Approximating KL Divergence" (2020).
    """

    K1 = "k1"
    """mean(d): unbiased, signed, may be negative by sampling noise."""
    K2 = "k2"
    """mean(d^2)/2: biased, never negative."""
    K3 = "k3"
    """mean(exp(-d) - 1 + d): unbiased, never negative, heavy right tail."""
    ABS = "abs"
    """mean(|d|)."""
    EXACT = "exact"
    """From the full distribution over the vocabulary."""
    MONTE_CARLO = "mc"
    """-log p of the sampled token: a surprisal, not an entropy."""

    @property
    def never_negative(self) -> bool:
        """Whether a divergence estimated so is never below 0, so that one which is was computed wrongly."""
        return self in (Estimator.K2, Estimator.K3, Estimator.ABS, Estimator.EXACT)


class Reduction(StrEnum):
    """What one logged value was averaged or summed over."""

    TOKEN = "token"
    """Mean over all completion tokens of the batch."""
    SEQUENCE = "seq"
    """Mean over sequences of their token means."""
    SEQUENCE_SUM = "seqsum"
    """Mean over sequences of the sum over their tokens."""
    PADDED = "padded"
    """Mean over the padded matrix, padding counted."""
    MICRO_BATCH = "micro"
    """Mean over micro-batches, each weighing the same."""
    BATCH = "batch"
    """Mean over samples."""
    GROUP = "group"
    """Mean over prompt groups."""
    RANK = "rank"
    """The local process only."""
    LAST = "last"
    """The last mini-batch or step only."""
    SUM = "sum"
    MIN = "min"
    MAX = "max"
    STD = "std"
    COUNTER = "counter"
    """A running total or a position, not a statistic."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Signal:
    """A canonical signal.

    Attributes:
        key: Canonical key, unique in the catalog. ``{name}`` stands for a label: ``rewards/{name}/mean``.
        concept: What it is, whatever it is called. Several keys may share one concept.
        title: Name in words, used as an axis label.
        unit: Unit of one logged value.
        reduction: What one logged value was reduced over.
        estimator: How it was estimated, for divergences and entropies.
        sign: What the sign means and which direction is good, in words.
        low: Least value that makes sense; a smaller one is a broken metric.
        high: Greatest value that makes sense.
        rank: Among signals of one concept, the lowest rank is asked first.
        what: Definition in one or two sentences.
        formula: The same as a formula, in the notation of the docs (B sequences, T tokens).
        healthy: What it does in a healthy run, in words, with numbers where they are known.
        differs: Where TRL's code and TRL's documentation disagree, or versions do. Empty where they agree.
        moves_with: Keys of signals that move with it, and are worth looking at beside it.
        sources: Where the definition and the healthy behaviour were read or measured.
    """

    key: str
    concept: str
    title: str
    unit: Unit
    reduction: Reduction | None = None
    estimator: Estimator | None = None
    sign: str = ""
    low: float = float("-inf")
    high: float = float("inf")
    rank: int = 0
    what: str
    formula: str = ""
    healthy: str
    differs: str = ""
    moves_with: tuple[str, ...] = ()
    sources: tuple[str, ...] = field(default=())

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the placeholders in the key."""
        return tuple(re.findall(r"\{(\w+)\}", self.key))

    @property
    def phrase(self) -> Said:
        """The title as it stands inside a sentence: "KL coefficient" stays, "Value loss" becomes "value loss"."""
        first = self.title.split(" ", 1)[0]
        stays = sum(c.isupper() for c in first) > 1
        return said(self.title).in_english(self.title if stays else self.title[:1].lower() + self.title[1:])

    def pattern(self) -> re.Pattern[str]:
        """Matches every key this signal stands for, with the labels as named groups."""
        parts = re.split(r"(\{\w+\})", self.key)
        return re.compile("".join(f"(?P<{p[1:-1]}>.+)" if p.startswith("{") else re.escape(p) for p in parts))
