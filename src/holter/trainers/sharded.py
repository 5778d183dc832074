"""Models whose parameters lie in parts with several processes: FSDP, and ZeRO-3 of DeepSpeed.

accelerate shards what is trained. Here is what it leaves to a trainer: models that are only read have to be sharded like the
policy, or each process would hold them whole; and a copy of a model that was loaded in parts has to be made part by part.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import torch
from accelerate.utils import DistributedType
from torch.distributed.tensor import DTensor

from holter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from accelerate import Accelerator
    from torch import nn

HALF = {"bf16": torch.bfloat16, "fp16": torch.float16}
"""Types of mixed precision."""


def gathers(accelerator: Accelerator) -> bool:
    """Whether a pass through what is trained gathers parameters from all processes, so that each has to make as many."""
    return accelerator.distributed_type == DistributedType.FSDP or _zero_stage(accelerator) == 3


def clips_any(accelerator: Accelerator) -> bool:
    """Whether gradients of some of the parameters can be clipped; FSDP 1 and DeepSpeed clip those of all together."""
    kind = accelerator.distributed_type
    alone = kind == DistributedType.FSDP and accelerator.state.fsdp_plugin.fsdp_version == 1
    return not alone and kind != DistributedType.DEEPSPEED


def summed(norm: Any) -> Any:  # noqa: ANN401
    """A norm of gradients, which FSDP 2 leaves in terms that lie with the processes."""
    return norm.full_tensor() if isinstance(norm, DTensor) else norm


def _zero_stage(accelerator: Accelerator) -> int:
    """Of DeepSpeed; 0 without it."""
    if accelerator.distributed_type != DistributedType.DEEPSPEED:
        return 0
    return int(accelerator.state.deepspeed_plugin.deepspeed_config.get("zero_optimization", {}).get("stage", 0))


@contextmanager
def gathered(parameters: Iterable[nn.Parameter], *, written: bool = False) -> Iterator[None]:
    """Parameters with all their values, where DeepSpeed loaded each process a part; every process must come here.

    Args:
        parameters: Any, in parts or not.
        written: Whether they are written, the same on every process.
    """
    parts = [p for p in parameters if in_parts(p)]
    if not parts:
        yield
        return
    import deepspeed

    with deepspeed.zero.GatheredParameters(parts, modifier_rank=0 if written else None):
        yield


def in_parts(parameter: nn.Parameter) -> bool:
    """Whether DeepSpeed holds only a part of it here, in a place of its own."""
    return hasattr(parameter, "ds_id")


def copied(model: Any) -> Any:  # noqa: ANN401
    """A copy of a model, in parts if it is; at no time is more of it gathered than one parameter."""
    if not any(map(in_parts, model.parameters())):
        return copy.deepcopy(model)
    # Made as it would be for loading, which is in parts.
    made = type(model)._from_config(copy.deepcopy(model.config), dtype=model.dtype)
    copy_weights(model, made)
    return made


@torch.no_grad()
def copy_weights(source: nn.Module, target: nn.Module) -> None:
    """Copy parameters and buffers of one model to another that has the same, whether they are in parts or not."""
    buffers = dict(source.named_buffers())
    for name, buffer in target.named_buffers():
        buffer.copy_(buffers[name])
    theirs = dict(source.named_parameters())
    for name, parameter in target.named_parameters():
        with gathered([parameter, theirs[name]], written=True):
            parameter.copy_(theirs[name])


def whole(accelerator: Accelerator, model: Any) -> Any:  # noqa: ANN401
    """A model that is only read, ready to be called: whole on each device, unless it was loaded in parts."""
    if any(map(in_parts, model.parameters())):
        return _zero_engine(accelerator, model)
    # Said, because accelerate takes it for granted that FSDP places what it is given.
    return accelerator.prepare_model(model, evaluation_mode=True, device_placement=True)


def like(trained: nn.Module, accelerator: Accelerator, model: Any) -> Any:  # noqa: ANN401
    """A model that is only read, ready to be called: sharded, and computing in the precision of, what is trained.

    Args:
        trained: What is trained, as it was before it was sharded.
        accelerator: Shards it.
        model: What is to be like it.
    """
    if accelerator.distributed_type == DistributedType.FSDP:
        plugin = accelerator.state.fsdp_plugin
        # Which layers are sharded is found out once, and what is trained decides.
        plugin.set_auto_wrap_policy(trained)
        if plugin.fsdp_version == 1:
            return accelerator.prepare_model(model).eval()
        from accelerate.utils import fsdp2_prepare_model

        prepared = accelerator.prepare_model(model, evaluation_mode=True, device_placement=False)
        return fsdp2_prepare_model(accelerator, prepared).eval()
    if _zero_stage(accelerator) == 3:
        return _zero_engine(accelerator, model)
    if accelerator.distributed_type == DistributedType.DEEPSPEED:
        # Not by autocast but by its weights, as DeepSpeed has it.
        model = model.to(HALF.get(accelerator.mixed_precision, model.dtype))
    return whole(accelerator, model)


def _zero_engine(accelerator: Accelerator, model: Any) -> Any:  # noqa: ANN401
    """A model that is only read, in parts that are gathered when it is called."""
    import deepspeed

    given = accelerator.state.deepspeed_plugin.deepspeed_config
    # What is to be found out is found out for what is trained, and an optimizer there is none.
    zero = {k: v for k, v in given["zero_optimization"].items() if v != "auto" and k != "offload_optimizer"}
    precision = {k: given[k] for k in HALF if given.get(k, {}).get("enabled") is True}
    config = {"train_micro_batch_size_per_gpu": 1, "zero_optimization": zero, **precision}
    engine, *_ = deepspeed.initialize(model=model, config=config)
    engine.eval()
    return engine


@contextmanager
def saving_whole(accelerator: Accelerator) -> Iterator[None]:
    """A model of FSDP is saved as one, whatever checkpoints are: of one that would be in parts transformers saves nothing."""
    plugin = getattr(accelerator.state, "fsdp_plugin", None)
    kind = None if plugin is None else plugin.state_dict_type
    if plugin is not None:
        plugin.set_state_dict_type("FULL_STATE_DICT")
    try:
        yield
    finally:
        if plugin is not None:
            plugin.set_state_dict_type(kind)


def check_checkpoints(accelerator: Accelerator, *, saved: bool) -> None:
    """Refuse checkpoints that a run could not go on from.

    Raises:
        SettingsError: When FSDP 1 saves in parts: a new optimizer has no state that accelerate could load the parts into.
    """
    plugin = getattr(accelerator.state, "fsdp_plugin", None)
    if saved and plugin is not None and plugin.fsdp_version == 1 and "FULL" not in str(plugin.state_dict_type):
        raise SettingsError(
            "a checkpoint of FSDP 1 with fsdp_state_dict_type SHARDED_STATE_DICT loses the optimizer when it is resumed: set "
            "fsdp_version to 2, or fsdp_state_dict_type to FULL_STATE_DICT"
        )
