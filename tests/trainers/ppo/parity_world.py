"""The models, prompts and settings on which PPO was recorded with TRL, made from formulas and no random numbers.

Imported by the tests and, in TRL's own environment, by the script that recorded: so it imports neither TRL nor Holter.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, PhiConfig, PreTrainedTokenizerFast

PAD, EOS, WORDS = 0, 1, 38
BATCH, UPDATES = 8, 3

SCENARIOS: dict[str, dict[str, Any]] = {
    # Every response is cut at the limit, so that TRL's reward lies on the last token and padding plays no part.
    "cut": {"ends": False, "settings": {}},
    "cut_k3_whitened": {
        "ends": False,
        "settings": {"kl_estimator": "k3", "whiten_rewards": True, "gamma": 0.99, "lam": 0.9, "temperature": 1.0},
    },
    # Responses end by themselves, at different lengths.
    "ended": {"ends": True, "settings": {"num_ppo_epochs": 1}},
    # TRL's tables are filled to a half. With a learning rate of 0 the order of the mini-batches plays no part.
    "half_full": {
        "ends": True,
        "settings": {
            "num_mini_batches": 2,
            "per_device_train_batch_size": 2,
            "gradient_accumulation_steps": 4,
            "learning_rate": 0.0,
        },
    },
}

COMMON: dict[str, Any] = {
    "per_device_train_batch_size": BATCH,
    "gradient_accumulation_steps": 1,
    "num_mini_batches": 1,
    "num_ppo_epochs": 4,
    "total_episodes": BATCH * UPDATES,
    "response_length": 12,
    "stop_token": "eos",
    "missing_eos_penalty": 1.0,
    "learning_rate": 2e-3,
    "temperature": 0.7,
    "kl_coef": 0.1,
    "vf_coef": 0.5,
    "bf16": False,
    "use_cpu": True,
    "gradient_checkpointing": False,
    "report_to": "none",
    "save_strategy": "no",
    "disable_tqdm": True,
    "num_sample_generations": 0,
}


def settings(scenario: str) -> dict[str, Any]:
    """Settings of a scenario, those that both trainers have."""
    return {**COMMON, **SCENARIOS[scenario]["settings"]}


def tokenizer() -> PreTrainedTokenizerFast:
    """Forty tokens: padding, end, and words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {"<pad>": PAD, "<eos>": EOS, **{f"w{i}": 2 + i for i in range(WORDS)}}
    plain = Tokenizer(models.WordLevel(vocabulary, unk_token="w0"))
    plain.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return PreTrainedTokenizerFast(
        tokenizer_object=plain, pad_token="<pad>", eos_token="<eos>", unk_token="w0", padding_side="left"
    )


def prompts() -> list[list[int]]:
    """Prompts of two to five words."""
    return [[2 + (7 * i + 3 * j) % WORDS for j in range(2 + i % 4)] for i in range(BATCH * UPDATES)]


def models(scenario: str) -> dict[str, Any]:
    """Policy, reference, reward model and value model; the reference is not the policy, so that there is a KL."""
    ends = SCENARIOS[scenario]["ends"]
    return {
        "model": _filled(AutoModelForCausalLM.from_config(_config()), seed=1, ends=ends),
        "ref_model": _filled(AutoModelForCausalLM.from_config(_config()), seed=1, ends=ends, shaken=0.05),
        "reward_model": _filled(AutoModelForSequenceClassification.from_config(_config(num_labels=1)), seed=2),
        "value_model": _filled(AutoModelForSequenceClassification.from_config(_config(num_labels=1)), seed=3),
    }


def _config(**more: Any) -> PhiConfig:
    return PhiConfig(
        vocab_size=2 + WORDS,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        max_position_embeddings=64,
        pad_token_id=PAD,
        bos_token_id=EOS,
        eos_token_id=EOS,
        **more,
    )


def _filled(model: Any, *, seed: int, ends: bool = True, shaken: float = 0.0) -> Any:
    """Weights from a congruential generator; the head's bias decides whether responses end."""
    with torch.no_grad():
        for number, (name, parameter) in enumerate(sorted(model.named_parameters())):
            noise = _noise(parameter.numel(), 1000 * seed + number).view(parameter.shape)
            if shaken:
                noise = noise + shaken * _noise(parameter.numel(), 5000 + number).view(parameter.shape)
            if parameter.dim() > 1:
                parameter.copy_(noise * 2 / parameter.shape[-1] ** 0.5)
            elif name.endswith("weight"):
                parameter.copy_(1 + 0.1 * noise)
            else:
                parameter.copy_(0.1 * noise)
        if hasattr(model, "lm_head"):
            # Padding must not be sampled: to TRL it ends a response.
            model.lm_head.bias[PAD] = -40.0
            model.lm_head.bias[EOS] = 1.0 if ends else -40.0
    return model.eval()


def _noise(count: int, seed: int) -> torch.Tensor:
    """Numbers in [-1, 1) that look random."""
    x = (torch.arange(count, dtype=torch.int64) + 1 + 7919 * seed) % 2_147_483_647
    for _ in range(4):
        x = (x * 48_271 + 11) % 2_147_483_647
    return (x.double() / 2_147_483_647 * 2 - 1).float()
