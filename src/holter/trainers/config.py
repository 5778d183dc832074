"""Settings that all trainers share, on top of `transformers.TrainingArguments`.

Names are TRL's wherever TRL has one, so its snippets run.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import re
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import torch
from transformers import TrainingArguments
from transformers.integrations import get_available_reporting_integrations
from transformers.optimization import get_scheduler

from holter.errors import SettingsError
from holter.language import said
from holter.monitor import StopRule
from holter.sinks.registry import chosen
from holter.trainers import limits, names

C = TypeVar("C", bound="type[OnPolicyConfig]")
NUMBERS: dict[str, type[int] | type[float]] = {"int": int, "float": float, "int | None": int, "float | None": float}
"""Types of settings that are numbers."""


def checked(cls: C) -> C:
    """Class decorator: refuse unknown settings by name, before anything else happens."""
    plain = cls.__init__
    known = [f.name for f in dataclasses.fields(cls) if f.init]
    kinds = {f.name: getattr(f.type, "__name__", str(f.type)) for f in dataclasses.fields(cls)}
    numbers = {name: NUMBERS[kind] for name, kind in kinds.items() if kind in NUMBERS}

    @functools.wraps(plain)
    def init(self: OnPolicyConfig, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401
        for name in [n for n in kwargs if n not in known]:
            names.refuse(
                cls.__name__,
                name,
                kwargs.pop(name),
                kind=said("setting"),
                known=known,
                renamed=cls.renamed,
                elsewhere=names.SETTINGS,
                otherwise=said("`holter train --help` lists all settings."),
            )
        for name in numbers.keys() & kwargs.keys():
            if isinstance(kwargs[name], str):
                kwargs[name] = _as_number(cls.__name__, name, kwargs[name], numbers[name])
        plain(self, *args, **kwargs)

    init.__signature__ = inspect.signature(plain)  # type: ignore[attr-defined]
    cls.__init__ = init  # type: ignore[method-assign]
    return cls


def _as_number(of: str, name: str, value: str, kind: type[int] | type[float]) -> float:
    """A number that is written as a text, as YAML has ``1e-5``."""
    try:
        return kind(value)
    except ValueError:
        raise SettingsError(f"{of}:", said("{name} must be a number, not {value!r}", name=name, value=value)) from None


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
        "wandb_log_unique_prompts": "log_unique_prompts",
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
        if self.fp16 and self.device.type == "cpu":
            # accelerate leaves it out without a word.
            raise SettingsError(
                f"{type(self).__name__}:",
                "fp16 has no effect on a CPU, and training would be in float32: use bf16=True",
            )
        self._check_schedule()
        # What transformers would drive itself is driven by sinks here, so that a tracker that fails cannot stop training.
        self.report_to = [t.name for t in ours] + list(theirs)

    def _check_schedule(self) -> None:
        """Make the schedule once, for a parameter of no account: the real one is made when the models are loaded already."""
        where, given = f"{type(self).__name__}:", f"lr_scheduler_kwargs={self.lr_scheduler_kwargs}"
        if not isinstance(self.lr_scheduler_kwargs, dict | None):
            raise SettingsError(where, said("{setting} must be arguments by name", setting=given))
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=float(self.learning_rate))
        schedule = getattr(self.lr_scheduler_type, "value", self.lr_scheduler_type)
        try:
            get_scheduler(
                schedule,
                optimizer,
                num_warmup_steps=0,
                num_training_steps=2,
                scheduler_specific_kwargs=self.lr_scheduler_kwargs,
            )
        except (TypeError, ValueError, ArithmeticError) as error:
            # A function's name tells nobody anything who wrote a setting.
            why = re.sub(r"^(\w+\.)*\w+\(\) ", "", str(error))
            raise SettingsError(
                where,
                said(
                    "{setting} does not go with lr_scheduler_type={schedule!r}: {why}",
                    setting=given,
                    schedule=schedule,
                    why=why,
                ),
            ) from error

    def _check(self) -> None:
        limits.check(
            self,
            {
                limits.POSITIVE: ("temperature", "repetition_penalty"),
                limits.POSITIVE_FRACTION: ("top_p",),
                limits.FRACTION: ("min_p",),
            },
            [
                (
                    (self.top_k or 0) < 0,
                    said("top_k must not be negative, not {top_k}; 0 samples from all tokens", top_k=self.top_k),
                ),
                (
                    bool(self.eval_steps) and str(getattr(self.eval_strategy, "value", self.eval_strategy)) == "no",
                    said(
                        "eval_steps={eval_steps} has no effect: set eval_strategy='steps' too",
                        eval_steps=self.eval_steps,
                    ),
                ),
                (bool(self.bf16) and bool(self.fp16), said("bf16 and fp16 exclude each other")),
                (
                    bool(self.auto_find_batch_size),
                    said("auto_find_batch_size: a smaller batch would tear the groups of completions apart"),
                ),
                (
                    bool(self.use_liger_kernel),
                    said(
                        "use_liger_kernel: use use_liger_loss for the fused loss, and load a model with Liger's layers "
                        "yourself"
                    ),
                ),
            ],
        )
