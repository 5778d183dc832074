"""``holter compare`` as a user types it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from jsonschema import Draft202012Validator

from holter.cli import holter
from holter.errors import HolterError
from holter.reports import comparison_json

SCHEMA = Path(comparison_json.__file__).with_name("compare.schema.json")


def write(folder: Path, seed: int, *, end: float = 1.0, beta: float = 0.1, name: str = "reward") -> Path:
    """A run folder of another tracker: a configuration is not in it, so names say what is a seed."""
    generator = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    reward = end * (1 - np.exp(-np.arange(80) / 20)) + generator.normal(0, 0.05, 80)
    rows = [
        {"step": i + 1, name: float(r), "kl": beta * i / 800, "num_tokens": 100 * (i + 1)} for i, r in enumerate(reward)
    ]
    (folder / "log.jsonl").write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return folder


def invoke(*args: object):
    return CliRunner().invoke(holter, ["compare", *map(str, args)], catch_exceptions=False)


@pytest.fixture
def sweep(tmp_path):
    for seed in range(3):
        write(tmp_path / f"good-s{seed}", seed)
        write(tmp_path / f"bad-s{seed}", 10 + seed, end=0.5)
    return tmp_path


def test_text_names_the_difference_its_interval_and_its_begin(sweep):
    result = invoke(sweep)
    assert result.exit_code == 0
    assert "good against bad" in result.output
    assert "reward" in result.output
    assert "apart from" in result.output


def test_json_keeps_its_contract(sweep):
    answer = json.loads(invoke(sweep, "--format", "json").output)
    Draft202012Validator(json.loads(SCHEMA.read_text(encoding="utf-8"))).validate(answer)
    assert [g["label"] for g in answer["groups"]] == ["bad", "good"]
    reward = next(d for d in answer["pairs"][0]["differences"] if d["signal"] == "reward")
    assert reward["verdict"] == "higher"
    assert reward["low"] < 0.5 < reward["high"]


def test_a_regression_fails_only_when_asked_to(sweep):
    good, bad = sorted(sweep.glob("good-*")), sorted(sweep.glob("bad-*"))
    held = [part for path in good for part in ("--baseline", path)]
    assert invoke(*held, *bad).exit_code == 0
    assert invoke(*held, *bad, "--fail-on", "regression").exit_code == 1
    held = [part for path in bad for part in ("--baseline", path)]
    assert invoke(*held, *good, "--fail-on", "regression").exit_code == 0


def test_tokens_can_be_the_axis_and_what_is_not_counted_cannot(sweep):
    assert json.loads(invoke(sweep, "--axis", "tokens", "--format", "json").output)["axis"] == "tokens"
    for name in ("episodes", "episode"):
        result = CliRunner().invoke(holter, ["compare", str(sweep), "--axis", name])
        assert "does not count episodes" in str(result.exception)
    for name in ("steps", "step"):
        assert json.loads(invoke(sweep, "--axis", name, "--format", "json").output)["axis"] == "step"


def test_one_run_alone_is_refused_with_the_way_out(tmp_path):
    result = CliRunner().invoke(holter, ["compare", str(write(tmp_path / "only", 1))])
    assert "only one run" in str(result.exception)


def test_no_run_at_all_is_a_usage_error():
    assert CliRunner().invoke(holter, ["compare"]).exit_code == 2


def test_hostile_names_stay_text(tmp_path):
    first = write(tmp_path / "a\x1b[31m", 1, name="re\x1b]8;;http://x\x07ward")
    second = write(tmp_path / "b", 2, name="re\x1b]8;;http://x\x07ward")
    result = invoke(first, second, "--group-by", "none", "--verbose")
    assert "\x1b" not in result.output
    assert "\x07" not in result.output


def test_a_page_is_written_where_it_is_told_and_named_by_its_ending(sweep, tmp_path):
    page = tmp_path / "compare.html"
    result = invoke(sweep, "-o", page)
    assert result.exit_code == 0
    assert result.output.startswith(f"Wrote {page} (")
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_has_a_name_when_none_is_given(sweep, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "Wrote holter-compare.html" in invoke(sweep, "--format", "html").output
    assert (tmp_path / "holter-compare.html").exists()


def test_markdown_goes_to_standard_output_and_keeps_the_gate(sweep):
    good, bad = sorted(sweep.glob("good-*")), sorted(sweep.glob("bad-*"))
    held = [part for path in good for part in ("--baseline", path)]
    result = invoke(*held, *bad, "--format", "markdown", "--fail-on", "regression")
    assert result.exit_code == 1
    assert result.output.startswith("# ✗ bad is worse than baseline")


def test_text_json_and_markdown_go_to_a_file_as_well(sweep, tmp_path):
    for name, begin in (("c.md", "# "), ("c.json", "{"), ("c.txt", " Settings")):
        invoke(sweep, "-o", tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8").startswith(begin)


def test_a_file_that_cannot_be_written_is_an_error_that_names_it(sweep, tmp_path):
    result = CliRunner().invoke(holter, ["compare", str(sweep), "-o", str(tmp_path / "none" / "c.html")])
    assert "c.html: it cannot be written" in str(result.exception)


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_it_speaks_the_language_that_is_asked_for(sweep, form):
    result = invoke(sweep, "--lang", "zh", "--format", form)
    assert "good 对照 bad" in result.output.replace("`", "")
    assert "against" not in result.output
    assert "reward" in result.output


def test_a_run_that_was_named_and_not_read_is_said_and_no_success(sweep):
    missing = sweep / "misspelt"
    assert invoke(*sorted(sweep.glob("good-*")), missing).exit_code == 2
    with pytest.raises(HolterError, match=r"only one run.*Not read: .*misspelt: there is no such file"):
        invoke(sweep / "good-s0", missing)
