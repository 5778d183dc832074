"""The examples run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), [([], "Healthy, as far as this log shows"), (["--hack"], "reward-hacking")])
def test_the_grpo_example_trains_and_reads_its_own_run(words, said, beside_others):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "grpo.py"), "--steps", "40", *words],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        cwd=beside_others,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout


@pytest.mark.slow
def test_the_demo_tells_what_was_planted_from_what_was_found(beside_others):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "demo.py")],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1", "COLUMNS": "200"},
        cwd=beside_others,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    told = done.stdout[done.stdout.index("4. What was planted") :]
    lines = [" ".join(line.split()) for line in told.splitlines()]
    assert "first run nothing nothing" in lines
    sick = [line for line in lines if line.startswith("second run")]
    assert any("reward-hacking since step" in line for line in sick)
    assert "holter: reward-hacking critical" in done.stderr
