"""The snippets of TRL's documentation run after changing the import, with local models in place of those of the hub."""

import math

import datasets
import pytest
import tiny_world


@pytest.fixture
def path(taught, tokenizer, tmp_path):
    """Where the policy lies, as a name of the hub would."""
    taught.save_pretrained(tmp_path / "policy")
    tokenizer.save_pretrained(tmp_path / "policy")
    return str(tmp_path / "policy")


@pytest.fixture
def reward_path(path, tokenizer, tmp_path):
    """Where a reward model lies."""
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(path, num_labels=1)
    model.save_pretrained(tmp_path / "rm")
    tokenizer.save_pretrained(tmp_path / "rm")
    return str(tmp_path / "rm")


@pytest.fixture
def prompts():
    return datasets.Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(16)])


SHORT = {"use_cpu": True, "max_steps": 2, "save_strategy": "no", "disable_tqdm": True, "dataloader_pin_memory": False}


def num_unique_letters(completions, **kwargs):
    return [float(len(set(completion))) for completion in completions]


@pytest.mark.parametrize("tracker", ["tensorboard", "wandb"])
def test_the_snippet_for_grpo_runs(path, reward_path, prompts, trained, tmp_path, monkeypatch, tracker):
    pytest.importorskip(tracker)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.chdir(tmp_path)
    where = {"logging_dir": str(tmp_path / "tb")} if tracker == "tensorboard" else {}

    from holter import GRPOConfig, GRPOTrainer

    training_args = GRPOConfig(
        output_dir=str(tmp_path / "out"), max_completion_length=8, report_to=tracker, **where, **SHORT
    )
    trainer = GRPOTrainer(
        model=path,
        reward_funcs=[num_unique_letters, reward_path],
        args=training_args,
        train_dataset=prompts,
    )
    rows = trained(trainer)
    assert len(rows) == 2
    assert math.isfinite(rows[0]["rewards/rm/mean"])
    assert list(tmp_path.rglob("*tfevents*" if tracker == "tensorboard" else "*.wandb"))


@pytest.mark.parametrize("tracker", ["tensorboard", "wandb"])
def test_the_snippet_for_ppo_runs(path, reward_path, prompts, trained, tmp_path, monkeypatch, capsys, tracker):
    pytest.importorskip(tracker)
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_SILENT", "true")
    monkeypatch.chdir(tmp_path)
    where = {"logging_dir": str(tmp_path / "tb")} if tracker == "tensorboard" else {}

    from transformers import AutoModelForCausalLM, AutoModelForSequenceClassification, AutoTokenizer

    from holter import PPOConfig, PPOTrainer

    tokenizer = AutoTokenizer.from_pretrained(path, padding_side="left")
    value_model = AutoModelForSequenceClassification.from_pretrained(reward_path, num_labels=1)
    reward_model = AutoModelForSequenceClassification.from_pretrained(reward_path, num_labels=1)
    ref_policy = AutoModelForCausalLM.from_pretrained(path)
    policy = AutoModelForCausalLM.from_pretrained(path)
    dataset = prompts.map(
        lambda row: {"input_ids": tokenizer(row["prompt"])["input_ids"]}, remove_columns=prompts.column_names
    )
    training_args = PPOConfig(
        output_dir=str(tmp_path / "out"),
        per_device_train_batch_size=4,
        gradient_accumulation_steps=1,
        response_length=8,
        missing_eos_penalty=1.0,
        stop_token="eos",
        report_to=tracker,
        **where,
        **SHORT,
    )
    trainer = PPOTrainer(
        args=training_args,
        processing_class=tokenizer,
        model=policy,
        ref_model=ref_policy,
        reward_model=reward_model,
        value_model=value_model,
        train_dataset=dataset,
        eval_dataset=dataset,
        peft_config=None,
    )
    rows = trained(trainer)
    trainer.save_model(training_args.output_dir)
    trainer.generate_completions()
    printed = capsys.readouterr().out
    assert printed.count("about") >= 8
    assert "Step 2" in printed
    assert len(rows) == 2
    assert math.isfinite(rows[0]["objective/scores"])
    assert list(tmp_path.rglob("*tfevents*" if tracker == "tensorboard" else "*.wandb"))
