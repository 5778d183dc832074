"""liger-kernel's fused GRPO loss: head, log-probabilities and loss in one pass over chunks, without any logits in memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.errors import SettingsError, reason
from holter.language import said
from holter.trainers.scoring import head_of, hidden_states

if TYPE_CHECKING:
    from torch import Tensor, nn

    from holter.trainers.buffer import MicroBatch
    from holter.trainers.grpo import GRPOTrainer


class LigerLoss:
    """The loss of `GRPOTrainer.loss`, computed by liger-kernel.

    It gives a KL and one clip fraction, and neither entropy nor ratios, so only ``kl`` and ``clip_ratio`` are recorded.
    """

    def __init__(self, trainer: GRPOTrainer) -> None:
        """Get liger-kernel ready.

        Raises:
            SettingsError: When it is not installed, does not load on this machine, or cannot read the model's head.
        """
        if trainer.sampling.synchronised:
            raise SettingsError(
                "use_liger_loss reads the weights of the model's head, which FSDP and ZeRO-3 leave in parts: set "
                "use_liger_loss=False"
            )
        try:
            from liger_kernel.chunked_loss.grpo_loss import LigerFusedLinearGRPOLoss
        except ImportError as error:
            raise SettingsError(
                said(
                    "use_liger_loss needs liger-kernel, which cannot be loaded ({error}): pip install liger-kernel, "
                    "or set use_liger_loss=False",
                    error=reason(error),
                )
            ) from error
        args = trainer.args
        self.trainer = trainer
        self.fused = LigerFusedLinearGRPOLoss(
            beta=args.beta,
            # Compiling needs a compiler for the device, and on a CPU it saves nothing.
            compiled=args.device.type == "cuda",
            use_ref_model=args.beta != 0,
            epsilon_low=trainer.clip_low,
            epsilon_high=trainer.clip_high,
            loss_type=args.loss_type,
            max_completion_length=args.max_completion_length,
            importance_sampling_level=args.importance_sampling_level,
            temperature=args.temperature,
            delta=args.delta,
            use_bias_correction_kl=args.use_bias_correction_kl,
        )

    def __call__(self, model: nn.Module, batch: MicroBatch) -> Tensor:
        """The loss of a micro-batch, scaled for gradient accumulation; records ``clip_ratio``, and ``kl`` if there is one."""
        trainer, head = self.trainer, head_of(model)
        loss, measured = self.fused(
            hidden_states(model, batch.sequences),
            head.weight,
            batch.sequences.targets,
            batch.mask.long(),
            batch["advantages"],
            bias=getattr(head, "bias", None),
            ref_per_token_logps=batch["ref_logprobs"] if trainer.args.beta else None,
            old_per_token_logps=None if trainer.on_policy else batch["old_logprobs"],
            num_items_in_batch=trainer.step_tokens,
        )
        # Liger's numbers are means over this micro-batch; with its tokens as weights they merge into means over all.
        tokens = batch.mask.sum()
        trainer.metrics.record("clip_ratio", measured[-1].detach() * tokens, tokens)
        if trainer.args.beta:
            trainer.metrics.record("kl", measured[0].detach() * tokens, tokens)
            trainer.metrics.record_last("objective/kl_coef", trainer.args.beta)
        if trainer.args.loss_type != "dapo":
            loss = loss / trainer.current_gradient_accumulation_steps
        out: Tensor = loss
        return out
