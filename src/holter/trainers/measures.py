"""What every trainer measures of its completions and of what they are worth.

As sums and counts: see `holter.recorder`. What only one algorithm has is measured where it is computed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from torch import Tensor

    from holter.recorder.recorder import Recorder
    from holter.trainers.rollout import Completions


def _as_it_is(key: str) -> str:
    return key


def measure_completions(
    record: Recorder,
    prompts: Sequence[Sequence[int]],
    completions: Completions,
    *,
    turn: Callable[[str], str] = _as_it_is,
    none_ended: float | None = None,
) -> None:
    """How long completions are, and whether they end.

    Args:
        record: Takes what is measured.
        prompts: Tokens of the prompt of each completion.
        completions: The completions.
        turn: Key under which a metric that TRL averages generation by generation is recorded.
        none_ended: Length of completions that ended, where none did; None leaves it out.
    """
    lengths = [len(tokens) for tokens in completions.tokens]
    finished = [n for n, ended in zip(lengths, completions.ended, strict=True) if ended]
    record.record_sum("batch/num_tokens", float(sum(map(len, prompts)) + sum(lengths)))
    record.record_sum("generated_tokens", float(sum(lengths)))
    for infix, found in (("", lengths), ("terminated_", finished)):
        mean, least, greatest = (f"completions/{which}_{infix}length" for which in ("mean", "min", "max"))
        numbers: list[float] = [*found] if found or none_ended is None else [none_ended]
        if numbers:
            record.record(turn(mean), float(sum(numbers)), len(numbers))
            record.record_min(turn(least), float(min(numbers)))
            record.record_max(turn(greatest), float(max(numbers)))
    record.record(turn("completions/clipped_ratio"), len(lengths) - len(finished), len(lengths))
    record.record("completions/eos_ratio", len(finished), len(lengths))
    record.record("prompt_length/mean", sum(map(len, prompts)), len(prompts))


def measure_rewards(
    record: Recorder,
    names: Sequence[str],
    scores: Tensor,
    rewards: Tensor,
    *,
    turn: Callable[[str], str] = _as_it_is,
) -> None:
    """What reward functions say, and how far the rewards made of it are spread.

    Args:
        record: Takes what is measured.
        names: Names of the functions.
        scores: Raw output of each of them. Shape ``(B, K)``, NaN where a function did not score.
        rewards: What completions are worth; NaN where unscored. Shape ``(B,)``.
        turn: As for `measure_completions`.
    """
    columns = zip(names, scores.unbind(1), (~scores.isnan()).unbind(1), strict=True)
    for name, column, known in columns:
        record.record_mean(turn(f"rewards/{name}/mean"), column, known)
        record.record_std(turn(f"rewards/{name}/std"), column, known)
    known = ~rewards.isnan()
    record.record_std(turn("reward_std"), rewards, known)
    record.record_min("reward/min", rewards, known)
    record.record_max("reward/max", rewards, known)
    record.record("reward/nan_fraction", (~scores.isfinite()).sum(), scores.numel())


def measure_advantages(record: Recorder, advantages: Tensor, mask: Tensor | None = None) -> None:
    """How advantages lie: of completions, ``(B,)``, or of tokens, ``(B, T)``, that the mask counts."""
    record.record_mean("advantages/mean", advantages, mask)
    record.record_std("advantages/std", advantages, mask)
    record.record_max("advantages/abs_max", advantages.abs(), mask)


def measure_sampler_gap(record: Recorder, logprobs: Tensor, sampled: Tensor, mask: Tensor) -> None:
    """How far log-probabilities of the sampler are from those of a training pass of the same policy. ``(B, T)``, nats."""
    gap = (logprobs - sampled).abs()
    record.record_mean("sampling/sampling_logp_difference/mean", gap, mask)
    record.record_max("sampling/sampling_logp_difference/max", gap, mask)
