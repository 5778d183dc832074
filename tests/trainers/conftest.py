"""Trainers on a tiny world; skipped where the training extra is not installed."""

from __future__ import annotations

import contextlib
import copy
import io
import sys
from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")
pytest.importorskip("accelerate")
datasets = pytest.importorskip("datasets")

import torch  # noqa: E402

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import tiny_world  # noqa: E402

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items):
    """Warnings of the training stack are its own business; ours stay errors."""
    for item in items:
        if HERE in Path(str(item.fspath)).parents:
            for module in ("torch", "transformers", "accelerate", "datasets", "peft", "trl", "tensorboard", "wandb"):
                item.add_marker(pytest.mark.filterwarnings(f"ignore:::{module}"))


@pytest.fixture(scope="session", autouse=True)
def one_thread():
    """Small tensors are slower on several threads, and the tests run in several processes."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def taught():
    """A policy that has been taught the grammar; not to be changed."""
    return tiny_world.policy(steps=100)


@pytest.fixture
def beside_others(tmp_path, monkeypatch):
    """A working folder in which a run may get slower: other tests run on the machine at the same time."""
    why = '"other tests run at the same time"'
    (tmp_path / "holter.toml").write_text(f"[ignore]\nthroughput-rot = {why}\nstalled-run = {why}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def policy(taught):
    """The same, to be changed."""
    return copy.deepcopy(taught)


@pytest.fixture(scope="session")
def tokenizer():
    return tiny_world.tokenizer()


@pytest.fixture
def grpo(policy, tokenizer, tmp_path):
    """Makes a trainer that trains on a CPU, quietly; settings may be given."""

    def make(rewards=(tiny_world.cheerfulness, tiny_world.on_topic), *, model=None, rows=None, **settings):
        from holter import GRPOConfig, GRPOTrainer

        known = {name: settings.pop(name) for name in list(settings) if name in TRAINER}
        defaults = {
            "output_dir": str(tmp_path / "out"),
            "report_to": "none",
            "use_cpu": True,
            "save_strategy": "no",
            "max_steps": 2,
            "per_device_train_batch_size": 8,
            "num_generations": 4,
            "max_completion_length": 24,
            "learning_rate": 1e-3,
            "lr_scheduler_type": "constant",
            "dataloader_pin_memory": False,
            "disable_tqdm": True,
        }
        args = GRPOConfig(**{**defaults, **settings})
        rows = rows if rows is not None else [{"prompt": p} for p in tiny_world.prompts(64)]
        return GRPOTrainer(
            model=model if model is not None else policy,
            reward_funcs=list(rewards),
            args=args,
            train_dataset=datasets.Dataset.from_list(rows),
            **{"processing_class": tokenizer, **known},
        )

    return make


TRAINER = {
    "eval_dataset",
    "processing_class",
    "reward_processing_classes",
    "callbacks",
    "optimizers",
    "peft_config",
    "perplexity_dataset",
    "alignment_scorers",
    "preference_dataset",
}


@pytest.fixture
def trained():
    """Trains, and gives back the rows of training steps."""

    def train(trainer, **options):
        with contextlib.redirect_stdout(io.StringIO()):
            trainer.train(**options)
        return [row for row in trainer.state.log_history if "loss" in row]

    return train
