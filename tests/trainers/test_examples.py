"""The examples run as they stand."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), [([], "Healthy, as far as this log shows"), (["--hack"], "reward-hacking")])
def test_the_grpo_example_trains_and_reads_its_own_run(words, said):
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "grpo.py"), "--steps", "40", *words],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout
