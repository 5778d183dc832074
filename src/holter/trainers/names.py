"""Names that somebody may write who comes from TRL or mistypes one, and what is said about them.

What is only called otherwise here is said by its right name, what TRL has and this package has not is refused with a reason, a
misspelt name with the nearest right one: a setting that is silently ignored is worse than none.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ParamSpec

from holter.errors import SettingsError
from holter.language import Said, listed, phrase, said

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

P = ParamSpec("P")


@dataclass(frozen=True)
class Elsewhere:
    """A setting of TRL that is not here.

    Attributes:
        why: Why not, or what to do instead.
        nothing: The value that asks for nothing, besides False, None and empty: it is accepted.
    """

    why: str
    nothing: object = None


_VLLM = "completions are sampled in the training process; for vLLM train with TRL and add HolterCallback"
_SAMPLER = "this trainer has a sampler of its own"
_OTHER_LOSS = "it belongs to a loss that is not here; loss_type says which ones are"
_FIXED_REFERENCE = "the reference stays what the policy was at the start"
_FIXED_BONUS = "the entropy bonus has a fixed coefficient, entropy_coef"
_TEXT_ONLY = "models here read and write text, and call no tools"

SETTINGS = {
    "use_vllm": Elsewhere(_VLLM),
    "vllm_mode": Elsewhere(_VLLM, "colocate"),
    "vllm_model_impl": Elsewhere(_VLLM, "vllm"),
    "vllm_enable_sleep_mode": Elsewhere(_VLLM),
    "vllm_structured_outputs_regex": Elsewhere(_VLLM),
    "vllm_guided_decoding_regex": Elsewhere(_VLLM),
    "vllm_server_base_url": Elsewhere(_VLLM),
    "vllm_server_host": Elsewhere(_VLLM, "0.0.0.0"),
    "vllm_server_port": Elsewhere(_VLLM, 8000),
    "vllm_server_timeout": Elsewhere(_VLLM, 240.0),
    "vllm_group_port": Elsewhere(_VLLM, 51216),
    "vllm_gpu_memory_utilization": Elsewhere(_VLLM, 0.3),
    "vllm_max_model_length": Elsewhere(_VLLM),
    "vllm_tensor_parallel_size": Elsewhere(_VLLM, 1),
    "vllm_importance_sampling_correction": Elsewhere(_VLLM, True),
    "vllm_importance_sampling_mode": Elsewhere(_VLLM, "sequence_mask"),
    "vllm_importance_sampling_cap": Elsewhere(_VLLM),
    "vllm_importance_sampling_clip_max": Elsewhere(_VLLM, 3.0),
    "vllm_importance_sampling_clip_min": Elsewhere(_VLLM),
    "use_transformers_paged": Elsewhere(_SAMPLER),
    "use_transformers_continuous_batching": Elsewhere(_SAMPLER),
    "transformers_continuous_batching_config": Elsewhere(_SAMPLER),
    "cache_implementation": Elsewhere("this trainer has a sampler and a cache of its own"),
    "generation_kwargs": Elsewhere(
        "this trainer has a sampler of its own: temperature, top_p, top_k, min_p and repetition_penalty"
    ),
    "sync_ref_model": Elsewhere(_FIXED_REFERENCE),
    "ref_model_mixup_alpha": Elsewhere(_FIXED_REFERENCE, 0.6),
    "ref_model_sync_steps": Elsewhere(_FIXED_REFERENCE, 512),
    "sapo_temperature_neg": Elsewhere(_OTHER_LOSS, 1.05),
    "sapo_temperature_pos": Elsewhere(_OTHER_LOSS, 1.0),
    "vespo_k_pos": Elsewhere(_OTHER_LOSS, 2.0),
    "vespo_k_neg": Elsewhere(_OTHER_LOSS, 3.0),
    "vespo_lambda_pos": Elsewhere(_OTHER_LOSS, 3.0),
    "vespo_lambda_neg": Elsewhere(_OTHER_LOSS, 2.0),
    "multi_objective_aggregation": Elsewhere(
        "rewards are summed with their weights, then normalised", "sum_then_normalize"
    ),
    "top_entropy_quantile": Elsewhere("all completion tokens are trained on", 1.0),
    "use_adaptive_entropy": Elsewhere(_FIXED_BONUS),
    "entropy_coef_min": Elsewhere(_FIXED_BONUS),
    "entropy_coef_max": Elsewhere(_FIXED_BONUS, 1.0),
    "entropy_coef_delta": Elsewhere(_FIXED_BONUS, 0.005),
    "entropy_target": Elsewhere(_FIXED_BONUS, 0.2),
    "off_policy_mask_threshold": Elsewhere("stale completions are clipped, not masked"),
    "log_completions_hub_repo": Elsewhere("completions go to the run folder and the trackers"),
    "log_multimodal": Elsewhere(_TEXT_ONLY, True),
    "max_tool_calling_iterations": Elsewhere(_TEXT_ONLY),
    "router_aux_loss_coef": Elsewhere("the load-balancing loss of mixture-of-experts models is not added"),
    "cast_lm_head_to_fp32": Elsewhere(
        "log-probabilities are computed in float32 from the logits; load the head in float32 yourself"
    ),
    "pad_to_multiple_of": Elsewhere("sequences are padded to the longest of their micro-batch", "auto"),
    "ds3_gather_for_generation": Elsewhere("parameters are gathered layer by layer", True),
    "dataset_num_proc": Elsewhere("prompts become tokens when they are needed"),
}
"""Settings of TRL that are not here."""

ARGUMENTS = {
    "tools": Elsewhere(_TEXT_ONLY),
    "environment_factory": Elsewhere(_TEXT_ONLY),
    "rollout_func": Elsewhere(_SAMPLER),
    "quantization_config": Elsewhere("load the model with it, and pass the model"),
}
"""Arguments of TRL's trainers that are not here."""

RENAMED_ARGUMENTS = {
    "tokenizer": "processing_class",
    "config": "args",
    "training_args": "args",
    "policy": "model",
    "ref_policy": "ref_model",
    "dataset": "train_dataset",
    "reward_function": "reward_funcs",
    "reward_functions": "reward_funcs",
}
"""What arguments were called in older releases of TRL, or are called elsewhere."""


def refuse(
    of: str,
    name: str,
    value: object,
    *,
    kind: Said,
    known: Sequence[str],
    renamed: Mapping[str, str],
    elsewhere: Mapping[str, Elsewhere],
    otherwise: Said,
) -> None:
    """Say what is wrong with a name that is not known; nothing where it asks for nothing.

    Args:
        of: What was given the name: a class.
        name: The name.
        value: What it was given.
        kind: What it would be: a setting, an argument.
        known: Names that would do.
        renamed: Names that are called otherwise here.
        elsewhere: Names that TRL has and `of` has not.
        otherwise: What to say where no name is near.

    Raises:
        SettingsError: Almost always.
    """
    missing = elsewhere.get(name)
    if missing is not None and (not value or value == missing.nothing):
        return
    if name in renamed:
        raise SettingsError(f"{of}:", said("{name} is called {other} here", name=name, other=renamed[name]))
    if missing is not None:
        raise SettingsError(
            f"{of}:",
            said("{name}={value} is not supported: {why}", name=name, value=_short(value), why=phrase(missing.why)),
        )
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    hint = said("Did you mean {names}?", names=listed(near, " or ")) if near else otherwise
    raise SettingsError(said("{of} has no {kind} {name!r}.", of=of, kind=kind, name=name), hint)


def arguments_checked(init: Callable[P, None]) -> Callable[P, None]:
    """Decorator of a trainer's ``__init__``: refuse unknown arguments, and settings of another kind, before all else."""
    signature = inspect.signature(init)
    known = list(signature.parameters)[1:]

    @functools.wraps(init)
    def checked(*args: P.args, **kwargs: P.kwargs) -> None:
        for name in [n for n in kwargs if n not in known]:
            refuse(
                type(args[0]).__name__,
                name,
                kwargs.pop(name),
                kind=said("argument"),
                known=known,
                renamed=RENAMED_ARGUMENTS,
                elsewhere=ARGUMENTS,
                otherwise=said("It takes {names}.", names=listed(known)),
            )
        trainer: Any = args[0]
        settings = signature.bind_partial(*args, **kwargs).arguments.get("args")
        if settings is not None and not isinstance(settings, trainer.config_type):
            raise SettingsError(
                f"{type(trainer).__name__}:",
                said(
                    "args must be a {wanted}, not a {given}",
                    wanted=trainer.config_type.__name__,
                    given=type(settings).__name__,
                ),
            )
        init(*args, **kwargs)

    return checked


def _short(value: Any) -> str:  # noqa: ANN401
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
