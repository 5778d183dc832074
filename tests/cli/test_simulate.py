"""``holter simulate`` as it is typed."""

import json

from click.testing import CliRunner

from holter.cli import holter
from holter.errors import HolterError


def run(*arguments):
    return CliRunner().invoke(holter, ["simulate", *arguments])


def test_writes_a_labelled_run(tmp_path):
    out = tmp_path / "made"
    result = run("--fault", "kl-explosion", "--onset", "20", "--rows", "50", "--seed", "3", "-o", str(out))
    assert result.exit_code == 0, result.output
    assert f"{out / 'log.jsonl'}: 50 rows of grpo, kl-explosion, from step 20 on" in result.output
    assert json.loads((out / "meta.json").read_text())["onset"] == 20


def test_lists_faults_and_families():
    result = run("--list")
    assert result.exit_code == 0
    assert "kl-explosion" in result.output
    assert "slow-start" in result.output


def test_says_what_is_missing_or_impossible(tmp_path):
    assert "name a folder to write to" in run().output
    impossible = run("--fault", "value-divergence", "-o", str(tmp_path))
    assert impossible.exit_code == 2
    assert "cannot happen in grpo" in impossible.output


def test_another_run_is_overwritten_only_by_force_and_the_same_one_is_no_other(tmp_path):
    out = str(tmp_path / "made")
    assert run("--rows", "20", "-o", out).exit_code == 0
    assert run("--rows", "20", "-o", out).exit_code == 0
    refused = run("--rows", "30", "-o", out)
    assert isinstance(refused.exception, HolterError)
    assert "made/log.jsonl: it is there already; choose another folder" in str(refused.exception)
    assert len((tmp_path / "made" / "log.jsonl").read_text().splitlines()) == 20
    assert run("--rows", "30", "-o", out, "--force").exit_code == 0
    assert len((tmp_path / "made" / "log.jsonl").read_text().splitlines()) == 30


def test_a_folder_that_cannot_be_made_is_said(tmp_path):
    (tmp_path / "file").write_text("")
    result = run("--rows", "20", "-o", str(tmp_path / "file" / "made"))
    assert isinstance(result.exception, HolterError)
    assert "it cannot be written (Not a directory)" in str(result.exception)
