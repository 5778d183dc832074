"""The same batch on one process and spread over two: the same numbers."""

import contextlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

from . import two_processes

HERE = Path(__file__).parent
TIMED = ("time", "throughput", "step_time", "eval", "train_")


def on_two(script, *words, **environment):
    """Run a script of this folder in two processes."""
    alone = {"OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(
        [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", HERE / script, *words],
        env={**os.environ, **alone, **environment},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def assert_same(one, two):
    """Rows of one process and of several: every metric, and the perplexity, which needs no sampling."""
    trained = [[r for r in rows if "loss" in r] for rows in (one, two)]
    assert [r["step"] for r in trained[0]] == [r["step"] for r in trained[1]] == [1, 2, 3]
    for row, other in zip(*trained, strict=True):
        assert row.keys() == other.keys()
        for key, value in row.items():
            if not key.startswith(TIMED):
                assert other[key] == pytest.approx(value, rel=1e-5, abs=1e-5), key
    evaluated = [[r["eval_perplexity"] for r in rows if "eval_perplexity" in r] for rows in (one, two)]
    assert evaluated[0] == pytest.approx(evaluated[1], rel=1e-5)


def run(folder, processes, **settings):
    settings = {"output_dir": str(folder / f"out-{processes}"), "max_steps": 3, **settings}
    if processes == 1:
        with contextlib.redirect_stdout(io.StringIO()):
            two_processes.main(str(folder), settings)
    else:
        on_two("two_processes.py", folder, json.dumps(settings))
    return json.loads((folder / f"rows-{processes}.json").read_text())


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [
        {"loss_type": "dapo", "num_iterations": 2},
        {"loss_type": "grpo", "scale_rewards": "batch", "entropy_coef": 0.02, "num_generations": 8},
    ],
)
def test_two_processes_give_the_numbers_of_one(taught, tmp_path, settings):
    taught.save_pretrained(tmp_path / "policy")
    evaluation = {"eval_strategy": "steps", "eval_steps": 3, "per_device_eval_batch_size": 3}
    one = run(tmp_path, 1, per_device_train_batch_size=8, **settings, **evaluation)
    two = run(tmp_path, 2, per_device_train_batch_size=4, **settings, **evaluation)
    assert_same(one, two)
    assert max(r["val/ratio_max"] for r in one if "loss" in r) > 1.1 or settings.get("num_iterations", 1) == 1


@pytest.mark.slow
def test_processes_call_a_sharded_model_equally_often(tmp_path):
    # A call of a sharded model gathers parameters from all processes: one that calls it once more than the others hangs.
    pytest.importorskip("peft")
    on_two("forward_calls.py", tmp_path)
    one, other = (json.loads((tmp_path / f"calls-{rank}.json").read_text()) for rank in (0, 1))
    for algorithm in ("grpo", "ppo"):
        assert one[algorithm]["synchronised"] == other[algorithm]["synchronised"]
        assert one[algorithm]["free"] != other[algorithm]["free"], "the completions do not tell the two ways apart"
