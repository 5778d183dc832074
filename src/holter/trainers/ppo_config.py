"""Settings of PPO."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

from holter.errors import SettingsError
from holter.language import said
from holter.trainers import limits
from holter.trainers.config import OnPolicyConfig, checked


@checked
@dataclass
class PPOConfig(OnPolicyConfig):
    """Settings of `PPOTrainer`: those of `OnPolicyConfig`, and what belongs to PPO.

    One *update* samples ``batch_size`` completions (``per_device_train_batch_size`` x ``gradient_accumulation_steps`` x
    processes) and goes over them ``num_ppo_epochs`` times, in ``num_mini_batches`` optimizer steps each time. Updates are what
    ``max_steps``, ``save_steps``, ``logging_steps`` and the learning rate's schedule count.

    References:
        Schulman et al., "Proximal Policy Optimization Algorithms" (2017). Ziegler et al., "Fine-Tuning Language Models from
        Human Preferences" (2019). Huang et al., "The N+ Implementation Details of RLHF with PPO" (2024).
    """

    renamed: ClassVar[dict[str, str]] = {
        "max_new_tokens": "response_length",
        "max_completion_length": "response_length",
        "max_length": "response_length",
        "beta": "kl_coef",
        "init_kl_coef": "kl_coef",
        "target": "kl_target",
        "horizon": "kl_horizon",
        "batch_size": "per_device_train_batch_size (times gradient_accumulation_steps times processes)",
        "mini_batch_size": "num_mini_batches (how many of them there are)",
        "ppo_epochs": "num_ppo_epochs",
        "epsilon": "cliprange",
        "clip_range": "cliprange",
        "gae_lambda": "lam",
    }

    learning_rate: float = field(default=3e-6, metadata={"help": "Peak learning rate."})
    value_learning_rate: float | None = field(
        default=None, metadata={"help": "Peak learning rate of the value function. Default: learning_rate."}
    )
    disable_dropout: bool = field(
        default=True, metadata={"help": "Switch dropout off, so that the same tokens get the same log-probabilities."}
    )
    sft_model_path: str | None = field(default=None, metadata={"help": "The policy, where the trainer is given none."})
    reward_model_path: str | None = field(
        default=None, metadata={"help": "The reward model, where the trainer is given no reward."}
    )
    model_adapter_name: str | None = field(
        default=None, metadata={"help": "The adapter that is trained, of a policy with several."}
    )
    ref_adapter_name: str | None = field(
        default=None, metadata={"help": "The adapter that makes the reference. Default: the model without adapter."}
    )

    total_episodes: int | None = field(
        default=None, metadata={"help": "Completions of the whole run, instead of max_steps or num_train_epochs."}
    )
    num_ppo_epochs: int = field(default=4, metadata={"help": "How often an update goes over its completions."})
    num_mini_batches: int = field(default=1, metadata={"help": "Optimizer steps of each time."})
    local_rollout_forward_batch_size: int = field(
        default=64, metadata={"help": "Most completions of a pass without gradients, on each process."}
    )
    num_sample_generations: int = field(
        default=0,
        metadata={"help": "How often in a run completions are printed and sent to trackers that have tables."},
    )

    response_length: int = field(default=53, metadata={"help": "Most tokens of a completion."})
    temperature: float = field(
        default=0.7,
        metadata={"help": "Sampling temperature; log-probabilities and entropy are at this temperature too."},
    )
    stop_token: str | None = field(
        default=None,
        metadata={
            "help": "'eos': the end tokens of tokenizer and model end a completion, the default without stop_token_id. "
            "'none': nothing does, all completions have response_length tokens."
        },
    )
    stop_token_id: int | None = field(default=None, metadata={"help": "The token that ends a completion."})
    missing_eos_penalty: float | None = field(
        default=None, metadata={"help": "Taken from the score of a completion that does not end. Positive."}
    )

    kl_coef: float = field(
        default=0.05,
        metadata={"help": "Price of a nat of drift from the reference; with kl_target, the one to begin with."},
    )
    kl_target: float | None = field(
        default=None,
        metadata={"help": "KL that the coefficient is led towards, in nats a sequence. Default: it is fixed."},
    )
    kl_horizon: int = field(
        default=10_000, metadata={"help": "Episodes in which the coefficient changes at most by about 20 %."}
    )
    kl_estimator: str = field(
        default="k1", metadata={"help": "Estimator of the KL: 'k1' (log-ratio, signed) or 'k3' (never negative)."}
    )
    cliprange: float = field(default=0.2, metadata={"help": "Clip range of the ratio."})
    cliprange_value: float = field(
        default=0.2, metadata={"help": "How far a value may move in an update, in units of reward."}
    )
    vf_coef: float = field(default=0.1, metadata={"help": "Weight of the value loss."})
    share_value_trunk: bool = field(
        default=False, metadata={"help": "The value function is a head on the policy instead of a model of its own."}
    )
    gamma: float = field(default=1.0, metadata={"help": "Discount of later rewards."})
    lam: float = field(default=0.95, metadata={"help": "Lambda of generalized advantage estimation."})
    whiten_rewards: bool = field(
        default=False, metadata={"help": "Scale token rewards to variance 1; their mean stays."}
    )
    whiten_advantages: bool = field(default=True, metadata={"help": "Scale advantages to mean 0 and variance 1."})
    target_kl: float | None = field(
        default=None,
        metadata={
            "help": "An update ends where a mini-batch finds its KL, in nats a token, above this; that mini-batch is not applied."
        },
    )

    def __post_init__(self) -> None:
        """Fill in the sizes that follow from others and check that they fit.

        Raises:
            SettingsError: When they do not.
        """
        if self.total_episodes is not None and self.max_steps > 0:
            raise SettingsError(
                "PPOConfig:", "total_episodes and max_steps both say how long to train: set one of them"
            )
        super().__post_init__()
        self._check_values()
        if self.total_episodes is not None:
            self.max_steps: int = math.ceil(self.total_episodes / self.batch_size)
        if self.local_batch_size % self.num_mini_batches:
            raise SettingsError(
                "PPOConfig:",
                said(
                    "the {local_batch_size} completions that each process samples for an update do not make "
                    "num_mini_batches={num_mini_batches} of equal size",
                    local_batch_size=self.local_batch_size,
                    num_mini_batches=self.num_mini_batches,
                ),
            )
        if self.local_mini_batch_size % self.local_micro_batch_size:
            raise SettingsError(
                "PPOConfig:",
                said(
                    "a mini-batch of {local_mini_batch_size} completions on each process cannot be cut into passes of "
                    "per_device_train_batch_size={per_device_train_batch_size}",
                    local_mini_batch_size=self.local_mini_batch_size,
                    per_device_train_batch_size=self.per_device_train_batch_size,
                ),
            )

    def to_dict(self) -> dict[str, Any]:
        """As transformers has it, which takes ``stop_token`` for a secret because of its name."""
        return {**super().to_dict(), "stop_token": self.stop_token}

    @property
    def max_completion_length(self) -> int:
        """Most tokens of a completion."""
        return self.response_length

    @property
    def local_batch_size(self) -> int:
        """Completions of an update on each process."""
        return int(self.per_device_train_batch_size * self.gradient_accumulation_steps)

    @property
    def batch_size(self) -> int:
        """Completions of an update, over all processes."""
        return self.local_batch_size * int(self.world_size)

    @property
    def local_mini_batch_size(self) -> int:
        """Completions of an optimizer step on each process."""
        return self.local_batch_size // self.num_mini_batches

    @property
    def mini_batch_size(self) -> int:
        """Completions of an optimizer step, over all processes."""
        return self.local_mini_batch_size * int(self.world_size)

    @property
    def local_micro_batch_size(self) -> int:
        """Completions of a forward and backward pass on each process."""
        return min(int(self.per_device_train_batch_size), self.local_mini_batch_size)

    def _check_values(self) -> None:
        limits.check(
            self,
            {
                limits.NOT_NEGATIVE: ("kl_coef", "vf_coef"),
                limits.POSITIVE: ("kl_target", "target_kl", "cliprange", "cliprange_value"),
                limits.FRACTION: ("gamma", "lam"),
                limits.ONE_OR_MORE: (
                    "kl_horizon",
                    "num_ppo_epochs",
                    "num_mini_batches",
                    "response_length",
                    "local_rollout_forward_batch_size",
                    "total_episodes",
                ),
            },
            [
                (
                    self.kl_estimator not in ("k1", "k3"),
                    said("kl_estimator must be k1 or k3, not {kl_estimator!r}", kl_estimator=self.kl_estimator),
                ),
                (
                    self.stop_token not in (None, "eos", "none"),
                    said(
                        "stop_token must be 'eos' or 'none', not {stop_token!r}; stop_token_id takes any token",
                        stop_token=self.stop_token,
                    ),
                ),
                (
                    self.stop_token is not None and self.stop_token_id is not None,
                    said("stop_token and stop_token_id both say what ends a completion: set one of them"),
                ),
                (
                    self.missing_eos_penalty is not None and self.missing_eos_penalty < 0,
                    said(
                        "missing_eos_penalty is subtracted, so it must be positive, not {missing_eos_penalty}",
                        missing_eos_penalty=self.missing_eos_penalty,
                    ),
                ),
                (
                    self.kl_target is not None and self.kl_coef == 0,
                    said("kl_target leads kl_coef by factors, and a coefficient of 0 stays 0: set kl_coef too"),
                ),
            ],
        )
