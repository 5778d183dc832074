"""What PPO measures, as sums and counts over tokens; or, for comparison, as TRL's code reduces it.

TRL averages over the padded rectangle where it should average over tokens, over micro-batches where it should average over the
batch, and over a table that is not full where `num_mini_batches` is above 1. Its own numbers are given where somebody asks for
them (``trl_compatible_metrics``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from holter.signals import clipped, k1, k2, k3, tally, value_clipped
from holter.trainers.measures import measure_advantages, measure_completions, measure_rewards

if TYPE_CHECKING:
    from collections.abc import Sequence

    from torch import Tensor

    from holter.recorder.recorder import Recorder
    from holter.signals import Tally
    from holter.trainers.ppo_config import PPOConfig
    from holter.trainers.reporting import Report
    from holter.trainers.rewards import Rewards
    from holter.trainers.rollout import Completions


@dataclass(frozen=True)
class Judged:
    """A rollout and what was found out about it. ``(B, T)`` are completion tokens, in nats and units of reward.

    Attributes:
        mask: 1 on completion tokens. Shape ``(B, T)``.
        trained: Whether each completion is trained on, that is whether it has a score. Shape ``(B,)``.
        logprobs: Under the policy that sampled. Shape ``(B, T)``.
        kl: Estimated KL to the reference, by token. Shape ``(B, T)``.
        coefficient: What a nat of it costs.
        by_function: Raw output of every reward function. Shape ``(B, K)``.
        scores: What completions are worth, before the KL penalty. Shape ``(B,)``.
        values: What was expected before each token. Shape ``(B, T)``.
        returns: What should have been. Shape ``(B, T)``.
        advantages: As the update uses them. Shape ``(B, T)``.
    """

    mask: Tensor
    trained: Tensor
    logprobs: Tensor
    kl: Tensor
    coefficient: Tensor | float
    by_function: Tensor
    scores: Tensor
    values: Tensor
    returns: Tensor
    advantages: Tensor

    @property
    def kl_per_sequence(self) -> Tensor:
        """Shape ``(B,)``, nats/sequence."""
        return tally(self.kl, self.mask, dim=-1).total

    @property
    def rewards(self) -> Tensor:
        """What the update maximises: the score less the KL penalty. Shape ``(B,)``."""
        return self.scores - self.coefficient * self.kl_per_sequence


@dataclass(frozen=True)
class Seen:
    """What a pass of the update saw of a micro-batch. All but the last are of shape ``(B, T)``.

    Attributes:
        mask: 1 on tokens that are trained on.
        logprobs: Now.
        old_logprobs: Under the policy that sampled.
        entropy: Of the policy now, nats.
        advantages: As the update uses them.
        values: Now.
        old_values: At the rollout.
        returns: What values should be.
        policy_losses: Clipped surrogate of each token.
        value_losses: Clipped squared error of each value, halved.
    """

    mask: Tensor
    logprobs: Tensor
    old_logprobs: Tensor
    entropy: Tensor
    advantages: Tensor
    values: Tensor
    old_values: Tensor
    returns: Tensor
    policy_losses: Tensor
    value_losses: Tensor


class PPOMeasures:
    """Records what PPO measures."""

    def __init__(self, args: PPOConfig, report: Report, rewards: Rewards) -> None:
        """Record to `report`; `rewards` knows how the reward functions are called."""
        self.args, self.report, self.rewards = args, report, rewards
        self.record: Recorder = report.metrics
        self._passes, self._longest = 0, 0

    def completions(self, prompts: Sequence[list[int]], completions: Completions, ends: Sequence[int]) -> None:
        """How long completions are, and whether they end."""
        record = self.record
        # The width of TRL's padded rectangle.
        self._passes, self._longest = 0, max(map(len, completions.tokens))
        measure_completions(record, prompts, completions)
        ends_seen = float(sum(token in ends for tokens in completions.tokens for token in tokens))
        if self.args.trl_compatible_metrics:
            record.record_last("val/num_eos_tokens", ends_seen)
        else:
            # A mean over steps of what all processes saw in one.
            record.record("val/num_eos_tokens", ends_seen, 1 / record.processes.size)

    def rollout(self, seen: Judged) -> None:
        """What the completions of an update are worth, and what the value function made of them."""
        record, mask, known = self.record, seen.mask, ~seen.scores.isnan()
        kl = seen.kl_per_sequence
        record.record_mean("objective/kl", kl)
        record.record_mean("objective/non_score_reward", -seen.coefficient * kl)
        record.record_mean("objective/entropy", tally(-seen.logprobs, mask, dim=-1).total)
        record.record_last("objective/kl_coef", seen.coefficient)
        record.record_mean("objective/scores", seen.scores, known)
        record.record_mean("objective/rlhf_reward", seen.rewards, known)
        measure_rewards(record, self.rewards.names, seen.by_function, seen.scores)
        used = mask & seen.trained.unsqueeze(-1)
        measure_advantages(record, seen.advantages, used)
        error = seen.values - seen.returns
        record.record_mean("value/mean", seen.values, used)
        record.record_mean("value/mean_error", error, used)
        record.record_mean("value/error", error.square(), used)
        record.record_mean("returns/mean", seen.returns, used)
        record.record_std("returns/std", seen.returns, used)
        record.record_explained_variance("explained_variance", seen.values, seen.returns, used)

    def update(self, seen: Seen) -> Tensor:
        """What the update does to a micro-batch. Its KL from the policy that sampled, by k3. Shape ``(B, T)``, nats."""
        record, mask = self.record, seen.mask
        log_ratio = (seen.logprobs - seen.old_logprobs).where(mask, 0.0)
        ratio = log_ratio.exp()
        kl = k3(seen.old_logprobs, seen.logprobs)
        cut = clipped(ratio, seen.advantages, self.args.cliprange, self.args.cliprange).region
        value_cut = value_clipped(seen.values, seen.old_values, seen.returns, self.args.cliprange_value)
        found = {
            "policy/approxkl_avg": k2(seen.old_logprobs, seen.logprobs),
            "policy/clipfrac_avg": cut,
            "loss/policy_avg": seen.policy_losses,
            "loss/value_avg": seen.value_losses,
            "val/clipfrac_avg": value_cut,
            "policy/entropy_avg": seen.entropy,
            "val/ratio": ratio,
        }
        record.record_mean("policy/kl_k1_avg", k1(seen.old_logprobs, seen.logprobs), mask)
        record.record_mean("policy/kl_k3_avg", kl, mask)
        record.record_min("val/ratio_min", ratio, mask)
        record.record_max("val/ratio_max", ratio, mask)
        if self.args.trl_compatible_metrics:
            self._as_trl({key: tally(values, mask) for key, values in found.items()}, len(mask))
        else:
            for key, values in found.items():
                record.record_mean(key, values, mask)
            record.record_variance("val/ratio_var", ratio, mask)
        return kl

    def _as_trl(self, found: dict[str, Tally], rows: int) -> None:
        """One entry of TRL's tables, which are averaged entry by entry."""
        self._passes += 1
        cells = rows * self._longest
        for key, (total, count) in found.items():
            if key == "policy/approxkl_avg":
                entry = total / cells
            elif key == "val/ratio":
                # Padding has a ratio of 1 there.
                entry = (total + cells - count) / cells
                self.record.record_variance("val/ratio_var", entry)
            else:
                entry = total / count
            self.record.record(self.report.turn(key), entry, 1)

    def updated(self) -> None:
        """Note that an update is done: the rest of TRL's tables stays 0."""
        if not self.args.trl_compatible_metrics:
            return
        slots = self.args.num_ppo_epochs * self.args.num_mini_batches * self.args.gradient_accumulation_steps
        for _ in range(slots - self._passes):
            for key in TABLES:
                self.record.record(self.report.turn(key), 0.0, 1)
            self.record.record_variance("val/ratio_var", torch.zeros(()))


TABLES = (
    "policy/approxkl_avg",
    "policy/clipfrac_avg",
    "loss/policy_avg",
    "loss/value_avg",
    "val/clipfrac_avg",
    "policy/entropy_avg",
    "val/ratio",
)
"""What TRL keeps in tables of epochs, mini-batches and accumulation steps."""
