"""Settings that all trainers share, on top of `transformers.TrainingArguments`.

Names are TRL's wherever TRL has one, so its snippets run. What TRL has and this package has not is refused with a reason, a
misspelt name with the nearest right one: a setting that is silently ignored is worse than none.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import torch
from transformers import TrainingArguments
from transformers.integrations import get_available_reporting_integrations

from holter.errors import SettingsError
from holter.monitor import StopRule
from holter.sinks.registry import chosen

C = TypeVar("C", bound="type[OnPolicyConfig]")

ELSEWHERE = {
    "use_vllm": "completions are sampled in the training process; for vLLM train with TRL and add HolterCallback",
    "use_transformers_paged": "this trainer has a sampler of its own",
    "use_transformers_continuous_batching": "this trainer has a sampler of its own",
    "cache_implementation": "this trainer has a sampler and a cache of its own",
    "generation_kwargs": "this trainer has a sampler of its own: temperature, top_p, top_k, min_p and repetition_penalty",
    "sync_ref_model": "the reference stays what the policy was at the start",
    "auto_find_batch_size": "a smaller batch would tear the groups of completions apart",
    "use_liger_kernel": "use use_liger_loss for the fused loss, and load a model with Liger's layers yourself",
    "multi_objective_aggregation": "rewards are summed with their weights, then normalised",
    "top_entropy_quantile": "all completion tokens are trained on",
    "use_adaptive_entropy": "the entropy bonus has a fixed coefficient, entropy_coef",
    "off_policy_mask_threshold": "stale completions are clipped, not masked",
    "log_completions_hub_repo": "completions go to the run folder and the trackers",
    "router_aux_loss_coef": "the load-balancing loss of mixture-of-experts models is not added",
    "cast_lm_head_to_fp32": "log-probabilities are computed in float32 from the logits; load the head in float32 yourself",
    "pad_to_multiple_of": "sequences are padded to the longest of their micro-batch",
    "ds3_gather_for_generation": "parameters are gathered layer by layer",
}
"""Settings of TRL that are not here, and why. False, None and empty are accepted: they ask for nothing."""


def checked(cls: C) -> C:
    """Class decorator: refuse unknown settings by name, before anything else happens."""
    plain = cls.__init__
    known = [f.name for f in dataclasses.fields(cls) if f.init]

    @functools.wraps(plain)
    def init(self: OnPolicyConfig, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        for name in [n for n in kwargs if n not in known]:
            _refuse(cls, name, kwargs.pop(name), known)
        plain(self, *args, **kwargs)

    init.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    cls.__init__ = init  # type: ignore[method-assign]
    return cls


def _refuse(cls: type[OnPolicyConfig], name: str, value: object, known: list[str]) -> None:
    foreign = name in ELSEWHERE or name.startswith(("vllm_", "sapo_", "vespo_", "use_vllm", "entropy_coef_"))
    if foreign and not value:
        return
    if name in cls.renamed:
        raise SettingsError(f"{cls.__name__}: {name} is called {cls.renamed[name]} here")
    if foreign:
        why = ELSEWHERE.get(name, "it belongs to a part of TRL that is not here")
        raise SettingsError(f"{cls.__name__}: {name}={value!r} is not supported: {why}")
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = f" Did you mean {' or '.join(near)}?" if near else " `holter train --help` lists all settings."
    raise SettingsError(f"{cls.__name__} has no setting {name!r}.{hint}")


@checked
@dataclass
class OnPolicyConfig(TrainingArguments):
    """Settings of an on-policy trainer.

    Those of `transformers.TrainingArguments`, with other defaults for: ``report_to`` (the run folder), ``logging_steps`` (1),
    ``bf16`` (where the device has it), ``remove_unused_columns`` (False, reward functions want the columns),
    ``eval_on_start`` (True where there is evaluation), ``logging_nan_inf_filter`` (False, a NaN loss is logged as one).
    """

    renamed: ClassVar[dict[str, str]] = {
        "max_new_tokens": "max_completion_length",
        "max_length": "max_completion_length",
    }

    report_to: None | str | list[str] = field(  # noqa: RUF036 - the order that HfArgumentParser understands
        default=None,
        metadata={
            "help": "Trackers: 'holter' (the run folder, default), 'tensorboard', 'wandb', any that transformers integrates, "
            "a list of them, 'all' or 'none'."
        },
    )
    logging_dir: str | None = field(
        default=None,
        metadata={
            "help": "Folder of TensorBoard's event files. Without report_to it adds 'tensorboard' to the default."
        },
    )
    run_dir: str | None = field(
        default=None, metadata={"help": "The run folder. Default: <output_dir>/holter, numbered if it is taken."}
    )
    monitor: bool = field(
        default=True,
        metadata={
            "help": "Run the detectors of `holter check` while training, and say on the terminal what they find."
        },
    )
    stop_on: None | str | list[str] = field(  # noqa: RUF036 - the order that HfArgumentParser understands
        default=None,
        metadata={
            "help": "Save a checkpoint and stop at findings that are 'critical' or at least a 'warning', at those of detectors "
            "by name or pattern, or a list of such. Default: training goes on whatever is found."
        },
    )
    trl_compatible_metrics: bool = field(
        default=False,
        metadata={
            "help": "Reduce metrics as TRL's code does (means of means, means of minima) instead of by token, to compare."
        },
    )
    logging_steps: float = field(default=1, metadata={"help": "Log every so many optimizer steps."})
    logging_nan_inf_filter: bool = field(
        default=False,
        metadata={
            "help": "Leave NaN and infinite losses out of the loss of transformers' summary. Rows have them anyway."
        },
    )
    bf16: bool | None = field(
        default=None, metadata={"help": "bfloat16 mixed precision. Default: where an accelerator supports it."}
    )
    remove_unused_columns: bool | None = field(
        default=False,
        metadata={"help": "Keep only 'prompt'. Reward functions get the other columns, so usually False."},
    )
    eval_on_start: bool | None = field(
        default=None, metadata={"help": "Evaluate before the first step. Default: whenever there is evaluation."}
    )

    model_init_kwargs: dict[str, Any] | str | None = field(
        default=None, metadata={"help": "Arguments of from_pretrained, where the model is given by name or path."}
    )
    trust_remote_code: bool = field(
        default=False, metadata={"help": "Run Python code that models and tokenizers bring along."}
    )
    disable_dropout: bool = field(
        default=False, metadata={"help": "Switch dropout off, so that the same tokens get the same log-probabilities."}
    )

    shuffle_dataset: bool = field(default=True, metadata={"help": "Shuffle the prompts, anew each epoch."})
    max_prompt_length: int | None = field(
        default=None, metadata={"help": "Keep the last so many tokens of a prompt. Default: all."}
    )
    chat_template_kwargs: dict[str, Any] | str | None = field(
        default=None, metadata={"help": "Arguments of the chat template, for conversational prompts."}
    )

    temperature: float = field(
        default=1.0,
        metadata={"help": "Sampling temperature; log-probabilities and entropy are at this temperature too."},
    )
    top_p: float = field(default=1.0, metadata={"help": "Sample from the likeliest tokens of this total probability."})
    top_k: int | None = field(default=0, metadata={"help": "Sample from so many likeliest tokens; 0: from all."})
    min_p: float | None = field(
        default=None, metadata={"help": "Sample from tokens of at least this share of the likeliest one's probability."}
    )
    repetition_penalty: float = field(
        default=1.0, metadata={"help": "Above 1, tokens that are there already become less likely."}
    )
    decode_batch_size: int | None = field(
        default=None, metadata={"help": "Completions decoded at a time on each process. Default: all of a generation."}
    )

    reward_weights: list[float] | None = field(
        default=None,
        metadata={
            "help": "Weight of each reward function, default 1. With weight 0 it is logged as evidence, not trained on."
        },
    )

    log_completions: bool = field(
        default=False,
        metadata={"help": "Print completions at logged steps, and send all of them to trackers with tables."},
    )
    num_completions_to_print: int | None = field(
        default=None, metadata={"help": "How many completions log_completions prints. Default: all."}
    )
    log_unique_prompts: bool = field(
        default=False, metadata={"help": "Log one completion of each prompt instead of all."}
    )
    num_completions_to_record: int | None = field(
        default=8, metadata={"help": "Completions of each logged step in the run folder. None: all, 0: none."}
    )
    perplexity_max_length: int = field(
        default=1024, metadata={"help": "Held-out texts are cut to so many tokens for eval/perplexity."}
    )

    def __post_init__(self) -> None:
        """Check the settings and fill in what depends on others.

        Raises:
            SettingsError: For values out of range and settings that contradict each other.
        """
        self._check()
        StopRule.of(self.stop_on)
        asked = (
            self.report_to if self.report_to is not None else ["holter", *(["tensorboard"] if self.logging_dir else [])]
        )
        integrated = set(get_available_reporting_integrations())
        ours, theirs = chosen(asked, foreign=integrated)
        if self.logging_dir is not None and all(t.name != "tensorboard" for t in ours):
            raise SettingsError(
                "logging_dir is the folder of TensorBoard's files: add 'tensorboard' to report_to, or leave it out"
            )
        if self.bf16 is None:
            self.bf16 = (
                not self.fp16 and not self.use_cpu and torch.cuda.is_available() and torch.cuda.is_bf16_supported()
            )
        if self.eval_on_start is None:
            self.eval_on_start = str(getattr(self.eval_strategy, "value", self.eval_strategy)) != "no"
        self.report_to = "none"
        super().__post_init__()
        # What transformers would drive itself is driven by sinks here, so that a tracker that fails cannot stop training.
        self.report_to = [t.name for t in ours] + list(theirs)

    def _check(self) -> None:
        wrong = [
            (not self.temperature > 0, f"temperature must be positive, not {self.temperature}"),
            (not 0 < self.top_p <= 1, f"top_p must lie in (0, 1], not {self.top_p}"),
            ((self.top_k or 0) < 0, f"top_k must not be negative, not {self.top_k}; 0 samples from all tokens"),
            (self.min_p is not None and not 0 <= self.min_p <= 1, f"min_p must lie in [0, 1], not {self.min_p}"),
            (not self.repetition_penalty > 0, f"repetition_penalty must be positive, not {self.repetition_penalty}"),
            (
                bool(self.eval_steps) and str(getattr(self.eval_strategy, "value", self.eval_strategy)) == "no",
                f"eval_steps={self.eval_steps} has no effect: set eval_strategy='steps' too",
            ),
            (bool(self.bf16) and bool(self.fp16), "bf16 and fp16 exclude each other"),
            (bool(self.auto_find_batch_size), f"auto_find_batch_size: {ELSEWHERE['auto_find_batch_size']}"),
            (bool(self.use_liger_kernel), f"use_liger_kernel: {ELSEWHERE['use_liger_kernel']}"),
        ]
        for is_wrong, why in wrong:
            if is_wrong:
                raise SettingsError(f"{type(self).__name__}: {why}")
