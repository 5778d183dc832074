"""Every recipe of CONTRIBUTING.md is carried out on a copy of the tree: its files written, its commands run."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
FILE = re.compile(r"^`(?P<path>(?:src|tests)/[^`]+)`:\n\n(?P<fence>`{3,})\w+\n(?P<text>.*?)^(?P=fence)\n", re.M | re.S)
COMMANDS = re.compile(r"```sh\n(?P<lines>.*?)```", re.S)


def recipes() -> list[tuple[str, str]]:
    # A heading inside a fenced block begins no recipe: only titles that start with "Recipe:" do, and those stand outside.
    starts = [m.start() for m in re.finditer(r"^## Recipe: ", TEXT, re.M)]
    parts = [TEXT[a:b] for a, b in zip(starts, [*starts[1:], len(TEXT)], strict=True)]
    return [(p.splitlines()[0].removeprefix("## Recipe: "), p) for p in parts]


def test_there_is_a_recipe_for_everything_that_can_be_added():
    assert {title for title, _ in recipes()} == {"a detector", "a signal", "a dialect", "a console grammar", "a reader"}


@pytest.mark.slow
@pytest.mark.parametrize("body", [b for _, b in recipes()], ids=[t for t, _ in recipes()])
def test_recipe_works_as_written(body: str, tmp_path: Path):
    for name in ("src", "tests"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    files = list(FILE.finditer(body))
    assert files
    for file in files:
        target = tmp_path / file["path"]
        assert not target.exists(), f"{file['path']} exists already; a recipe only adds files"
        target.write_text(file["text"], encoding="utf-8")
    commands = COMMANDS.findall(body)
    assert commands
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment |= {
        "PYTHONPATH": str(tmp_path / "src"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    for command in commands:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        assert "no tests ran" not in done.stdout
