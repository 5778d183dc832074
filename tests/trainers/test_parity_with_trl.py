"""The same model, prompts and completions through TRL's GRPOTrainer and ours: the same numbers, where both mean the same."""

import copy
from pathlib import Path

import pytest
import tiny_world
import torch

from .test_metrics import DOCUMENTED

trl = pytest.importorskip("trl", minversion="1.16")

SAME = (
    "num_tokens",
    "completions/mean_length",
    "completions/min_length",
    "completions/max_length",
    "completions/clipped_ratio",
    "completions/mean_terminated_length",
    "completions/min_terminated_length",
    "completions/max_terminated_length",
    "rewards/cheerfulness/mean",
    "rewards/cheerfulness/std",
    "rewards/on_topic/mean",
    "rewards/on_topic/std",
    "reward",
    "reward_std",
    "frac_reward_zero_std",
    "kl",
    "entropy",
    "clip_ratio/low_mean",
    "clip_ratio/low_min",
    "clip_ratio/high_mean",
    "clip_ratio/high_max",
    "clip_ratio/region_mean",
    "loss",
    "grad_norm",
    "learning_rate",
)
SETTINGS = {
    "as it comes": {},
    "no reference": {"beta": 0.0},
    "several iterations": {"num_iterations": 3, "learning_rate": 2e-3},
    "by sequence first": {"loss_type": "grpo", "num_iterations": 2, "delta": 1.5, "learning_rate": 2e-3},
    "by a constant": {"loss_type": "dr_grpo", "scale_rewards": "none", "epsilon_high": 0.28},
    "by micro-batch": {"loss_type": "bnpo", "scale_rewards": "batch"},
    "one ratio a sequence": {"importance_sampling_level": "sequence", "num_iterations": 2, "learning_rate": 2e-3},
    "truncated ones left out": {"mask_truncated_completions": True, "max_completion_length": 13},
    "another temperature": {"temperature": 0.7, "use_bias_correction_kl": False},
    "an entropy bonus": {"entropy_coef": 0.05},
    "weights": {"reward_weights": [2.0, 0.5]},
}
SEVERAL = {
    "accumulated": {"gradient_accumulation_steps": 2},
    "accumulated, by sequence first": {"gradient_accumulation_steps": 4, "loss_type": "grpo"},
    "a generation for several steps": {
        "steps_per_generation": 4,
        "gradient_accumulation_steps": 2,
        "num_iterations": 2,
    },
    "rows of several steps": {"logging_steps": 2, "gradient_accumulation_steps": 2},
    "several generations a step": {
        "steps_per_generation": 1,
        "gradient_accumulation_steps": 3,
        "per_device_train_batch_size": 4,
    },
    "scaled by the batch": {"scale_rewards": "batch"},
}


@pytest.fixture
def theirs(policy, tokenizer, tmp_path, grpo, trained):
    """Trains with both, on the completions that ours sampled."""

    def both(**settings):
        shared = {"beta": 0.04, "shuffle_dataset": False, "max_steps": 4, "learning_rate": 1e-3, **settings}
        # TRL loads its reference by the policy's name.
        policy.save_pretrained(tmp_path / "policy")
        policy.config._name_or_path = str(tmp_path / "policy")
        start = copy.deepcopy(policy)
        ours = grpo(**shared)
        sampled, complete = [], ours.complete

        def remembered(prompts):
            sampled.append(complete(prompts))
            return sampled[-1]

        ours.complete = remembered
        mine = trained(ours)
        rows = [{"prompt": p} for p in tiny_world.prompts(64)]
        from datasets import Dataset

        shared.pop("trl_compatible_metrics", None)
        args = trl.GRPOConfig(
            output_dir=str(tmp_path / "trl"),
            report_to="none",
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
            save_strategy="no",
            num_generations=4,
            lr_scheduler_type="constant",
            dataloader_pin_memory=False,
            disable_tqdm=True,
            **{"max_completion_length": 24, "logging_steps": 1, "per_device_train_batch_size": 8, **shared},
        )
        trainer = trl.GRPOTrainer(
            model=start,
            reward_funcs=[tiny_world.cheerfulness, tiny_world.on_topic],
            args=args,
            train_dataset=Dataset.from_list(rows),
            processing_class=tokenizer,
        )
        given = iter(sampled)
        trainer._generate_single_turn = lambda *_, **__: (next(given).tokens, None)
        return mine, trained(trainer)

    return both


def differences(mine, theirs, names):
    """Names whose numbers differ by more than 1e-4, with both."""
    assert len(mine) == len(theirs)
    return [
        (row["step"], name, row.get(name), other[name])
        for row, other in zip(mine, theirs, strict=True)
        for name in names
        if other.get(name) is not None
        # TRL says 0 where no completion ended; there is no length then, and we say nothing.
        and not ("terminated" in name and other["completions/clipped_ratio"] == 1 and name not in row)
        and row.get(name) != pytest.approx(other[name], rel=1e-4, abs=1e-4)
    ]


@pytest.mark.parametrize("name", SETTINGS)
def test_numbers_are_those_of_trl(theirs, name):
    mine, other = theirs(**SETTINGS[name])
    compared = {n for row in other for n in SAME if row.get(n) is not None}
    assert len(compared) >= len(SAME) - 1
    # With this scale TRL's is the share of the batch whose spread over the whole batch is zero: all of it or nothing.
    names = set(SAME) - ({"frac_reward_zero_std"} if SETTINGS[name].get("scale_rewards") == "batch" else set())
    assert differences(mine, other, names) == []
    told = (Path(__file__).parents[2] / "docs" / "trainers.md").read_text()
    assert [k for row in other for k in row if k not in (*SAME, "step") and f"`{k}`" not in told] == []


@pytest.mark.parametrize("name", SEVERAL)
def test_compatible_numbers_are_those_of_trl_over_several_micro_batches(theirs, name, monkeypatch):
    """TRL draws at random which completions share a micro-batch, and its means of means depend on it."""
    import trl.trainer.grpo_trainer as trl_grpo

    from holter.trainers import grpo as our_grpo

    monkeypatch.setattr(trl_grpo, "shuffle_sequence_dict", lambda batch: batch)
    monkeypatch.setattr(
        our_grpo,
        "micro_batches",
        lambda lengths, parts, **_: torch.arange(len(lengths)).view(parts, -1).tolist(),
    )
    mine, other = theirs(trl_compatible_metrics=True, **SEVERAL[name])
    assert differences(mine, other, SAME) == []


def test_the_documentation_says_of_every_documented_number_whether_it_is_trls():
    told = (Path(__file__).parents[2] / "docs" / "trainers.md").read_text()
    assert [name for name in sorted(DOCUMENTED - set(SAME)) if f"`{name}`" not in told] == []
