"""A package of somebody else, installed as pip would leave it: is found, runs, and is held to the checks of `holter.testing`."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.patience import PATIENCE

HERE = Path(__file__).parent
PACKAGE = HERE / "holter-refusals"
PROJECT = tomllib.loads((PACKAGE / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def install(site: Path, name: str, sources: dict[str, str] | Path, entry_points: dict[str, dict[str, str]]) -> None:
    """What an installer leaves in a site directory: the modules, and their metadata beside them."""
    if isinstance(sources, Path):
        shutil.copytree(sources, site, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    else:
        for file, text in sources.items():
            (site / file).write_text(text, encoding="utf-8")
    metadata = site / f"{name.replace('-', '_')}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n", encoding="utf-8")
    groups = (
        f"[{group}]\n" + "".join(f"{k} = {v}\n" for k, v in points.items()) for group, points in entry_points.items()
    )
    (metadata / "entry_points.txt").write_text("\n".join(groups), encoding="utf-8")


def run(site: Path, *command: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, which has `site` on its path and no cache of what was installed before."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST_")}
    environment["PYTHONPATH"] = str(site)
    environment["PYTHONDONTWRITEBYTECODE"] = "1"
    return subprocess.run(
        [sys.executable, "-m", *command],
        cwd=cwd or site,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "site-packages"
    folder.mkdir()
    return folder


@pytest.fixture
def installed(site):
    install(site, PROJECT["name"], PACKAGE / "src", PROJECT["entry-points"])
    return site


def test_without_the_package_nobody_knows_its_detector(site):
    said = run(site, "holter", "explain", "refusals-rise")
    assert said.returncode == 2
    assert "Nothing is called 'refusals-rise'" in said.stderr


def test_its_detector_signal_and_dialect_are_listed_and_explained(installed):
    assert "refusals-rise" in run(installed, "holter", "list", "detectors").stdout
    assert "acme-rl" in run(installed, "holter", "list", "dialects").stdout
    assert "`refusals-rise` (ACME101)" in run(installed, "holter", "explain", "safety/refusals").stdout
    page = run(installed, "holter", "explain", "refusals-rise").stdout
    assert "ignores runs that refuse less" in page
    assert "Not measured" in page


def test_it_finds_trouble_in_a_log_of_its_own_dialect_in_the_log_s_own_words(installed, tmp_path):
    shares = [2, 3, 2, 4, 3, 5, 40, 50, 60, 70]
    log = tmp_path / "acme.jsonl"
    log.write_text(
        "".join(
            json.dumps({"tick": i, "acme/refused_pct": s, "acme/judge_reward": i / 10}) + "\n"
            for i, s in enumerate(shares, 1)
        )
    )
    checked = run(installed, "holter", "check", "--format", "json", "--fail-on", "warning", str(log))
    assert checked.returncode == 1, checked.stderr
    (found,) = [f for f in json.loads(checked.stdout)["runs"][0]["findings"] if f["detector"] == "refusals-rise"]
    assert (found["code"], found["severity"], found["first_step"], found["raised_step"]) == ("ACME101", "warning", 7, 9)
    assert found["evidence"][0]["metric"] == "acme/refused_pct"


def test_it_can_be_set_like_any_other(installed, tmp_path):
    log = tmp_path / "acme.jsonl"
    rows = ({"tick": i, "acme/refused_pct": 2 + 40 * (i > 6), "acme/judge_reward": 0.5} for i in range(1, 11))
    log.write_text("".join(json.dumps(row) + "\n" for row in rows))
    command = ("holter", "check", "--format", "json", "--fail-on", "never", str(log))
    assert "refusals-rise" in run(installed, *command).stdout
    (tmp_path / "holter.toml").write_text("[detectors.refusals-rise]\nlevel = 0.6\n")
    assert '"refusals-rise"' not in json.dumps(
        json.loads(run(installed, *command, cwd=tmp_path).stdout)["runs"][0]["findings"]
    )


def test_its_own_tests_hold_it_to_what_holter_s_detectors_are_held_to(installed, tmp_path):
    shutil.copytree(PACKAGE / "tests", tmp_path / "tests")
    said = run(installed, "pytest", "-q", "-p", "no:cacheprovider", "tests", cwd=tmp_path)
    assert said.returncode == 0, said.stdout[-3000:]
    assert " passed" in said.stdout


def test_a_package_that_cannot_be_imported_is_named(site):
    install(
        site,
        "broken-rules",
        {"broken_rules.py": "import no_such_module\n"},
        {"holter.detectors": {"broken": "broken_rules"}},
    )
    said = run(site, "holter", "list", "detectors")
    assert said.returncode == 2
    assert "broken-rules" in said.stderr
    assert "no_such_module" in said.stderr
    assert "Traceback" not in said.stderr
