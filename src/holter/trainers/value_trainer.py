"""What a trainer with a value function needs of `transformers.Trainer`, beyond what all on-policy trainers need.

Policy and value function are one module to Trainer, but each is clipped by its own norm, has its own learning rate, and is saved
as a model of its own: a checkpoint loads as the policy, the folder ``value_model`` in it as the value model.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from transformers import AutoModelForCausalLM

from holter.errors import SettingsError
from holter.language import said
from holter.trainers.models import as_reference, loaded, without_dropout
from holter.trainers.on_policy import OnPolicyTrainer
from holter.trainers.scoring import own_logits
from holter.trainers.sharded import clips_any, like, summed
from holter.trainers.value_model import HEAD_FILE, PolicyAndValue, hidden_states, load_value_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from torch import Tensor, nn
    from transformers import PreTrainedModel

    from holter.trainers.ppo_config import PPOConfig
    from holter.trainers.scoring import Layout, Outputs

KEPT = "value_trainer.json"
VALUE = "value_model"


class ValueTrainer(OnPolicyTrainer):
    """Base of trainers that have a value function."""

    args: PPOConfig
    given_value_model: str | PreTrainedModel | None
    """What the user passed as value model; set before this class is initialised."""

    # The models.

    @property
    def both(self) -> PolicyAndValue:
        """Policy and value function, not wrapped in anything."""
        model = self.model if isinstance(self.model, PolicyAndValue) else self.accelerator.unwrap_model(self.model)
        assert isinstance(model, PolicyAndValue)
        return model

    @property
    def policy(self) -> Any:  # noqa: ANN401
        """The policy itself, not wrapped in anything."""
        return self.both.policy

    def trainable(self, policy: PreTrainedModel) -> PolicyAndValue:
        """The policy and its value function."""
        if self.args.share_value_trunk:
            if self.given_value_model is not None:
                raise SettingsError("value_model and share_value_trunk: the value function is one or the other")
            return PolicyAndValue(policy, None)
        value_model = load_value_model(self.given_value_model, policy, self.args)
        if self.args.disable_dropout:
            without_dropout(value_model)
        return PolicyAndValue(policy, value_model)

    def take_reference(self, given: str | PreTrainedModel | None) -> None:
        """Take this model, or the one of this name, for reference; the policy as it is now where there is none."""
        args = self.args
        if args.model_adapter_name is not None:
            self.policy.set_adapter(args.model_adapter_name)
        if given is None:
            if args.ref_adapter_name is None:
                self.keep_reference()
            return
        reference: Any = given
        if isinstance(given, str):
            options = {"dtype": self.policy.dtype, "trust_remote_code": args.trust_remote_code}
            reference = loaded(AutoModelForCausalLM, given, said("reference model"), **options)
        reference.eval().requires_grad_(False)
        if args.disable_dropout:
            without_dropout(reference)
        self.reference = like(self.model, self.accelerator, reference)

    @contextmanager
    def as_reference(self, model: nn.Module) -> Iterator[nn.Module]:
        """The reference: a model of its own, or `model` with another adapter or none."""
        if self.reference is not None:
            yield self.reference
        elif self.args.ref_adapter_name is None:
            with as_reference(self.policy):
                yield model
        else:
            self.policy.set_adapter(self.args.ref_adapter_name)
            try:
                yield model
            finally:
                self.policy.set_adapter(self.args.model_adapter_name or "default")

    # What they read.

    def readers(self) -> list[tuple[nn.Module, Outputs]]:
        """Policy, value model, and a reference that may be another model than either."""
        found = super().readers()
        if self.both.value_model is not None:
            found.append((self.both.value_model, hidden_states))
        if self.reference is not None:
            found.append((self.reference, own_logits))
        return found

    def layout(self, prompts: Sequence[list[int]], completions: Sequence[list[int]]) -> Layout:
        """Packed where all of them keep packed sequences apart; where parameters are gathered they cannot be asked one by one."""
        return "right" if self.sampling.synchronised else super().layout(prompts, completions)

    # The optimizer.

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:  # noqa: ANN401
        """Trainer's optimizer, with parameter groups and a learning rate of their own for the value function."""
        made = self.optimizer is None
        optimizer = super().create_optimizer(model)
        if made and self.args.value_learning_rate is not None:
            theirs = set(map(id, self.both.value_parameters()))
            for group in list(optimizer.param_groups):
                of_value = [p for p in group["params"] if id(p) in theirs]
                group["params"] = [p for p in group["params"] if id(p) not in theirs]
                if of_value:
                    optimizer.add_param_group({**group, "params": of_value, "lr": self.args.value_learning_rate})
        return optimizer

    def record_rates(self) -> None:
        """Learning rates of this step, before the schedule moves on."""
        self.metrics.record_last("lr", float(self._get_learning_rate()))
        theirs = set(map(id, self.both.value_parameters()))
        rate = next((g["lr"] for g in self.optimizer.param_groups if any(id(p) in theirs for p in g["params"])), None)
        if rate is not None:
            self.metrics.record_last("critic/lr", float(rate))

    def _clip_grad_norm(self, model: nn.Module) -> Any:  # noqa: ANN401
        """Clip policy and value model each by its own norm: a value model that is far off must not still the policy."""
        return self._norms(self.args.max_grad_norm) if self._apart else super()._clip_grad_norm(model)

    def _get_grad_norm(self, model: nn.Module, grad_norm: Any = None) -> None:  # noqa: ANN401
        """Record the norm of the policy's gradient."""
        if grad_norm is None and self._apart:
            grad_norm = self._norms(float("inf"))
        super()._get_grad_norm(model, grad_norm)

    @property
    def _apart(self) -> bool:
        return not self.both.is_shared and clips_any(self.accelerator)

    def _norms(self, limit: float) -> Tensor:
        self.accelerator.unscale_gradients()
        critic, policy = (
            torch.nn.utils.clip_grad_norm_(parameters, limit)
            for parameters in (self.both.value_parameters(), list(self.policy.parameters()))
        )
        self.metrics.record("critic/grad_norm", summed(critic), 1)
        return policy

    # Checkpoints.

    def kept(self) -> dict[str, float]:
        """What a resumed run needs to know besides what every trainer saves."""
        return {}

    def go_on(self, kept: dict[str, float]) -> None:
        """Go on from what a checkpoint kept."""

    def _save(self, output_dir: str | None = None, state_dict: dict[str, Tensor] | None = None) -> None:
        """Save the policy as the model of this folder, and the value function in a folder within."""
        folder = output_dir if output_dir is not None else str(self.args.output_dir)
        both: PolicyAndValue = self.both
        whole = self.model
        of_policy, of_value = both.split(state_dict)
        self.model: Any = both.policy
        try:
            super()._save(folder, of_policy)
        finally:
            self.model = whole
        if self.args.should_save:
            both.save_value(Path(folder) / VALUE, of_value)

    def _load_from_checkpoint(self, resume_from_checkpoint: str, model: Any = None) -> None:  # noqa: ANN401
        if self.is_fsdp_enabled:
            super()._load_from_checkpoint(resume_from_checkpoint, model)
            return
        super()._load_from_checkpoint(resume_from_checkpoint, self.both.policy)
        folder = Path(resume_from_checkpoint) / VALUE
        if not folder.is_dir():
            raise SettingsError(
                said(
                    "{folder} is no checkpoint of this trainer: it has no folder {name}",
                    folder=resume_from_checkpoint,
                    name=VALUE,
                )
            )
        if self.both.value_model is not None:
            super()._load_from_checkpoint(str(folder), self.both.value_model)
        elif self.both.value_head is not None:
            state = torch.load(folder / HEAD_FILE, map_location=self.args.device, weights_only=True)
            self.both.value_head.load_state_dict(state)

    def _load_best_model(self) -> None:
        if self.is_fsdp_enabled or self.is_deepspeed_enabled:
            super()._load_best_model()
        else:
            self._load_from_checkpoint(str(self.state.best_model_checkpoint))

    def _save_checkpoint(self, model: nn.Module, trial: Any) -> None:  # noqa: ANN401
        kept = self.kept()
        if self.args.should_save:
            folder = Path(self._get_output_dir(trial)) / f"checkpoint-{self.state.global_step}"
            folder.mkdir(parents=True, exist_ok=True)
            (folder / KEPT).write_text(json.dumps(kept), encoding="utf-8")
        super()._save_checkpoint(model, trial)

    def _load_optimizer_and_scheduler(self, checkpoint: str | None) -> None:
        super()._load_optimizer_and_scheduler(checkpoint)
        if checkpoint is not None and (Path(checkpoint) / KEPT).exists():
            self.go_on(json.loads((Path(checkpoint) / KEPT).read_text(encoding="utf-8")))
