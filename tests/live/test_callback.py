"""The callback on TRL's own trainers, with a model of a few thousand parameters."""

from __future__ import annotations

import contextlib
import copy
import io
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
trl = pytest.importorskip("trl", minversion="1.16")
datasets = pytest.importorskip("datasets")

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
import tiny_world  # noqa: E402

from holter import HolterCallback  # noqa: E402
from holter.detectors.registry import all_detectors  # noqa: E402
from holter.monitor import ending  # noqa: E402
from holter.runs.load import load  # noqa: E402
from holter.store.manifest import read_manifest  # noqa: E402
from holter.store.run_folder import RunFolderError  # noqa: E402
from tests.patience import PATIENCE  # noqa: E402

pytestmark = [
    pytest.mark.slow,
    *(
        pytest.mark.filterwarnings(f"ignore:::{module}")
        for module in ("torch", "transformers", "accelerate", "datasets", "trl", "peft")
    ),
]


@pytest.fixture(scope="module")
def taught():
    """A policy that has been taught the grammar; not to be changed."""
    torch.set_num_threads(1)
    return tiny_world.policy(steps=60)


@pytest.fixture
def grpo(taught, tmp_path, monkeypatch):
    """Makes TRL's GRPO trainer, which waits for the detectors however busy the machine is."""
    monkeypatch.setattr(ending, "PATIENCE", PATIENCE)

    def make(*callbacks, rewards=(tiny_world.cheerfulness, tiny_world.on_topic), evaluated=False, cls=None, **settings):
        config, trainer = {
            "grpo": (trl.GRPOConfig, trl.GRPOTrainer),
            "rloo": (trl.RLOOConfig, trl.RLOOTrainer),
        }[cls or "grpo"]
        defaults = {
            "output_dir": str(tmp_path / "out"),
            "report_to": "none",
            "use_cpu": True,
            "save_strategy": "no",
            "max_steps": 4,
            "per_device_train_batch_size": 8,
            "per_device_eval_batch_size": 8,
            "num_generations": 4,
            "max_completion_length": 16,
            "learning_rate": 1e-3,
            "logging_steps": 1,
            "bf16": False,
            "seed": 3,
            "disable_tqdm": True,
            "dataloader_pin_memory": False,
        }
        rows = datasets.Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(32)])
        # TRL loads its reference by the policy's name.
        policy = copy.deepcopy(taught)
        policy.save_pretrained(tmp_path / "policy")
        policy.config._name_or_path = str(tmp_path / "policy")
        return trainer(
            model=policy,
            reward_funcs=list(rewards),
            args=config(**{**defaults, **settings}),
            train_dataset=rows,
            eval_dataset=rows.select(range(8)) if evaluated else None,
            processing_class=tiny_world.tokenizer(),
            callbacks=list(callbacks),
        )

    return make


def train(trainer, **options):
    with contextlib.redirect_stdout(io.StringIO()):
        trainer.train(**options)


def recorded(folder, lines, segment=0):
    """Rows of the run folder as the trainer's history would have them."""
    number = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
    rows = [
        {k: number.get(v, v) if isinstance(v, str) else v for k, v in r.items()}
        for r in lines(folder / f"metrics-{segment}.jsonl")
    ]
    return [{k: v for k, v in row.items() if k != "time"} for row in rows]


@pytest.mark.parametrize("cls", ["grpo", "rloo"])
def test_the_record_is_the_trainers_history_to_the_last_bit(grpo, tmp_path, lines, cls):
    trainer = grpo(HolterCallback(tmp_path / "run"), cls=cls, evaluated=True, eval_strategy="steps", eval_steps=2)
    train(trainer)
    assert recorded(tmp_path / "run", lines) == trainer.state.log_history
    assert [row["step"] for row in trainer.state.log_history if "loss" in row] == [1, 2, 3, 4]
    assert any("eval_reward" in row for row in trainer.state.log_history)


def test_the_manifest_holds_the_trainers_arguments(grpo, tmp_path):
    train(grpo(HolterCallback(tmp_path / "run", config={"data": "grammar"}), beta=0.04, max_steps=1))
    manifest = read_manifest(tmp_path / "run" / "run.json")
    assert manifest.algorithm == "grpo"
    assert manifest.seed == 3
    assert {k: manifest.config[k] for k in ("beta", "num_generations", "learning_rate", "data")} == {
        "beta": 0.04,
        "num_generations": 4,
        "learning_rate": 1e-3,
        "data": "grammar",
    }
    assert "trl" in manifest.packages
    assert load([tmp_path / "run"]).runs[0].config["beta"] == 0.04


def test_every_completion_is_recorded_once_with_its_rewards_and_advantage(grpo, tmp_path, lines):
    given = []

    def counted(prompts, completions, **_):
        given.extend(zip(prompts, completions, strict=True))
        return [float(len(c)) for c in completions]

    trainer = grpo(
        HolterCallback(tmp_path / "run"),
        rewards=[counted],
        max_steps=6,
        logging_steps=4,
        steps_per_generation=2,
        evaluated=True,
        eval_strategy="steps",
        eval_steps=3,
    )
    train(trainer)
    said = lines(tmp_path / "run" / "samples-0.jsonl")
    assert [(s["prompt"], s["completion"]) for s in said] == given
    assert all(s["rewards/counted"] == len(s["completion"]) for s in said)
    trained = [s for s in said if "split" not in s]
    assert {s["step"] for s in trained} == {1, 3, 5}
    assert {s["step"] for s in said if s.get("split") == "eval"} == {3, 6}
    for at in (0, 4, 8):
        assert abs(sum(s["advantage"] for s in trained[at : at + 4])) < 1e-4


def poison(trainer, step):
    """From `step` on the loss is NaN."""
    inner = trainer.compute_loss

    def compute_loss(*args, **kwargs):
        loss = inner(*args, **kwargs)
        return loss * math.nan if trainer.state.global_step >= step - 1 else loss

    trainer.compute_loss = compute_loss


def test_a_loss_that_the_trainer_masks_is_recorded_as_it_was(grpo, tmp_path, lines):
    trainer = grpo(HolterCallback(tmp_path / "run"), max_steps=6, steps_per_generation=6)
    poison(trainer, 4)
    train(trainer)
    masked = [row["loss"] for row in trainer.state.log_history if "loss" in row]
    assert all(map(math.isfinite, masked)), "the trainer hides it"
    rows = [r for r in recorded(tmp_path / "run", lines) if "loss" in r]
    assert [math.isnan(r["loss"]) for r in rows] == [False] * 3 + [True] * 3
    assert [r["loss_as_logged"] for r in rows[3:]] == masked[3:]
    assert [r["loss"] for r in rows[:3]] == masked[:3]


def test_a_masked_loss_among_several_steps_of_a_row_is_seen(grpo, tmp_path, lines):
    trainer = grpo(
        HolterCallback(tmp_path / "run"),
        max_steps=4,
        logging_steps=4,
        gradient_accumulation_steps=2,
        steps_per_generation=8,
    )
    inner, calls = trainer.compute_loss, []

    def compute_loss(*args, **kwargs):
        calls.append(1)
        return inner(*args, **kwargs) * (math.inf if len(calls) == 3 else 1.0)

    trainer.compute_loss = compute_loss
    train(trainer)
    (row,) = [r for r in recorded(tmp_path / "run", lines) if "loss" in r]
    assert not math.isfinite(row["loss"])
    assert math.isfinite(row["loss_as_logged"])


def test_without_the_filter_the_loss_is_the_trainers(grpo, tmp_path, lines):
    trainer = grpo(HolterCallback(tmp_path / "run"), max_steps=3, logging_nan_inf_filter=False, steps_per_generation=3)
    poison(trainer, 2)
    train(trainer)
    rows = [r for r in recorded(tmp_path / "run", lines) if "loss" in r]
    assert [math.isnan(r["loss"]) for r in rows] == [False, True, True]
    assert not any("loss_as_logged" in r for r in rows)


def test_a_critical_finding_saves_stops_and_names_the_last_good_checkpoint(grpo, tmp_path, lines, caplog):
    heard = []
    callback = HolterCallback(tmp_path / "run", stop_on="critical", tell=heard.append)
    trainer = grpo(callback, max_steps=40, save_strategy="steps", save_steps=3)
    poison(trainer, 8)
    train(trainer)
    assert trainer.state.global_step == 8, "before the next generation, which a broken model would end with an error"
    out = tmp_path / "out"
    assert {p.name for p in out.glob("checkpoint-*")} == {
        "checkpoint-3",
        "checkpoint-6",
        "checkpoint-8",
    }
    said = lines(tmp_path / "run" / "findings.jsonl")
    kinds = [s["kind"] for s in said]
    assert kinds[-1] == "finished"
    assert [s["path"] for s in said if s["kind"] == "checkpoint"][:2] == [
        str(out / "checkpoint-3"),
        str(out / "checkpoint-6"),
    ]
    (stopped,) = [s for s in said if s["kind"] == "stopped"]
    assert stopped["checkpoint"] == str(out / "checkpoint-6")
    assert "not-finite (critical) since step 8" in stopped["reason"]
    assert stopped["reason"] in caplog.text
    assert "not-finite" in {a.finding.detector for a in heard}
    assert "not-finite" in all_detectors()


def test_stopping_does_not_push_out_the_last_good_checkpoint(grpo, tmp_path, caplog):
    callback = HolterCallback(tmp_path / "run", stop_on="not-finite", tell=None)
    trainer = grpo(callback, max_steps=40, save_strategy="steps", save_steps=5, save_total_limit=1)
    poison(trainer, 7)
    train(trainer)
    assert trainer.state.global_step == 7
    assert [p.name for p in (tmp_path / "out").glob("checkpoint-*")] == ["checkpoint-5"]
    assert "None is saved now, because save_total_limit would delete that one." in caplog.text


def test_a_resumed_training_is_a_new_segment_from_the_checkpoint(grpo, tmp_path, lines):
    train(grpo(HolterCallback(tmp_path / "run"), max_steps=5, save_strategy="steps", save_steps=2))
    again = grpo(HolterCallback(tmp_path / "run"), max_steps=6, save_strategy="no")
    train(again, resume_from_checkpoint=str(tmp_path / "out" / "checkpoint-4"))
    manifest = read_manifest(tmp_path / "run" / "run-1.json")
    assert (manifest.parent.segment, manifest.parent.step) == (0, 4)
    assert [r["step"] for r in recorded(tmp_path / "run", lines, 1) if "loss" in r] == [5, 6]
    assert load([tmp_path / "run"]).runs[0].steps.tolist() == [1, 2, 3, 4, 5, 6]


def test_a_second_training_is_not_written_over_the_first(grpo, tmp_path):
    train(grpo(HolterCallback(tmp_path / "run"), max_steps=1))
    with pytest.raises(RunFolderError, match="already holds a run"):
        train(grpo(HolterCallback(tmp_path / "run"), max_steps=1))
    for _ in range(2):
        train(grpo(HolterCallback(), max_steps=1))
    assert sorted(p.name for p in (tmp_path / "out").glob("holter*")) == ["holter", "holter-2"]


def test_a_training_that_breaks_off_is_written_down_and_goes_on_as_a_new_segment(grpo, tmp_path, lines):
    def breaks(completions, **_):
        if trainer.state.global_step == 2 and not again:
            raise RuntimeError("the judge is down")
        return [1.0] * len(completions)

    again = []
    trainer = grpo(HolterCallback(tmp_path / "run"), rewards=[breaks], max_steps=3)
    with pytest.raises(RuntimeError, match="the judge is down"):
        train(trainer)
    assert lines(tmp_path / "run" / "findings.jsonl")[-1]["why"] == "RuntimeError: the judge is down"
    again.append(True)
    train(trainer)
    assert read_manifest(tmp_path / "run" / "run-1.json").parent.step == 0
    assert load([tmp_path / "run"]).runs[-1].steps.tolist() == [1, 2, 3]
    assert [s["kind"] for s in lines(tmp_path / "run" / "findings.jsonl")][-1] == "finished"


def test_a_plain_trainer_is_recorded_too(tmp_path, lines, taught):
    ids = tiny_world.tokenizer()("about dog :")["input_ids"]
    rows = datasets.Dataset.from_list([{"input_ids": ids, "labels": ids}] * 8)
    args = transformers.TrainingArguments(
        output_dir=str(tmp_path / "out"),
        report_to="none",
        use_cpu=True,
        max_steps=3,
        logging_steps=1,
        save_strategy="no",
        disable_tqdm=True,
    )
    trainer = transformers.Trainer(
        copy.deepcopy(taught), args, train_dataset=rows, callbacks=[HolterCallback(tmp_path / "run")]
    )
    train(trainer)
    assert recorded(tmp_path / "run", lines) == trainer.state.log_history
    assert not (tmp_path / "run" / "samples-0.jsonl").exists()


def test_trls_dpo_trainer_is_recorded_too(tmp_path, lines, taught):
    rows = [{"prompt": p, "chosen": "dog runs", "rejected": "cat sleeps"} for p in tiny_world.prompts(8)]
    args = trl.DPOConfig(
        output_dir=str(tmp_path / "out"),
        report_to="none",
        use_cpu=True,
        bf16=False,
        max_steps=3,
        logging_steps=1,
        save_steps=2,
        beta=0.2,
        disable_tqdm=True,
        dataloader_pin_memory=False,
    )
    trainer = trl.DPOTrainer(
        model=copy.deepcopy(taught),
        ref_model=copy.deepcopy(taught),
        args=args,
        train_dataset=datasets.Dataset.from_list(rows),
        processing_class=tiny_world.tokenizer(),
        callbacks=[HolterCallback(tmp_path / "run")],
    )
    train(trainer)
    assert recorded(tmp_path / "run", lines) == trainer.state.log_history
    assert "rewards/margins" in trainer.state.log_history[0]
    manifest = read_manifest(tmp_path / "run" / "run.json")
    assert (manifest.algorithm, manifest.config["beta"]) == ("dpo", 0.2)
    kinds = [s["kind"] for s in lines(tmp_path / "run" / "findings.jsonl")]
    assert kinds.count("checkpoint") == 2


def test_two_processes_stop_together_and_record_once(tmp_path, lines):
    script = Path(__file__).with_name("two_processes.py")
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*words, str(script), str(tmp_path)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert [(tmp_path / f"stopped-{rank}").read_text() for rank in (0, 1)] == ["4", "4"]
    assert (tmp_path / "out" / "checkpoint-4").is_dir()
    assert [r["step"] for r in recorded(tmp_path / "run", lines) if "loss" in r] == [1, 2, 3, 4]
    assert read_manifest(tmp_path / "run" / "run.json").processes == 2
    assert [s["kind"] for s in lines(tmp_path / "run" / "findings.jsonl")].count("stopped") == 1
