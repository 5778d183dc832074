"""Settings of GRPO."""

from __future__ import annotations

from dataclasses import dataclass, field

from holter.errors import SettingsError
from holter.language import listed, said
from holter.trainers import limits
from holter.trainers.config import OnPolicyConfig, checked

LOSS_TYPES = ("grpo", "bnpo", "dr_grpo", "dapo")
SCALES = ("group", "batch", "none")
LEVELS = ("token", "sequence")


@checked
@dataclass
class GRPOConfig(OnPolicyConfig):
    """Settings of `GRPOTrainer`: those of `OnPolicyConfig`, and what belongs to GRPO.

    One *generation* samples ``generation_batch_size`` completions, ``num_generations`` of each prompt. It is cut into
    ``steps_per_generation`` micro-batches a process, each gone through ``num_iterations`` times.

    References:
        Shao et al., "DeepSeekMath" (2024). Liu et al., "Understanding R1-Zero-Like Training" (2025): dr_grpo. Yu et al.,
        "DAPO" (2025): dapo, epsilon_high. Zheng et al., "Group Sequence Policy Optimization" (2025): sequence level.
    """

    learning_rate: float = field(default=1e-6, metadata={"help": "Peak learning rate."})
    num_generations: int = field(default=8, metadata={"help": "Completions of each prompt: the size of a group."})
    num_generations_eval: int | None = field(
        default=None, metadata={"help": "Completions of each prompt in evaluation. Default: num_generations."}
    )
    max_completion_length: int = field(default=512, metadata={"help": "Most tokens of a completion."})
    generation_batch_size: int | None = field(
        default=None,
        metadata={"help": "Completions of one generation, over all processes. Or set steps_per_generation."},
    )
    steps_per_generation: int | None = field(
        default=None,
        metadata={"help": "Micro-batches of one generation a process. Default: gradient_accumulation_steps."},
    )
    num_iterations: int = field(default=1, metadata={"help": "How often a generation is gone through."})
    beta: float = field(
        default=0.0, metadata={"help": "Coefficient of the KL to the reference policy; 0: no reference is kept."}
    )
    use_bias_correction_kl: bool = field(
        default=True, metadata={"help": "Weigh the KL by the importance ratio, which makes it unbiased off-policy."}
    )
    epsilon: float = field(
        default=0.2, metadata={"help": "Clip range of the ratio below 1, and above unless epsilon_high."}
    )
    epsilon_high: float | None = field(default=None, metadata={"help": "Clip range of the ratio above 1."})
    delta: float | None = field(
        default=None, metadata={"help": "Cap of the ratio where the advantage is negative; above 1 + epsilon_high."}
    )
    importance_sampling_level: str = field(
        default="token", metadata={"help": "Ratio by 'token', or one a 'sequence' (GSPO)."}
    )
    scale_rewards: str = field(
        default="group",
        metadata={"help": "Divide advantages by the spread of the 'group', of the 'batch', or by 'none'."},
    )
    loss_type: str = field(
        default="dapo",
        metadata={
            "help": "How token losses are averaged: 'dapo' over all tokens of the batch, 'bnpo' over the micro-batch's, "
            "'grpo' within sequences first, 'dr_grpo' over batch size times max_completion_length."
        },
    )
    mask_truncated_completions: bool = field(
        default=False, metadata={"help": "Leave completions that hit the length limit out of the loss."}
    )
    entropy_coef: float = field(default=0.0, metadata={"help": "Weight of an entropy bonus."})
    use_liger_loss: bool = field(
        default=False, metadata={"help": "Use liger-kernel's fused GRPO loss; logs clip_ratio instead of clip_ratio/*."}
    )

    def __post_init__(self) -> None:
        """Fill in the sizes that follow from others and check that they fit.

        Raises:
            SettingsError: When they do not.
        """
        if isinstance(self.scale_rewards, bool):
            self.scale_rewards = "group" if self.scale_rewards else "none"
        self._one_of("scale_rewards", SCALES)
        self._one_of("loss_type", LOSS_TYPES)
        self._one_of("importance_sampling_level", LEVELS)
        super().__post_init__()
        self._check_sizes()
        self._check_values()

    def _one_of(self, name: str, allowed: tuple[str, ...]) -> None:
        if getattr(self, name) not in allowed:
            raise SettingsError(
                "GRPOConfig:",
                said(
                    "{name} must be one of {names}, not {value!r}",
                    name=name,
                    names=listed(allowed),
                    value=getattr(self, name),
                ),
            )

    def _check_sizes(self) -> None:
        per_step = self.per_device_train_batch_size * self.world_size
        if self.generation_batch_size is None:
            self.steps_per_generation = self.steps_per_generation or self.gradient_accumulation_steps
            self.generation_batch_size = per_step * self.steps_per_generation
        elif (
            self.steps_per_generation is not None and self.generation_batch_size != per_step * self.steps_per_generation
        ):
            raise SettingsError(
                "GRPOConfig:",
                said(
                    "generation_batch_size={generation_batch_size} and steps_per_generation={steps_per_generation} "
                    "contradict each other ({per_step} completions a step): set one of them",
                    generation_batch_size=self.generation_batch_size,
                    steps_per_generation=self.steps_per_generation,
                    per_step=per_step,
                ),
            )
        elif self.generation_batch_size % per_step:
            raise SettingsError(
                "GRPOConfig:",
                said(
                    "generation_batch_size={generation_batch_size} must be a multiple of the {per_step} completions "
                    "that all processes take a step",
                    generation_batch_size=self.generation_batch_size,
                    per_step=per_step,
                ),
            )
        else:
            self.steps_per_generation = self.generation_batch_size // per_step
        if self.num_generations < 2:
            raise SettingsError(
                "GRPOConfig:",
                said(
                    "num_generations={num_generations}: advantages are relative to the other completions of a prompt, "
                    "so there must be at least 2",
                    num_generations=self.num_generations,
                ),
            )
        if self.generation_batch_size % self.num_generations:
            raise SettingsError(
                "GRPOConfig:",
                said(
                    "{generation_batch_size} completions a generation (per_device_train_batch_size x processes x "
                    "steps_per_generation) do not make whole groups of num_generations={num_generations}",
                    generation_batch_size=self.generation_batch_size,
                    num_generations=self.num_generations,
                ),
            )

    def _check_values(self) -> None:
        high = self.epsilon_high if self.epsilon_high is not None else self.epsilon
        limits.check(
            self,
            {limits.ONE_OR_MORE: ("num_iterations", "max_completion_length"), limits.NOT_NEGATIVE: ("beta",)},
            [
                (not (self.epsilon >= 0 and high >= 0), said("epsilon and epsilon_high must not be negative")),
                (
                    self.delta is not None and not self.delta > 1 + high,
                    said(
                        "delta={delta} must be above 1 + epsilon_high = {value:g}: it would take the clip's place",
                        delta=self.delta,
                        value=1 + high,
                    ),
                ),
                (
                    self.use_liger_loss and self.entropy_coef != 0,
                    said("use_liger_loss knows no entropy bonus: set entropy_coef=0 or use_liger_loss=False"),
                ),
                (
                    self.use_liger_loss and self.trl_compatible_metrics,
                    said("use_liger_loss and trl_compatible_metrics: TRL has no Liger loss any more to compare with"),
                ),
            ],
        )
