"""The example runs as it stands."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

EXAMPLE = Path(__file__).parents[3] / "examples" / "ppo.py"


@pytest.mark.slow
@pytest.mark.parametrize(("words", "said"), [([], "Healthy"), (["--hack", "--steps", "25"], "reward-hacking")])
def test_the_ppo_example_trains_and_reads_its_own_run(words, said, beside_others):
    done = subprocess.run(
        [sys.executable, str(EXAMPLE), *words],
        env={**os.environ, "OMP_NUM_THREADS": "1", "HF_HUB_OFFLINE": "1"},
        cwd=beside_others,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert said in done.stdout
