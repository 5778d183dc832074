"""A run that is stopped and resumed continues as if nothing had happened, in the middle of a generation too."""

import copy
import json

import pytest
import torch

from holter.errors import SettingsError
from holter.store import reading

from . import resuming
from .test_two_processes import on_two

TIMED = ("time", "throughput", "step_time", "eps")
SETTINGS = {
    "beta": 0.04,
    "num_iterations": 2,
    "steps_per_generation": 2,
    "per_device_train_batch_size": 4,
    "report_to": "holter",
    "save_strategy": "steps",
    "save_steps": 5,
    "max_steps": 8,
}


def told(folder):
    return {
        (int(row.step), "eval" if any(k.startswith("eval/") for k in row.values) else "train"): {
            k: v for k, v in row.values.items() if not k.startswith((*TIMED, "eval/time"))
        }
        for row in reading.rows(folder)
    }


def rows_of(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


def completions(folder):
    """Completions of each step that was logged, in their order."""
    rows = [row for s in reading.segments(folder) if s.samples.exists() for row in rows_of(s.samples)]
    return [(row["step"], row["completion"]) for row in rows]


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"save_steps": 4},
        {"num_iterations": 1, "gradient_accumulation_steps": 2, "steps_per_generation": None},
        {"save_steps": 6, "lr_scheduler_type": "cosine", "max_steps": 12, "num_train_epochs": 9},
        {"logging_steps": 3, "save_steps": 5, "max_steps": 9},
    ],
)
def test_a_resumed_run_continues_the_metrics_without_gap_or_repetition(grpo, trained, taught, tmp_path, extra):
    rows = [{"prompt": f"about the {noun} :"} for noun in ("dog", "cat", "bird", "house", "river")]
    settings = {**SETTINGS, **extra}
    straight = grpo(model=copy.deepcopy(taught), rows=rows, **settings)
    trained(straight)
    whole = told(straight.report.folder)

    settings["output_dir"] = str(tmp_path / "again")

    def stopped_at(step):
        from transformers import TrainerCallback

        class Stop(TrainerCallback):
            def on_step_end(self, args, state, control, **_):
                control.should_training_stop = state.global_step >= step

        return Stop()

    at = settings["save_steps"]
    first = grpo(model=copy.deepcopy(taught), rows=rows, callbacks=[stopped_at(at)], **settings)
    trained(first)
    torch.manual_seed(12345)
    second = grpo(model=copy.deepcopy(taught), rows=rows, **settings)
    trained(second, resume_from_checkpoint=str(tmp_path / "again" / f"checkpoint-{at}"))
    assert second.report.folder == first.report.folder
    assert completions(second.report.folder) == completions(straight.report.folder)
    resumed = told(second.report.folder)
    assert list(resumed) == list(whole)
    for key, row in whole.items():
        assert resumed[key] == pytest.approx(row, rel=1e-5, abs=1e-6), key


def test_rows_after_the_checkpoint_are_replaced(grpo, trained, taught, tmp_path):
    """Training went on after the last checkpoint before it was stopped; those steps are done over."""
    settings = {**SETTINGS, "max_steps": 7}
    trained(grpo(model=copy.deepcopy(taught), **settings))
    second = grpo(model=copy.deepcopy(taught), **{**settings, "max_steps": 9})
    trained(second, resume_from_checkpoint=True)
    assert [int(r.step) for r in reading.rows(second.report.folder)] == list(range(1, 10))


def test_a_checkpoint_of_another_trainer_is_refused(grpo, trained, taught, tmp_path):
    trainer = grpo(**{**SETTINGS, "max_steps": 5})
    trained(trainer)
    checkpoint = tmp_path / "out" / "checkpoint-5"
    (checkpoint / "holter.json").unlink()
    with pytest.raises(SettingsError, match="no checkpoint of this trainer"):
        trained(grpo(model=copy.deepcopy(taught), **SETTINGS), resume_from_checkpoint=str(checkpoint))


def test_the_reference_of_a_resumed_run_is_the_policy_it_began_with(grpo, trained, taught, tmp_path):
    trained(grpo(model=copy.deepcopy(taught), **{**SETTINGS, "max_steps": 5}))
    second = grpo(model=copy.deepcopy(taught), **SETTINGS)
    trained(second, resume_from_checkpoint=True)
    for name, value in second.reference.state_dict().items():
        assert torch.equal(value, taught.state_dict()[name])


@pytest.mark.slow
def test_a_run_of_two_processes_that_lost_power_goes_on_in_new_ones_as_if_nothing_had_happened(taught, tmp_path):
    taught.save_pretrained(tmp_path / "policy")
    on_two("resuming.py", tmp_path, "begin")
    on_two("resuming.py", tmp_path, "resume")
    assert_gone_on(tmp_path)


def assert_gone_on(tmp_path):
    """The runs of `resuming` that were cut off went on as those that were not."""
    saved = resuming.SHARED["save_steps"]
    for algorithm in ("grpo", "ppo"):
        through, cut = (tmp_path / f"{algorithm}-{name}" / "holter" for name in ("through", "cut"))
        lost, again = (rows_of(s.metrics) for s in reading.segments(cut))
        assert [row["step"] for row in lost] == list(range(1, resuming.LOST_AT))
        assert [row["step"] for row in again] == list(range(saved + 1, resuming.STEPS + 1))
        whole, resumed = told(through), told(cut)
        assert list(resumed) == list(whole) == [(step, "train") for step in range(1, resuming.STEPS + 1)]
        for key, row in whole.items():
            assert resumed[key] == pytest.approx(row, rel=1e-5, abs=1e-6), (algorithm, key)
        before, after = ([(r["step"], r["completion"]) for r in rows_of(s.samples)] for s in reading.segments(cut))
        assert [x for x in before if x[0] <= saved] + after == completions(through)
