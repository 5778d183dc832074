"""A log that was named and not read: every command says it on standard error, in the same words, and ends with 2."""

import json

import pytest
from click.testing import CliRunner

from holter.cli import holter

COMMANDS = {
    "check": ["check"],
    "check, for programs": ["check", "--format", "json"],
    "report": ["report", "--format", "markdown"],
    "compare": ["compare"],
    "keys": ["keys"],
    "keys, for programs": ["keys", "--format", "json"],
    "rules": ["rules", "test"],
}


@pytest.fixture
def logs(tmp_path):
    rows = [json.dumps({"step": s, "reward": s / 30, "kl": 0.001 * s, "loss": 0.1}) for s in range(1, 31)]
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_text("\n".join(rows) + "\n")
    return tmp_path


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_it_is_said_on_standard_error_and_by_the_exit_code(command, logs):
    good, gone = [str(logs / "a.jsonl"), str(logs / "b.jsonl")], str(logs / "gone\x1b]0.jsonl")
    assert CliRunner().invoke(holter, [*command, *good]).exit_code == 0
    result = CliRunner().invoke(holter, [*command, *good, gone])
    assert result.exit_code == 2
    assert result.stderr == f"holter: Not read: {logs}/gone\\x1b]0.jsonl: there is no such file or folder\n"
    assert CliRunner().invoke(holter, [*command, *good]).stderr == ""


def test_of_many_the_first_are_said_unless_all_are_asked_for(logs):
    given = ["check", str(logs / "a.jsonl"), *(str(logs / f"gone{n}") for n in range(8))]
    said = CliRunner().invoke(holter, given).stderr.splitlines()
    assert len(said) == 6
    assert said[-1] == "holter: and 3 more; --verbose shows them all"
    assert len(CliRunner().invoke(holter, [*given, "--verbose"]).stderr.splitlines()) == 8
