"""Proximal Policy Optimization on language models, from top to bottom.

An *update* is one step of `transformers.Trainer`:

1. `collect`: sample a completion of each prompt, score it, charge each of its tokens for drift from the reference policy, and
   take as advantage how much better than the value function expected things went from each token on.
2. `update`: go over the completions ``num_ppo_epochs`` times in ``num_mini_batches`` optimizer steps each. The last of these
   steps is left to Trainer, so that checkpoints, schedules and callbacks fall between updates and a resumed run needs no
   rollout.
3. `loss`: make tokens with an advantage likelier, by the ratio to the policy that sampled them, clipped; and lead the values
   towards the returns.

What is measured on the way is in `ppo_measures`; every number is recorded as sums and counts over tokens, so that it is the same
however the batch is cut into micro-batches and processes.

References:
    Schulman et al., "Proximal Policy Optimization Algorithms" (2017). Ziegler et al., "Fine-Tuning Language Models from Human
    Preferences" (2019). Huang et al., "The N+ Implementation Details of RLHF with PPO" (2024).
"""

from __future__ import annotations

import dataclasses
import time
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import DistributedType

from holter.errors import SettingsError
from holter.signals import divergence, tally, whiten
from holter.trainers.buffer import Rollout, micro_batches
from holter.trainers.gae import generalized_advantages, moments
from holter.trainers.kl_control import KLCoefficient
from holter.trainers.measures import measure_sampler_gap
from holter.trainers.models import load_reward_model
from holter.trainers.names import arguments_checked
from holter.trainers.ppo_config import PPOConfig
from holter.trainers.ppo_measures import Judged, PPOMeasures, Seen
from holter.trainers.printing import print_completions
from holter.trainers.prompts import GenerationBatches
from holter.trainers.rollout import evaluating
from holter.trainers.scoring import in_turn, score, sequences
from holter.trainers.sharded import whole
from holter.trainers.token_prompts import TokenizedPromptTokenizer, with_prompts
from holter.trainers.value_model import TokenReward, score_and_value, value
from holter.trainers.value_trainer import ValueTrainer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from torch import Tensor, nn
    from transformers import PreTrainedModel, TrainerCallback

    from holter.trainers.buffer import MicroBatch
    from holter.trainers.prompts import Row
    from holter.trainers.rollout import Completions

INNER_STEPS = "time/inner_optimizer"
"""Optimizer steps that are not left to Trainer, and are part of its training step."""
NEVER = -1
"""A token that is never sampled: what ends completions that are not to end."""


class UpdateBatches(GenerationBatches):
    """Prompts of one update, given out in the last of the micro-steps that it counts for; the others get none."""

    def __iter__(self) -> Iterator[list[int]]:
        for number, rows in enumerate(super().__iter__(), start=1):
            yield rows if number % self.repeats == 0 else []


class PPOTrainer(ValueTrainer):
    """Trains a language model on rewards, with a value function that says what to expect.

    >>> trainer = PPOTrainer(PPOConfig("out"), model=policy, reward_model=rm, train_dataset=prompts)  # doctest: +SKIP
    >>> trainer.train()  # doctest: +SKIP
    """

    algorithm = "ppo"
    config_type = PPOConfig
    args: PPOConfig
    prompt_batches = UpdateBatches
    group_size = group_size_eval = passes = 1

    @arguments_checked
    def __init__(
        self,
        args: PPOConfig | None = None,
        processing_class: Any = None,  # noqa: ANN401
        model: str | PreTrainedModel | None = None,
        ref_model: str | PreTrainedModel | None = None,
        reward_model: str | PreTrainedModel | None = None,
        train_dataset: Any = None,  # noqa: ANN401
        value_model: str | PreTrainedModel | None = None,
        data_collator: Any = None,  # noqa: ANN401
        eval_dataset: Any = None,  # noqa: ANN401
        optimizers: tuple[Any, Any] = (None, None),
        callbacks: list[TrainerCallback] | None = None,
        peft_config: Any = None,  # noqa: ANN401
        *,
        reward_funcs: Any = None,  # noqa: ANN401
        reward_processing_classes: Any = None,  # noqa: ANN401
        perplexity_dataset: Any = None,  # noqa: ANN401
        alignment_scorers: Mapping[str, Callable[..., Any]] | None = None,
        preference_dataset: Any = None,  # noqa: ANN401
    ) -> None:
        """Get everything ready; nothing is sampled or trained yet.

        Args:
            args: Settings.
            processing_class: The tokenizer; the model's own by default.
            model: The policy, or its name or path.
            ref_model: The reference policy; the policy as it is now by default, or without its adapter.
            reward_model: What completions are paid for: a sequence classification model that reads the policy's tokens.
            train_dataset: Rows with ``prompt`` (text or messages) or ``input_ids``; other columns go to the reward functions.
            value_model: A sequence classification model; by default one made from the policy, with a head of zeros.
            data_collator: Accepted from TRL's snippets where it only pads: prompts are laid out here.
            eval_dataset: Held-out prompts, or several such datasets by name.
            optimizers: Optimizer and scheduler; made from the settings by default.
            callbacks: Callbacks of transformers.
            peft_config: Train an adapter of this kind; the reference is then the model without it.
            reward_funcs: More that completions are paid for: functions, or reward models that read text. In
                ``reward_weights`` they follow the reward model.
            reward_processing_classes: Tokenizers of the reward models in `reward_funcs`; their own by default.
            perplexity_dataset: Held-out texts, for ``eval/perplexity``.
            alignment_scorers: Functions like reward functions by name, for ``eval/alignment/<name>``.
            preference_dataset: Rows with ``prompt``, ``chosen`` and ``rejected``, for ``eval/preference_accuracy``.

        Raises:
            SettingsError: When something is missing or contradicts itself.
        """
        args = args if args is not None else PPOConfig("PPO")
        model = model if model is not None else args.sft_model_path
        if ref_model is not None and ref_model is model:
            raise SettingsError("ref_model is the policy itself, which moves: leave it out, and a frozen copy is made")
        if data_collator is not None and "Padding" not in type(data_collator).__name__:
            raise SettingsError("data_collator: prompts are laid out by the trainer; change the dataset's rows instead")
        reward_model = reward_model if reward_model is not None or reward_funcs is not None else args.reward_model_path
        functions = list(reward_funcs) if isinstance(reward_funcs, list | tuple) else [reward_funcs]
        functions = [f for f in functions if f is not None]
        tokenizers = reward_processing_classes
        if reward_model is not None:
            size = args.local_rollout_forward_batch_size
            loaded = load_reward_model(reward_model, args)
            functions = [TokenReward(loaded, lambda prompts: self.tokens(prompts), size), *functions]
            tokenizers = [None, *tokenizers] if isinstance(tokenizers, list | tuple) else tokenizers
        if not functions:
            raise SettingsError("reward_model, reward_funcs: there must be something to be paid for")
        self.args, self.given_value_model = args, value_model
        super().__init__(
            model,
            functions,
            args,
            train_dataset=train_dataset,
            eval_dataset=eval_dataset,
            processing_class=processing_class,
            reward_processing_classes=tokenizers,
            callbacks=callbacks,
            optimizers=optimizers,
            peft_config=peft_config,
            perplexity_dataset=perplexity_dataset,
            alignment_scorers=alignment_scorers,
            preference_dataset=preference_dataset,
        )
        self.generation_size, self.parts = args.batch_size, args.gradient_accumulation_steps
        tokenizer = self.tokens.tokenizer
        self.tokens = TokenizedPromptTokenizer(tokenizer, self.tokens.max_length, self.tokens.template)
        self.train_dataset: Any = with_prompts(train_dataset, tokenizer)
        self.evaluation.prompts = with_prompts(self.evaluation.prompts, tokenizer)
        for function in self.rewards.functions:
            if isinstance(function, TokenReward):
                function.check(len(tokenizer))
                function.model = whole(self.accelerator, function.model)
        self.ends = self.sampling.ends if args.stop_token_id is None else (args.stop_token_id,)
        never_stops = args.stop_token == "none"
        self.sampling = dataclasses.replace(self.sampling, ends=(NEVER,) if never_stops else self.ends)
        self.take_reference(ref_model)
        self.kl = KLCoefficient(args.kl_coef, target=args.kl_target, horizon=args.kl_horizon)
        self.measures = PPOMeasures(args, self.report, self.rewards)
        self.episode, self._began, self._update_kl, self._ended_early = 0, time.perf_counter(), torch.zeros(2), False

    # 1. Completions, what they are worth, and what was expected of them.

    def collect(self, rows: Sequence[Row]) -> Rollout:
        """Sample completions of these prompts, score them, and find the advantage of each of their tokens."""
        args = self.args
        prompts = self.tokens([row["prompt"] for row in rows])
        with self.clock("time/rollout"):
            completions = self.complete(prompts)
        with self.clock("time/reward"):
            texts = self.texts(rows, completions.tokens)
            by_function = self.rewards(texts, args.device)
        scores = self.rewards.total(by_function)
        if args.missing_eos_penalty:
            unended = torch.tensor([not ended for ended in completions.ended], device=args.device)
            scores = scores - args.missing_eos_penalty * unended
        logprobs = completions.logprobs
        ref_logprobs, values = self._ref_logprobs_and_values(prompts, completions.tokens)
        lengths = torch.tensor([len(tokens) for tokens in completions.tokens], device=args.device)
        mask = torch.arange(logprobs.shape[1], device=args.device) < lengths.unsqueeze(-1)  # (B, T)
        kl = divergence.kl(logprobs, ref_logprobs, args.kl_estimator).where(mask, 0.0)
        # A completion without a score is not trained on: it has no advantage, not one of zero.
        trained = scores.isfinite()
        used = mask & trained.unsqueeze(-1)
        rewards = -self.kl.value * kl
        rewards = rewards.scatter_add(1, (lengths - 1).unsqueeze(-1), scores.where(trained, 0.0).unsqueeze(-1))
        if args.whiten_rewards:
            found = moments(rewards, used, self._summed)
            rewards = whiten(rewards, used, shift_mean=False, mean=found.mean, var=found.var)
        advantages, returns = generalized_advantages(rewards, values, mask, gamma=args.gamma, lam=args.lam)
        if args.whiten_advantages:
            found = moments(advantages, used, self._summed)
            advantages = whiten(advantages, used, mean=found.mean, var=found.var)
        judged = Judged(mask, trained, logprobs, kl, self.kl.value, by_function, scores, values, returns, advantages)
        self.measures.completions(prompts, completions, self.ends)
        self.measures.rollout(judged)
        self.record_samples(
            texts,
            completions,
            {
                **{f"rewards/{name}": by_function[:, k] for k, name in enumerate(self.rewards.names)},
                "score": scores,
                "kl": judged.kl_per_sequence,
                "reward": judged.rewards,
                "advantage": tally(advantages, mask, dim=-1).mean,
            },
        )
        total, count = self._summed(torch.stack(list(tally(judged.kl_per_sequence)))).unbind()
        self.kl.update(total / count, args.batch_size)
        return Rollout(
            prompts=prompts,
            completions=completions.tokens,
            trained=trained,
            columns={"logprobs": logprobs, "values": values, "returns": returns, "advantages": advantages},
            parts=[],
            tokens=lengths.sum(),
            step=0,
        )

    def complete(self, prompts: Sequence[list[int]]) -> Completions:
        """Sample a completion of each prompt; one that nothing stops has ended if it has an end token anywhere."""
        completions = super().complete(prompts)
        if self.sampling.ends != (NEVER,):
            return completions
        return dataclasses.replace(completions, ended=[any(t in self.ends for t in c) for c in completions.tokens])

    @torch.no_grad()
    def _ref_logprobs_and_values(
        self, prompts: Sequence[list[int]], completions: Sequence[list[int]]
    ) -> tuple[Tensor, Tensor]:
        """Log-probabilities under the reference and values, both ``(B, T)``; like lengths go together."""
        device, size = self.args.device, self.args.local_rollout_forward_batch_size
        ref_logprobs, values = (
            torch.zeros((len(completions), max(map(len, completions))), device=device) for _ in "rv"
        )
        layout = self.layout(prompts, completions)
        lengths = [len(p) + len(c) for p, c in zip(prompts, completions, strict=True)]
        passes = self.passes_over(lengths, size, layout)
        model = self.model_wrapped if self.sampling.synchronised else self.both
        batches = [
            sequences(
                [prompts[i] for i in rows],
                [completions[i] for i in rows],
                device,
                pad=self.sampling.pad,
                padding=layout,
            )
            for rows in passes
        ]
        places = [torch.tensor(rows).to(device, non_blocking=True) for rows in passes]
        with evaluating(model), self.accelerator.autocast():
            with self.clock("time/reference"), self.as_reference(model) as reference:
                for at, batch in zip(places, batches, strict=True):
                    found = score(reference, batch, temperature=self.args.temperature).logprobs
                    ref_logprobs[at, : found.shape[1]] = found.float()
            with self.clock("time/value"):
                for at, batch in zip(places, batches, strict=True):
                    found = value(model, batch)
                    values[at, : found.shape[1]] = found.float()
        return ref_logprobs, values

    # 2. One update.

    def training_step(self, model: nn.Module, inputs: list[Row], num_items_in_batch: Any = None) -> Tensor:  # noqa: ANN401, ARG002
        """Nothing, in all micro-steps of an update but the last; there the whole update, except its last optimizer step."""
        self.micro_steps += 1
        if not self.accelerator.sync_gradients:
            return torch.zeros((), device=self.args.device)
        with self.clock("step_time"):
            model.train()
            if callable(getattr(self.optimizer, "train", None)):
                self.optimizer.train()
            self._extra: dict[str, list[object]] = {}
            self.rollout = self.collect(inputs)
            self.record_rates()
            loss = self.update(model)
            self.episode += self.args.batch_size
            self.rollout = None
        return loss

    def update(self, model: nn.Module) -> Tensor:
        """Go over the completions; the gradient of the last mini-batch is there when this returns. Scalar, mean loss.

        With ``target_kl`` it ends at the mini-batch that finds the policy further away than that; its gradient is thrown away.
        """
        losses: list[Tensor] = []
        self._ended_early = False
        for numbers in self._mini_batches():
            if losses:
                self._optimizer_step(model)
            losses.append(self._descend(model, numbers, moved=bool(losses)))
            if len(losses) > 1 and self._is_too_far():
                # Trainer's step finds no gradient, and moves nothing. Deepspeed has made its step with the backward pass.
                self.accelerator.unscale_gradients()
                model.zero_grad()
                self._ended_early = True
                break
        self.measures.updated()
        planned = self.args.num_ppo_epochs * self.args.num_mini_batches
        self.metrics.record("policy/update_fraction", (len(losses) - self._ended_early) / planned, 1)
        return torch.stack(losses).mean()

    def _is_too_far(self) -> bool:
        """Whether the last mini-batch found the policy further than ``target_kl`` from the one that sampled."""
        if self.args.target_kl is None:
            return False
        total, count = self._summed(self._update_kl).tolist()
        return bool(count) and not total / count <= self.args.target_kl

    def _mini_batches(self) -> Iterator[range]:
        """Every mini-batch of every epoch, as the numbers of its passes; drawn anew each epoch."""
        args, rollout = self.args, self.rollout
        assert rollout is not None
        lengths = [len(tokens) for tokens in rollout.completions]
        counts = torch.tensor(lengths, device=args.device) * rollout.trained
        for _ in range(args.num_ppo_epochs):
            chosen = micro_batches(lengths, args.num_mini_batches, window=1, by_length=True)
            places = torch.tensor(chosen).to(args.device, non_blocking=True)  # (num_mini_batches, B / num_mini_batches)
            tokens = self._summed(counts[places].sum(-1).float())
            for number, rows in enumerate(chosen):
                rollout.parts, rollout.tokens = self._passes(rows), tokens[number]
                yield range(len(rollout.parts))

    def _passes(self, rows: list[int]) -> list[list[int]]:
        """Completions of a mini-batch, given in the order of their lengths, in passes."""
        args, rollout = self.args, self.rollout
        assert rollout is not None
        size = args.local_micro_batch_size
        if args.device.type == "cpu" and not args.trl_compatible_metrics:
            # Nothing is gained by large passes there, and padding costs as much as tokens do.
            lengths = [len(rollout.prompts[i]) + len(rollout.completions[i]) for i in rows]
            passes = self.passes_over(lengths, size, self.layout(rollout.prompts, rollout.completions))
        else:
            passes = in_turn(len(rows), size)
        return [[rows[i] for i in part] for part in passes]

    def _descend(self, model: nn.Module, numbers: range, *, moved: bool) -> Tensor:
        """Add up the gradient of a mini-batch. Scalar, its loss."""
        assert self.rollout is not None
        self._update_kl = torch.zeros(2, device=self.args.device)
        deepspeed = self.accelerator.distributed_type == DistributedType.DEEPSPEED
        layout = self.layout(self.rollout.prompts, self.rollout.completions)
        losses = []
        for number in numbers:
            last = number == numbers[-1]
            self.accelerator.gradient_state._set_sync_gradients(last)
            batch = self.rollout.part(number, pad=self.sampling.pad, step=int(moved), padding=layout)
            with nullcontext() if last or deepspeed else self.accelerator.no_sync(model):
                with self.clock("time/forward"), self.compute_loss_context_manager():
                    loss = self.loss(model, batch)
                with self.clock("time/backward"):
                    self.accelerator.backward(loss, **({"scale_wrt_gas": False} if deepspeed else {}))
            losses.append(loss.detach())
        total = torch.stack(losses).sum()
        self.metrics.record("loss", total / self.accelerator.num_processes, 0)
        return total

    def _optimizer_step(self, model: nn.Module) -> None:
        """What Trainer does with a gradient."""
        with self.clock(INNER_STEPS):
            norm = self._clip_grad_norm(model) if self.args.max_grad_norm > 0 else None
            self._get_grad_norm(model, norm)
            self.optimizer.step()
            model.zero_grad()

    def _clip_grad_norm(self, model: nn.Module) -> Any:  # noqa: ANN401
        """Nothing, where the gradient was thrown away."""
        return None if self._ended_early else super()._clip_grad_norm(model)

    def _get_grad_norm(self, model: nn.Module, grad_norm: Any = None) -> None:  # noqa: ANN401
        """No norm, where the gradient was thrown away; the loss that it was of counts all the same."""
        if not self._ended_early:
            super()._get_grad_norm(model, grad_norm)
        else:
            self.metrics.record("loss", 0.0, 1 / self.accelerator.num_processes)

    # 3. What is minimised.

    def loss(self, model: nn.Module, batch: MicroBatch) -> Tensor:
        """The clipped surrogate and the clipped value loss: this micro-batch's share of a mini-batch's mean over tokens."""
        args, mask = self.args, batch.mask
        (logprobs, entropy), values = score_and_value(model, batch.sequences, temperature=args.temperature)
        advantages, returns, old_values = batch["advantages"], batch["returns"], batch["values"]
        ratio = (logprobs - batch["logprobs"]).where(mask, 0.0).exp()
        bounded = ratio.clamp(1 - args.cliprange, 1 + args.cliprange)
        policy_losses = -torch.minimum(ratio * advantages, bounded * advantages)
        near = values.clamp(old_values - args.cliprange_value, old_values + args.cliprange_value)
        value_losses = 0.5 * torch.maximum((values - returns).square(), (near - returns).square())
        loss = self._by_token(policy_losses, mask) + args.vf_coef * self._by_token(value_losses, mask)
        seen = Seen(
            mask=mask,
            logprobs=logprobs.detach(),
            old_logprobs=batch["logprobs"],
            entropy=entropy.detach(),
            advantages=advantages,
            values=values.detach(),
            old_values=old_values,
            returns=returns,
            policy_losses=policy_losses.detach(),
            value_losses=value_losses.detach(),
        )
        moved = self.measures.update(seen)
        if args.target_kl is not None:
            self._update_kl += torch.stack(list(tally(moved, mask)))
        if batch.first:
            measure_sampler_gap(self.metrics, seen.logprobs, seen.old_logprobs, mask)
        return loss

    def _by_token(self, values: Tensor, mask: Tensor) -> Tensor:
        """Share of this micro-batch in the mean over all tokens of a mini-batch, on all processes."""
        assert self.rollout is not None
        # Gradients are averaged over processes, so each one's share is multiplied by their number.
        return tally(values, mask).total * self.accelerator.num_processes / self.rollout.tokens.clamp(min=1)

    # 4. What is told about it.

    def _summed(self, tensor: Tensor) -> Tensor:
        found: Tensor = self.accelerator.reduce(tensor, reduction="sum")
        return found

    def _row(self, steps: int, learning_rate: float | None) -> dict[str, float]:
        row = super()._row(steps, learning_rate)
        # An update's learning rates are recorded when it begins; here the schedule has moved on.
        row = {key: number for key, number in row.items() if key.split("/")[0] != "learning_rate"}
        inner = row.pop(INNER_STEPS, 0.0)
        for phase in ("time/optimizer", "time/train"):
            row[phase] = row.get(phase, 0.0) + inner
        wall = row.get("step_time", 0.0) + row["time/optimizer"] - inner
        row["episode"] = self.episode
        if self.args.trl_compatible_metrics:
            row["eps"] = int(self.episode / (time.perf_counter() - self._began))
        elif wall:
            row["eps"] = self.args.batch_size / wall
        return row

    @property
    def shows_completions(self) -> bool:
        """At every logged step, or ``num_sample_generations`` times in a run."""
        wanted = self.args.num_sample_generations
        every = max(1, self.state.max_steps // wanted) if wanted else 0
        return super().shows_completions or bool(every and (self.state.global_step - 1) % every == 0)

    def generate_completions(self, sampling: bool = False) -> None:  # noqa: FBT001
        """Print completions of held-out prompts with their rewards, as TRL's example does at its end; of five if `sampling`."""
        rows = self.evaluation.samples(5 if sampling else self.args.per_device_eval_batch_size)
        if rows and self.accelerator.is_main_process:
            print_completions(rows, self.state.global_step)

    # What a resumed run goes on from, besides what every trainer saves.

    def kept(self) -> dict[str, float]:
        """The KL coefficient and the count of episodes."""
        return {"kl_coef": self.kl.state(), "episode": self.episode}

    def go_on(self, kept: dict[str, float]) -> None:
        """Go on from what a checkpoint kept."""
        self.kl.restore(kept["kl_coef"])
        self.episode = int(kept["episode"])
