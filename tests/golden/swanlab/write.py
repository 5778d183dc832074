"""Writes the run files of this folder with SwanLab's own client. Run it as ``python tests/golden/swanlab/write.py NAME``.

NAME is a folder here, one for each form: ``protocol-buffers`` (0.10), ``json-records`` (0.6) or ``local-store`` (0.4, with
peewee before 3.17), with that version of SwanLab installed.
"""

from __future__ import annotations

import math
import shutil
import sys
import tempfile
from pathlib import Path

import swanlab

HERE = Path(__file__).parent


STORE = "local-store"


def log(folder: str, mode: str) -> None:
    swanlab.init(
        project="rlhf",
        experiment_name="grpo-tiny",
        mode=mode,
        logdir=folder,
        config={"learning_rate": 1e-6, "beta": 0.04, "loss_type": "dapo", "peft": {"r": 16}},
    )
    for step in range(6):
        row = {
            "train/loss": 0.5 / (step + 1),
            "train/reward": math.nan if step == 3 else 0.0 if step == 2 else 0.1 * step,
            "train/reward_std": 0.2,
            "train/kl": math.inf if step == 4 else 0.01 * step,
            "train/completions/mean_length": 100 + step,
            "train/global_step": step,
        }
        swanlab.log(row, step=step)
    swanlab.log({"eval/reward": 0.7, "sample": swanlab.Text("hello")}, step=5)
    swanlab.finish()


if __name__ == "__main__":
    target = HERE / sys.argv[1]
    folder = tempfile.mkdtemp()
    log(folder, "local" if target.name == STORE else "offline")
    shutil.rmtree(target, ignore_errors=True)
    if target.name == STORE:
        aside = shutil.ignore_patterns(".gitignore", "console", "media", "requirements.txt", "swanlab-metadata.json")
        shutil.copytree(folder, target, ignore=aside)
        sys.exit()
    (target / "files").mkdir(parents=True)
    for written in Path(folder).rglob("*.swanlab"):
        shutil.copy(written, target / ("backup.swanlab" if written.name == "backup.swanlab" else "run-tiny.swanlab"))
    for written in Path(folder).rglob("config.yaml"):
        shutil.copy(written, target / "files")
