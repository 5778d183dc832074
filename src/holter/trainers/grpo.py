"""Group Relative Policy Optimization, from top to bottom.

1. `collect`: sample ``num_generations`` completions of each prompt, reward them, and take as advantage how much better than
   the others of its prompt each one is.
2. `loss`: make tokens of good completions likelier and of bad ones less likely, by the ratio to the policy that sampled them,
   clipped; held near the reference policy by a KL term where ``beta`` is not 0.

What is measured on the way is in `holter.signals`; every number is recorded as sums and counts, so that it is the same however
the batch is cut into micro-batches and processes.

References:
    Shao et al., "DeepSeekMath" (2024). Yu et al., "DAPO" (2025). Liu et al., "Understanding R1-Zero-Like Training" (2025).
    Zheng et al., "Group Sequence Policy Optimization" (2025).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

from holter.signals import (
    clipped,
    clipped_per_sequence,
    group_statistics,
    k1,
    k2,
    k3,
    log_ratio,
    sequence_log_ratio,
    tally,
)
from holter.trainers.advantages import group_relative
from holter.trainers.buffer import Rollout, micro_batches
from holter.trainers.grpo_config import GRPOConfig
from holter.trainers.liger import LigerLoss
from holter.trainers.measures import (
    measure_advantages,
    measure_completions,
    measure_rewards,
    measure_sampler_gap,
)
from holter.trainers.names import arguments_checked
from holter.trainers.on_policy import OnPolicyTrainer
from holter.trainers.scoring import score

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor, nn
    from transformers import PreTrainedModel, TrainerCallback

    from holter.signals.grouped import GroupStatistics
    from holter.trainers.buffer import MicroBatch
    from holter.trainers.prompts import Row
    from holter.trainers.rollout import Completions


class GRPOTrainer(OnPolicyTrainer):
    """Trains a language model on rewards, relative to other completions of the same prompt.

    >>> trainer = GRPOTrainer(model, reward_funcs=brevity, args=GRPOConfig("out"), train_dataset=prompts)  # doctest: +SKIP
    >>> trainer.train()  # doctest: +SKIP
    """

    algorithm = "grpo"
    config_type = GRPOConfig
    args: GRPOConfig

    @arguments_checked
    def __init__(
        self,
        model: str | PreTrainedModel,
        reward_funcs: Any,  # noqa: ANN401
        args: GRPOConfig | None = None,
        train_dataset: Any = None,  # noqa: ANN401
        eval_dataset: Any = None,  # noqa: ANN401
        processing_class: Any = None,  # noqa: ANN401
        reward_processing_classes: Any = None,  # noqa: ANN401
        callbacks: list[TrainerCallback] | None = None,
        optimizers: tuple[Any, Any] = (None, None),
        peft_config: Any = None,  # noqa: ANN401
        *,
        perplexity_dataset: Any = None,  # noqa: ANN401
        alignment_scorers: Mapping[str, Callable[..., Any]] | None = None,
        preference_dataset: Any = None,  # noqa: ANN401
    ) -> None:
        """Get everything ready; nothing is sampled or trained yet.

        Args:
            model: The policy, or its name or path.
            reward_funcs: What completions are paid for: functions, reward models, or names or paths of such; one or several.
            args: Settings.
            train_dataset: Rows with ``prompt`` (text or messages); other columns go to the reward functions.
            eval_dataset: Held-out prompts, or several such datasets by name.
            processing_class: The tokenizer; the model's own by default.
            reward_processing_classes: Tokenizers of the reward models; their own by default.
            callbacks: Callbacks of transformers.
            optimizers: Optimizer and scheduler; made from the settings by default.
            peft_config: Train an adapter of this kind; the reference is then the model without it.
            perplexity_dataset: Held-out texts, for ``eval/perplexity``.
            alignment_scorers: Functions like reward functions by name, for ``eval/alignment/<name>``.
            preference_dataset: Rows with ``prompt``, ``chosen`` and ``rejected``, for ``eval/preference_accuracy``.

        Raises:
            SettingsError: When something is missing or contradicts itself.
        """
        if args is None:
            name = (
                model
                if isinstance(model, str)
                else getattr(getattr(model, "config", None), "_name_or_path", "") or "model"
            )
            args = GRPOConfig(f"{name.rstrip('/').split('/')[-1]}-GRPO")
        super().__init__(
            model,
            reward_funcs,
            args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processing_class,
            reward_processing_classes=reward_processing_classes,
            callbacks=callbacks,
            optimizers=optimizers,
            peft_config=peft_config,
            perplexity_dataset=perplexity_dataset,
            alignment_scorers=alignment_scorers,
            preference_dataset=preference_dataset,
        )
        self.group_size = args.num_generations
        self.group_size_eval = args.num_generations_eval or args.num_generations
        self.generation_size = args.generation_batch_size or 0
        self.parts = args.steps_per_generation or 1
        self.passes = args.num_iterations
        self.clip_low, self.clip_high = (
            args.epsilon,
            args.epsilon_high if args.epsilon_high is not None else args.epsilon,
        )
        # With one optimizer step a generation the policy that is trained is the one that sampled: every ratio is 1.
        self.on_policy = args.gradient_accumulation_steps % (self.parts * self.passes) == 0
        self.liger = LigerLoss(self) if args.use_liger_loss else None
        if args.beta:
            self.keep_reference()

    # 1. Completions and what they are worth.

    def collect(self, rows: Sequence[Row]) -> Rollout:
        """Sample completions of these prompts, reward them, and cut them into micro-batches."""
        args = self.args
        prompts = self.tokens([row["prompt"] for row in rows])
        with self.clock("time/rollout"):
            completions = self.complete(prompts)
        with self.clock("time/reward"):
            texts = self.texts(rows, completions.tokens)
            scores = self.rewards(texts, args.device)
        rewards = self.rewards.total(scores)
        # A group may be spread over processes.
        everyones = self.accelerator.gather(rewards)
        mine = slice(self.accelerator.process_index * len(rows), (self.accelerator.process_index + 1) * len(rows))
        groups = group_statistics(everyones, self.group_size)
        advantages = group_relative(everyones, self.group_size, args.scale_rewards, groups)[mine]
        columns = {"advantages": advantages}
        if not self.on_policy:
            columns["old_logprobs"] = completions.logprobs
        columns["sampled_logprobs"] = completions.logprobs
        if args.beta:
            with self.clock("time/reference"):
                columns["ref_logprobs"] = self.reference_logprobs(prompts, completions.tokens)
        lengths = [len(tokens) for tokens in completions.tokens]
        kept = [ended or not args.mask_truncated_completions for ended in completions.ended]
        trained_tokens = torch.tensor(
            float(sum(n for n, k in zip(lengths, kept, strict=True) if k)), device=args.device
        )
        window = min(args.gradient_accumulation_steps, self.parts)
        self._measure_rollout(prompts, completions, scores, rewards, advantages, everyones, groups)
        self.record_samples(
            texts,
            completions,
            {
                **{f"rewards/{name}": scores[:, k] for k, name in enumerate(self.rewards.names)},
                "reward": rewards,
                "advantage": advantages,
                "group": [(mine.start + i) // self.group_size for i in range(len(rows))],
            },
        )
        return Rollout(
            prompts=prompts,
            completions=completions.tokens,
            trained=torch.tensor(kept, device=args.device),
            columns=columns,
            # The token mean of bnpo is that of a micro-batch: sorted by length, short completions would weigh more.
            parts=micro_batches(lengths, self.parts, window=window, by_length=args.loss_type != "bnpo"),
            tokens=self.accelerator.reduce(trained_tokens) * args.gradient_accumulation_steps / self.parts,
            step=self.state.global_step,
        )

    # 2. What is minimised.

    def loss(self, model: nn.Module, batch: MicroBatch) -> Tensor:
        """The clipped surrogate, with the KL term and the entropy bonus, averaged as ``loss_type`` says."""
        args, mask = self.args, batch.mask
        if self.liger is not None:
            return self.liger(model, batch)
        logprobs, entropy = score(
            model, batch.sequences, temperature=args.temperature, entropy_gradient=args.entropy_coef != 0
        )
        old_logprobs = logprobs.detach() if self.on_policy else batch["old_logprobs"]
        advantages = batch["advantages"].unsqueeze(-1)  # (B, 1)
        by_token = log_ratio(logprobs, old_logprobs, mask)  # (B, T)
        by_level = by_token if args.importance_sampling_level == "token" else sequence_log_ratio(by_token, mask)
        ratio = by_level.exp()
        bounded = ratio.clamp(1 - self.clip_low, 1 + self.clip_high)
        capped = ratio if args.delta is None else ratio.clamp(max=args.delta)
        token_loss = -torch.minimum(capped * advantages, bounded * advantages).expand_as(logprobs)
        kl = None
        if args.beta:
            kl = k3(logprobs, batch["ref_logprobs"])
            if args.use_bias_correction_kl:
                kl = kl * ratio
            token_loss = token_loss + args.beta * kl
        loss = self._averaged(token_loss, mask)
        self._measure_loss(batch, logprobs, old_logprobs, entropy, kl, ratio, capped)
        if args.entropy_coef:
            shares = self.current_gradient_accumulation_steps * self.accelerator.num_processes
            self.metrics.record("loss/policy_avg", loss.detach() / self.accelerator.num_processes, 1 / shares)
            self.metrics.record_last("entropy_coef", args.entropy_coef)
            loss = loss - args.entropy_coef * self._by_token(entropy, mask)
        return loss

    def _averaged(self, token_loss: Tensor, mask: Tensor) -> Tensor:
        """Losses of tokens as one number: this micro-batch's share of an optimizer step's loss."""
        shares = self.current_gradient_accumulation_steps
        if self.args.loss_type == "dapo":
            return self._by_token(token_loss, mask)
        total, count = tally(token_loss, mask, dim=-1)  # (B,)
        if self.args.loss_type == "grpo":
            return (total / count.clamp(min=1)).mean() / shares
        if self.args.loss_type == "bnpo":
            return total.sum() / count.sum().clamp(min=1) / shares
        return total.sum() / (len(total) * self.args.max_completion_length) / shares

    def _by_token(self, values: Tensor, mask: Tensor) -> Tensor:
        """Share of this micro-batch in the mean over all tokens of an optimizer step, on all processes."""
        # Gradients are averaged over processes, so each one's share is multiplied by their number.
        return tally(values, mask).total * self.accelerator.num_processes / self.step_tokens.clamp(min=1)

    @property
    def step_tokens(self) -> Tensor:
        """Trained tokens of this optimizer step, which may be a short one at the end of an epoch; an estimate, as TRL's is."""
        assert self.rollout is not None
        share = self.current_gradient_accumulation_steps / self.args.gradient_accumulation_steps
        return self.rollout.tokens * share

    # 3. What is measured.

    def _measure_rollout(
        self,
        prompts: Sequence[Sequence[int]],
        completions: Completions,
        scores: Tensor,
        rewards: Tensor,
        advantages: Tensor,
        everyones: Tensor,
        groups: GroupStatistics,
    ) -> None:
        args, record, turn = self.args, self.metrics, self.report.turn
        none_ended = 0.0 if args.trl_compatible_metrics else None
        measure_completions(record, prompts, completions, turn=turn, none_ended=none_ended)
        measure_rewards(record, self.rewards.names, scores, rewards, turn=turn)
        record.record_mean(turn("reward"), rewards, ~rewards.isnan())
        measure_advantages(record, advantages)
        if self.accelerator.is_main_process:
            zero = groups.zero
            if args.trl_compatible_metrics and args.scale_rewards == "batch":
                zero = group_statistics(everyones, everyones.numel()).zero
            record.record(turn("frac_reward_zero_std"), zero.sum(), zero.numel())
            record.record("reward_group_std", groups.std.nansum(), (~groups.std.isnan()).sum())

    def _measure_loss(
        self,
        batch: MicroBatch,
        logprobs: Tensor,
        old_logprobs: Tensor,
        entropy: Tensor,
        kl: Tensor | None,
        ratio: Tensor,
        capped: Tensor,
    ) -> None:
        record, turn, mask = self.metrics, self.report.turn, batch.mask
        logprobs, entropy, ratio, capped = (t.detach() for t in (logprobs, entropy, ratio, capped))
        record.record_mean(turn("entropy"), entropy, mask)
        if kl is not None:
            record.record_mean(turn("kl"), kl, mask)
            record.record_last("objective/kl_coef", self.args.beta)
        advantages = batch["advantages"].unsqueeze(-1)
        # A ratio of a sequence counts once, whatever its length.
        within = mask if capped.shape == mask.shape else mask.any(-1, keepdim=True)
        cut = clipped(capped, advantages, self.clip_low, self.clip_high)
        record.record_mean(turn("clip_ratio/low_mean"), cut.low, within)
        record.record_mean(turn("clip_ratio/high_mean"), cut.high, within)
        record.record_mean(turn("clip_ratio/region_mean"), cut.region, within)
        low, high = clipped_per_sequence(torch.stack((cut.low, cut.high)), within)
        counted = ~low.isnan()
        record.record_min(turn("clip_ratio/low_min"), low, counted)
        record.record_max(turn("clip_ratio/high_max"), high, counted)
        record.record_mean("val/ratio", ratio, within)
        record.record_variance("val/ratio_var", ratio, within)
        record.record_min("val/ratio_min", ratio, within)
        record.record_max("val/ratio_max", ratio, within)
        for key, estimate in (("policy/approxkl_avg", k2), ("policy/kl_k1_avg", k1), ("policy/kl_k3_avg", k3)):
            record.record_mean(key, estimate(old_logprobs, logprobs), mask)
        if batch.first:
            measure_sampler_gap(record, logprobs, batch["sampled_logprobs"], mask)
