"""The same batch on one process and spread over two: the same numbers."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("two_processes.py")
TIMED = ("time", "throughput", "step_time", "eval", "train_")


def run(folder, processes, **settings):
    words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
    settings = {"output_dir": str(folder / f"out-{processes}"), "max_steps": 3, **settings}
    done = subprocess.run(
        [*words, str(SCRIPT), str(folder), json.dumps(settings)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-3000:]
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
    trained = [[r for r in rows if "loss" in r] for rows in (one, two)]
    assert [r["step"] for r in trained[0]] == [r["step"] for r in trained[1]] == [1, 2, 3]
    for row, other in zip(*trained, strict=True):
        assert row.keys() == other.keys()
        for key, value in row.items():
            if not key.startswith(TIMED):
                assert other[key] == pytest.approx(value, rel=1e-5, abs=1e-5), key
    evaluated = [[r for r in rows if "eval_perplexity" in r] for rows in (one, two)]
    assert [r["eval_perplexity"] for r in evaluated[0]] == pytest.approx(
        [r["eval_perplexity"] for r in evaluated[1]], rel=1e-5
    )


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_processes_call_a_sharded_model_equally_often(tmp_path, algorithm):
    # A call of a sharded model gathers parameters from all processes: one that calls it once more than the others hangs.
    pytest.importorskip("peft")
    counts = {}
    for word in ("synchronised", "free"):
        words = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", "2"]
        done = subprocess.run(
            [*words, str(SCRIPT.with_name("forward_calls.py")), str(tmp_path), algorithm, word],
            env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "ACCELERATE_USE_CPU": "true"},
            capture_output=True,
            text=True,
            timeout=300,
        )
        assert done.returncode == 0, done.stderr[-3000:]
        counts[word] = [int((tmp_path / f"calls-{rank}.json").read_text()) for rank in (0, 1)]
    assert counts["synchronised"][0] == counts["synchronised"][1]
    assert counts["free"][0] != counts["free"][1], "the completions do not tell the two ways apart"
