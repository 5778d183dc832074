"""What an on-policy trainer needs of `transformers.Trainer`: prompts in, one row a step out, and a checkpoint that has it all.

A subclass says how completions become micro-batches (`collect`) and what is minimised and measured (`loss`).
"""

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import DistributedType, set_seed
from torch.utils.data import DataLoader
from transformers import Trainer
from transformers.trainer_callback import ProgressCallback

from holter.errors import SettingsError
from holter.language import listed, said
from holter.monitor.ending import Ending
from holter.trainers import checkpoint
from holter.trainers.clock import Clock
from holter.trainers.evaluation import Evaluation
from holter.trainers.lifecycle import Lifecycle
from holter.trainers.models import (
    as_reference,
    copy_adapter,
    end_tokens,
    frozen_copy,
    is_adapted,
    load_policy,
    load_tokenizer,
    without_dropout,
)
from holter.trainers.printing import Progress, print_completions
from holter.trainers.prompts import GenerationBatches, PromptLoader, PromptStream, PromptTokenizer
from holter.trainers.reporting import Report
from holter.trainers.rewards import Rewards, Texts
from holter.trainers.rollout import Completions, Sampling, sample
from holter.trainers.scoring import by_length, in_turn, own_logits, packs, score, sequences
from holter.trainers.sharded import HALF, check_checkpoints, gathers, like, saving_whole, summed, whole

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from torch import Tensor, nn
    from transformers import PreTrainedModel, TrainerCallback

    from holter.trainers.buffer import MicroBatch, Rollout
    from holter.trainers.config import OnPolicyConfig
    from holter.trainers.prompts import Row
    from holter.trainers.scoring import Layout, Outputs


class OnPolicyTrainer(Trainer):
    """Base of trainers that sample their own data."""

    algorithm = ""
    config_type: type[OnPolicyConfig]
    args: OnPolicyConfig
    control: Any
    state: Any
    _globalstep_last_logged: int

    def __init__(
        self,
        model: str | PreTrainedModel,
        reward_funcs: Any,  # noqa: ANN401
        args: OnPolicyConfig,
        train_dataset: Any = None,  # noqa: ANN401
        eval_dataset: Any = None,  # noqa: ANN401
        processing_class: Any = None,  # noqa: ANN401
        reward_processing_classes: Any = None,  # noqa: ANN401
        callbacks: list[TrainerCallback] | None = None,
        optimizers: tuple[Any, Any] = (None, None),
        peft_config: Any = None,  # noqa: ANN401
        perplexity_dataset: Any = None,  # noqa: ANN401
        alignment_scorers: Mapping[str, Callable[..., Any]] | None = None,
        preference_dataset: Any = None,  # noqa: ANN401
    ) -> None:
        """See the subclass."""
        if model is None:
            raise SettingsError("model: there must be a policy to train")
        if train_dataset is None:
            raise SettingsError("train_dataset: there must be prompts to train on")
        set_seed(args.seed)
        policy = load_policy(model, args, peft_config)
        self.adapter_is_new = peft_config is not None
        tokenizer = load_tokenizer(policy, processing_class, args)
        template = args.chat_template_kwargs or {}
        self.tokens = PromptTokenizer(
            tokenizer, args.max_prompt_length, json.loads(template) if isinstance(template, str) else template
        )
        self.rewards = Rewards(
            reward_funcs, args, self.tokens, reward_processing_classes, args.per_device_train_batch_size
        )
        if alignment_scorers and eval_dataset is None:
            raise SettingsError("alignment_scorers judge completions of held-out prompts: pass them as eval_dataset")
        # What transformers would report to itself is reported by sinks here.
        trackers, args.report_to = args.report_to, []
        try:
            super().__init__(
                model=self.trainable(policy),
                args=args,
                data_collator=list,
                train_dataset=train_dataset,
                eval_dataset=_first([eval_dataset, perplexity_dataset, preference_dataset]),
                processing_class=tokenizer,
                callbacks=[*(callbacks or []), Lifecycle(self)],
                optimizers=optimizers,
            )
        finally:
            args.report_to = trackers
        check_checkpoints(self.accelerator, saved=str(getattr(args.save_strategy, "value", args.save_strategy)) != "no")
        if self.pop_callback(ProgressCallback) is not None:
            self.add_callback(Progress)
        self.rewards.to(lambda model: whole(self.accelerator, model))
        self.reference: nn.Module | None = None
        self.clock = Clock(args.device)
        self.report = Report(args, self.algorithm)
        self.metrics = self.report.metrics
        self.ending = Ending(self.report.note)
        self.sampling = Sampling(
            max_tokens=args.max_completion_length,
            ends=tuple(end_tokens(policy, tokenizer)),
            pad=tokenizer.pad_token_id,
            temperature=args.temperature,
            top_p=args.top_p,
            top_k=args.top_k or 0,
            min_p=args.min_p or 0.0,
            repetition_penalty=args.repetition_penalty,
            synchronised=gathers(self.accelerator),
        )
        self.evaluation = Evaluation(
            self,
            prompts=eval_dataset,
            texts=perplexity_dataset,
            scorers=alignment_scorers or {},
            preferences=preference_dataset,
        )
        self.rollout: Rollout | None = None
        self._extra: dict[str, list[object]] = {}
        self.micro_steps = 0
        self._packs: bool | None = None
        self._resumed: checkpoint.Resumed | None = None
        # Processes that sample the same prompts must not sample the same completions.
        set_seed(args.seed, device_specific=True)

    # What a subclass says.

    prompt_batches: type[GenerationBatches] = GenerationBatches
    """How prompts come in batches."""
    group_size: int
    """Completions of each prompt."""
    generation_size: int
    """Completions of one generation, over all processes."""
    parts: int
    """Micro-batches of one generation on each process."""
    passes: int
    """How often a generation is gone through."""

    @property
    def mid_generation(self) -> bool:
        """Whether micro-batches of the last generation are still to come."""
        return self.micro_steps % (self.parts * self.passes) != 0

    @property
    def logged_at(self) -> int:
        """Step of the last row."""
        return self._globalstep_last_logged

    @property
    def policy(self) -> Any:  # noqa: ANN401
        """The policy itself, not wrapped in anything."""
        return self.model

    def trainable(self, policy: PreTrainedModel) -> nn.Module:
        """What is optimised: the policy, and whatever is trained along with it. Called before the policy is placed."""
        return policy

    def collect(self, rows: Sequence[Row]) -> Rollout:
        """Sample completions of these prompts, score them, and say what is to be learned from them."""
        raise NotImplementedError

    def loss(self, model: nn.Module, batch: MicroBatch) -> Tensor:
        """The loss of a micro-batch, scaled for gradient accumulation; measures what it sees on the way."""
        raise NotImplementedError

    # Prompts.

    def get_train_dataloader(self) -> DataLoader[Any]:
        """Prompts of whole generations; see `GenerationBatches`."""
        sizes: dict[str, Any] = {
            "group": self.group_size,
            "batch": self.generation_size,
            "repeats": self.parts * self.passes,
            "rank": self.accelerator.process_index,
            "ranks": self.accelerator.num_processes,
        }
        if not hasattr(self.train_dataset, "__len__"):
            stream = PromptStream(self.train_dataset, **sizes)
            return DataLoader(stream, batch_size=None, collate_fn=self._rows)
        order = self.prompt_batches(
            len(self.train_dataset), shuffle=self.args.shuffle_dataset, seed=self.args.seed, **sizes
        )
        return PromptLoader(
            self.train_dataset,
            batch_sampler=order,
            collate_fn=self._rows,
            num_workers=self.args.dataloader_num_workers,
        )

    def _rows(self, rows: list[Row]) -> list[Row]:
        if rows and "prompt" not in rows[0]:
            raise SettingsError(said("the dataset has no column 'prompt', only {names}", names=listed(rows[0])))
        return [{"prompt": row["prompt"]} for row in rows] if self.args.remove_unused_columns else list(rows)

    # Completions.

    def complete(self, prompts: Sequence[list[int]]) -> Completions:
        """Sample a completion of each prompt from the policy."""
        model = self.model_wrapped if self.sampling.synchronised else self.policy
        size = self.args.decode_batch_size or len(prompts)
        with self.accelerator.autocast():
            parts = [
                sample(model, prompts[i : i + size], self.sampling, self.args.device)
                for i in range(0, len(prompts), size)
            ]
        width = max(p.logprobs.shape[1] for p in parts)
        padded = [torch.nn.functional.pad(p.logprobs, (0, width - p.logprobs.shape[1])) for p in parts]
        return Completions([t for p in parts for t in p.tokens], [e for p in parts for e in p.ended], torch.cat(padded))

    def texts(self, rows: Sequence[Row], completions: Sequence[list[int]]) -> Texts:
        """Completions as reward functions see them."""
        prompts = [row["prompt"] for row in rows]
        plain = self.tokens.tokenizer.batch_decode(list(completions), skip_special_tokens=True)
        names = [n for n in rows[0] if n not in ("prompt", "completion", "completion_ids")]
        columns: dict[str, Any] = {name: [row[name] for row in rows] for name in names}
        columns |= {"trainer_state": self.state, "log_metric": self._log_metric, "log_extra": self._log_extra}
        return Texts(prompts, self.tokens.completions(prompts, plain), list(completions), columns)

    def readers(self) -> list[tuple[nn.Module, Outputs]]:
        """Models that read sequences of one layout, and how each is asked what it makes of completion tokens."""
        return [(self.model_wrapped, own_logits)]

    def layout(self, prompts: Sequence[list[int]], completions: Sequence[list[int]]) -> Layout:
        """Packed where all readers keep packed sequences apart, which they are asked once, on these; else padded on the right."""
        if self._packs is None:
            mixed = HALF.get(self.accelerator.mixed_precision)
            self._packs = all(
                packs(model, prompts, completions, self.args.device, mixed, outputs=outputs)
                for model, outputs in self.readers()
            )
        return "packed" if self._packs else "right"

    def passes_over(self, lengths: Sequence[int], size: int, layout: Layout) -> list[list[int]]:
        """Which sequences go through the model together, at most `size` of them: like lengths, where that is free to choose.

        Where a pass gathers parameters from all processes each has to make as many, so there they go in turn.
        """
        free = layout != "packed" and not self.sampling.synchronised
        return by_length(lengths, size) if free else in_turn(len(lengths), size)

    def reference_logprobs(self, prompts: Sequence[list[int]], completions: Sequence[list[int]]) -> Tensor:
        """Log-probabilities of completions under the reference policy. Shape ``(B, T)``, nats, 0 in padding."""
        layout, size = self.layout(prompts, completions), self.args.per_device_train_batch_size
        lengths = [len(p) + len(c) for p, c in zip(prompts, completions, strict=True)]
        out = torch.zeros((len(completions), max(map(len, completions))), device=self.args.device)
        model = self.reference if self.reference is not None else self.model_wrapped
        with torch.no_grad(), as_reference(self.policy) if self.reference is None else nullcontext():
            for rows in self.passes_over(lengths, size, layout):
                batch = sequences(
                    [prompts[i] for i in rows],
                    [completions[i] for i in rows],
                    self.args.device,
                    pad=self.sampling.pad,
                    padding=layout,
                )
                found = score(model, batch, temperature=self.args.temperature).logprobs
                out[torch.tensor(rows).to(out.device), : found.shape[1]] = found.float()
        return out

    def keep_reference(self) -> None:
        """Keep the policy as it is now for reference.

        Of an adapted one only the adapter is copied; one that was made here does nothing yet, and the model without it will do.
        """
        if is_adapted(self.policy):
            if not self.adapter_is_new:
                copy_adapter(self.policy)
            return
        reference = frozen_copy(self.policy)
        if self.args.disable_dropout:
            without_dropout(reference)
        self.reference = like(self.model, self.accelerator, reference)

    def _log_metric(self, name: str, value: float) -> None:
        self.metrics.record(name, float(value), 1)

    def _log_extra(self, column: str, values: Sequence[object]) -> None:
        self._extra.setdefault(column, []).extend(values)

    # One step.

    def training_step(self, model: nn.Module, inputs: list[Row], num_items_in_batch: Any = None) -> Tensor:  # noqa: ANN401, ARG002
        """Sample when the last generation is used up; then one forward and backward pass."""
        with self.clock("step_time"):
            model.train()
            if callable(getattr(self.optimizer, "train", None)):
                self.optimizer.train()
            if self.rollout is None or not self.mid_generation:
                self._extra = {}
                self.rollout = self.collect(inputs)
            batch = self.rollout.part(
                self.micro_steps % self.parts,
                pad=self.sampling.pad,
                step=self.state.global_step,
                padding=self.layout(self.rollout.prompts, self.rollout.completions),
            )
            with self.clock("time/forward"), self.compute_loss_context_manager():
                loss = self.loss(model, batch)
            with self.clock("time/backward"):
                deepspeed = self.accelerator.distributed_type == DistributedType.DEEPSPEED
                self.accelerator.backward(loss, **({"scale_wrt_gas": False} if deepspeed else {}))
        self.micro_steps += 1
        detached = loss.detach()
        self.metrics.record("loss", detached / self.accelerator.num_processes, 0)
        return detached

    def _get_grad_norm(self, model: nn.Module, grad_norm: Any = None) -> None:  # noqa: ANN401
        """Record the norm instead of handing it back, for which transformers would wait for the device."""
        norm = super()._get_grad_norm(model, grad_norm=grad_norm)
        if norm is not None:
            norm = summed(norm)
            self.metrics.record_last("grad_norm", norm) if self.args.trl_compatible_metrics else self.metrics.record(
                "grad_norm", norm, 1
            )
        self.metrics.record("loss", 0.0, 1 / self.accelerator.num_processes)

    def _maybe_log_save_evaluate(self, tr_loss: Tensor, grad_norm: Any, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Log with one look at the device; evaluating and saving are transformers' own."""
        if self.control.should_log and self.state.global_step > self._globalstep_last_logged:
            steps = self.state.global_step - self._globalstep_last_logged
            self._globalstep_last_logged = self.state.global_step
            row = self._row(steps, kwargs.get("learning_rate"))
            self._total_loss_scalar += row.get("loss", 0.0) * steps
            tr_loss.zero_()
            self.store_flos()
            self.control.should_log = False
            self.log(row)
            self._log_completions()
        super()._maybe_log_save_evaluate(tr_loss, None, *args, **kwargs)

    def _row(self, steps: int, learning_rate: float | None) -> dict[str, float]:
        rates = {f"learning_rate/{i}": g["lr"] for i, g in enumerate(self.optimizer.param_groups)}
        distinct = rates if len(set(rates.values())) > 1 else {}
        rate = learning_rate if learning_rate is not None else self._get_learning_rate()
        row = self.report.row(self.state.global_step)
        spent = self.clock.take()
        self.state.num_input_tokens_seen += int(row.pop("batch/num_tokens", 0))
        row["num_tokens"] = self.state.num_input_tokens_seen
        row |= {"learning_rate": float(rate), **{k: float(v) for k, v in distinct.items()}}
        row |= {phase: seconds / steps for phase, seconds in spent.items()}
        row["time/train"] = sum(row.get(f"time/{p}", 0.0) for p in ("forward", "backward", "optimizer"))
        wall = row.get("step_time", 0.0) + row.get("time/optimizer", 0.0)
        generated = row.pop("generated_tokens", 0.0)
        for name, seconds in (("tokens", wall), ("gen_tokens", row.get("time/rollout", 0.0))):
            if generated and seconds:
                row[f"throughput/{name}_per_s"] = generated / (seconds * steps)
        return row

    def log(self, logs: dict[str, float], start_time: float | None = None) -> None:  # noqa: ARG002
        """Send a row to every tracker, and to transformers' own history and callbacks."""
        super().log(logs)
        self.report.write(self.state.global_step, logs)
        if self.args.stop_on:
            if self.report.monitor is not None:
                self.ending.wait_where_it_breaks(logs, self.report.monitor)
            self.heed()

    def heed(self) -> None:
        """Ask for the end of training where ``stop_on`` says so. Every process must call it at the same moment."""
        if self.args.stop_on:
            self.ending.heed(self.report.stop, self.args, self.state, self.control)

    @property
    def shows_completions(self) -> bool:
        """Whether the completions of this row are printed and sent to trackers with tables."""
        return self.args.log_completions

    def _log_completions(self) -> None:
        shown = self.shows_completions
        if not shown and self.report.recorded_completions == 0:
            return
        # Every process gives the generations of the window in their order; here those of one come together.
        rows = sorted(self.metrics.dump_samples(self.state.global_step), key=lambda row: int(str(row["step"])))
        if self.args.log_unique_prompts:
            rows = list({(row["step"], str(row.get("prompt"))): row for row in reversed(rows)}.values())[::-1]
        self.report.samples(rows, in_tables=shown)
        if rows and shown and self.accelerator.is_main_process:
            newest = [row for row in rows if row["step"] == rows[-1]["step"]]
            print_completions(newest[: self.args.num_completions_to_print], self.state.global_step)

    def record_samples(self, texts: Texts, completions: Completions, columns: Mapping[str, Any]) -> None:
        """Keep the completions of a generation with what they are worth, until the next row is logged.

        Args:
            texts: As reward functions saw them.
            completions: As they were sampled.
            columns: What belongs to each of them, in the order of the columns of a table.
        """
        kept = None if self.args.log_completions else self.report.recorded_completions
        if kept == 0:
            return
        count = len(texts.prompts)
        told = {
            "step": [self.state.global_step + 1] * count,
            "prompt": texts.prompts,
            "completion": texts.completions,
            **columns,
            "length": [len(tokens) for tokens in completions.tokens],
            "truncated": [not ended for ended in completions.ended],
            **{name: values for name, values in self._extra.items() if len(values) == count},
        }
        self.metrics.record_samples({name: values[:kept] for name, values in told.items()})

    # Evaluation.

    def evaluate(
        self,
        eval_dataset: Any = None,  # noqa: ANN401
        ignore_keys: Any = None,  # noqa: ANN401, ARG002
        metric_key_prefix: str = "eval",
    ) -> dict[str, float]:
        """Evidence beside the proxy; see `Evaluation`. Logged, and returned with the prefix of transformers."""
        found = self.evaluation(eval_dataset)
        metrics = {f"{metric_key_prefix}_{key}": value for key, value in found.items()}
        self.log(dict(metrics))
        self.control = self.callback_handler.on_evaluate(self.args, self.state, self.control, metrics)
        return metrics

    # Beginning, checkpoint, end.

    def train(self, resume_from_checkpoint: Any = None, **kwargs: Any) -> Any:  # noqa: ANN401
        """Train; `resume_from_checkpoint` is a checkpoint's path, or True for the last one in ``output_dir``."""
        self.rollout, self.micro_steps, self._resumed = None, 0, None
        self.metrics.discard()
        self.clock.take()
        self.ending.begin()
        try:
            done = super().train(resume_from_checkpoint=resume_from_checkpoint, **kwargs)
        except BaseException as error:
            self.report.close(error)
            raise
        self.report.close()
        return done

    def begin(self) -> None:
        """Open the trackers, once transformers knows whether the run is new or resumed."""
        config = {**self.args.to_dict(), "model": getattr(self.model.config, "_name_or_path", "")}
        config |= {"reward_functions": self.rewards.names, "reward_weights": self.rewards.weights.tolist()}
        if self.evaluation.size:
            config["eval_size"] = self.evaluation.size
        resumed, self._resumed = self._resumed, None
        self.report.open(self, None if resumed is None else resumed.run, config)
        if resumed is not None:
            # Only now: until here transformers holds the step of the checkpoint for logged.
            self._globalstep_last_logged = resumed.logged_at

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:  # noqa: ANN401
        """Save what a resumed run needs besides, too."""
        checkpoint.save(self, Path(self._get_output_dir(trial)) / f"checkpoint-{self.state.global_step}")
        super()._save_checkpoint(model, trial)

    def _load_optimizer_and_scheduler(self, folder: str | None) -> None:
        super()._load_optimizer_and_scheduler(folder)
        if folder is not None:
            self._resumed = checkpoint.restore(self, Path(folder))

    def save_model(self, output_dir: str | None = None, _internal_call: bool = False) -> None:  # noqa: FBT001
        """Save the model to be loaded by the folder's name; a checkpoint of FSDP may be in parts, which only FSDP can load."""
        with nullcontext() if _internal_call else saving_whole(self.accelerator):
            super().save_model(output_dir, _internal_call=_internal_call)


def _first(values: list[Any]) -> Any:  # noqa: ANN401
    return next((v for v in values if v is not None), None)
