"""``holter simulate`` as it is typed."""

import json

from click.testing import CliRunner

from holter.cli import holter


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
