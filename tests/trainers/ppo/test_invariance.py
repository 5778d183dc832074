"""The same responses, cut, padded or spread in another way: the same numbers."""

import json
import math
import random
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from holter.trainers import buffer, ppo, value_model
from holter.trainers.scoring import sequences
from holter.trainers.value_model import PolicyAndValue, score_and_value
from tests.patience import PATIENCE

from . import parity_world
from .replay import replay, rows_of

CLOCK = ("time/", "step_time", "throughput/", "eps", "epoch", "step")


def updates(count=2):
    """Responses of all lengths, some of them ended."""
    r = random.Random(3)
    prompts = parity_world.prompts()
    out = []
    for number in range(count):
        mine = prompts[number * parity_world.BATCH : (number + 1) * parity_world.BATCH]
        responses = [[r.randrange(2, 2 + parity_world.WORDS) for _ in range(r.randint(1, 11))] for _ in mine]
        ended = [[*row, parity_world.EOS] if i % 3 else row for i, row in enumerate(responses)]
        out.append({"prompts": mine, "responses": ended})
    return out


def told(rows):
    return [{k: v for k, v in row.items() if not k.startswith(CLOCK)} for row in rows]


def assert_same(some, others):
    assert len(some) == len(others)
    for one, other in zip(told(some), told(others), strict=True):
        assert one.keys() == other.keys()
        unlike = {k: (v, other[k]) for k, v in one.items() if not math.isclose(v, other[k], rel_tol=1e-5, abs_tol=1e-5)}
        assert not unlike


SETTINGS = {
    "num_ppo_epochs": 2,
    "max_grad_norm": 1.0,
    "kl_target": 0.5,
    "kl_horizon": 100,
    "whiten_rewards": True,
    "gamma": 0.99,
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """The rows of a run whose mini-batch goes through the model in one piece."""
    return rows_of(replay(tmp_path_factory.mktemp("whole"), updates(), **SETTINGS))


@pytest.mark.parametrize("size", [4, 2, 1])
def test_micro_batches_do_not_matter(size, whole, tmp_path):
    steps = parity_world.BATCH // size
    cut = {"per_device_train_batch_size": size, "gradient_accumulation_steps": steps}
    assert_same(rows_of(replay(tmp_path, updates(), **SETTINGS, **cut)), whole)


def test_the_size_of_passes_without_gradients_does_not_matter(whole, tmp_path):
    assert_same(rows_of(replay(tmp_path, updates(), **SETTINGS, local_rollout_forward_batch_size=3)), whole)


@pytest.mark.parametrize("side", ["left", "right"])
def test_padding_instead_of_packing_does_not_matter(side, whole, tmp_path, monkeypatch):
    seen = []

    def padded(*args, **options):
        seen.append(options["padding"])
        return sequences(*args, **{**options, "padding": side})

    for module in (buffer, ppo):
        monkeypatch.setattr(module, "sequences", padded)
    assert_same(rows_of(replay(tmp_path, updates(), **SETTINGS)), whole)
    assert set(seen) == {"packed"}


@pytest.mark.parametrize("shared", [True, False])
def test_values_and_logprobs_do_not_depend_on_the_padding(shared):
    models = parity_world.models("ended")
    both = PolicyAndValue(models["model"], None if shared else models["value_model"])
    if shared:
        torch.nn.init.normal_(both.value_head.weight)
    prompts, responses = updates(1)[0].values()
    device = torch.device("cpu")
    right = score_and_value(both, sequences(prompts, responses, device), temperature=0.7)
    left = score_and_value(both, sequences(prompts, responses, device, padding="left"), temperature=0.7)
    torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-5)
    alone = value_model.value(both, sequences(prompts, responses, device))
    torch.testing.assert_close(alone, right[1], rtol=1e-6, atol=1e-6)
    for i, (prompt, response) in enumerate(zip(prompts, responses, strict=True)):
        single, values = score_and_value(both, sequences([prompt], [response], device), temperature=0.7)
        torch.testing.assert_close(right[0].logprobs[i, : len(response)], single.logprobs[0], rtol=1e-5, atol=1e-5)
        torch.testing.assert_close(right[1][i, : len(response)], values[0], rtol=1e-5, atol=1e-5)


@pytest.mark.slow
def test_two_processes_do_not_matter(whole, tmp_path):
    script = Path(__file__).with_name("two_processes.py")
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc_per_node=2", str(script), str(tmp_path)]
    subprocess.run([sys.executable, "-W", "ignore", *command], check=True, capture_output=True, timeout=PATIENCE)
    spread = json.loads((tmp_path / "rows.json").read_text(encoding="utf-8"))
    assert_same(spread, whole)
