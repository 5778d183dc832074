"""A PPO trainer on the tiny world, with settings to taste."""

import datasets
import pytest
import tiny_world

TRAINER = {
    "ref_model",
    "reward_model",
    "value_model",
    "data_collator",
    "eval_dataset",
    "optimizers",
    "callbacks",
    "peft_config",
    "reward_processing_classes",
    "perplexity_dataset",
    "alignment_scorers",
    "preference_dataset",
}


@pytest.fixture
def ppo(policy, tokenizer, tmp_path):
    """Makes a trainer that trains on a CPU, quietly; settings may be given."""

    def make(rewards=(tiny_world.cheerfulness, tiny_world.on_topic), *, model=None, rows=None, **settings):
        from holter import PPOConfig, PPOTrainer

        known = {name: settings.pop(name) for name in list(settings) if name in TRAINER}
        defaults = {
            "output_dir": str(tmp_path / "out"),
            "report_to": "none",
            "use_cpu": True,
            "save_strategy": "no",
            "max_steps": 2,
            "per_device_train_batch_size": 8,
            "gradient_accumulation_steps": 2,
            "num_ppo_epochs": 2,
            "response_length": 24,
            "temperature": 1.0,
            "learning_rate": 1e-3,
            "lr_scheduler_type": "constant",
            "dataloader_pin_memory": False,
            "disable_tqdm": True,
        }
        if "total_episodes" in settings:
            del defaults["max_steps"]
        rows = rows if rows is not None else [{"prompt": p} for p in tiny_world.prompts(64)]
        return PPOTrainer(
            PPOConfig(**{**defaults, **settings}),
            tokenizer,
            model if model is not None else policy,
            train_dataset=datasets.Dataset.from_list(rows),
            reward_funcs=list(rewards) or None,
            **known,
        )

    return make
