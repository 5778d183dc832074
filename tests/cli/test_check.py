"""``holter check`` as a user types it."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import orjson
import pytest

from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
HANDS_ON = ROOT / "examples" / "hands_on.md"
SCHEMA = json.loads((files("holter.reports") / "check.schema.json").read_text(encoding="utf-8"))


def holter(*arguments: str, stdin: bytes | None = None, cwd: Path = ROOT) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "holter", *arguments]
    return subprocess.run(command, input=stdin, capture_output=True, cwd=cwd, timeout=PATIENCE, check=False)


def answer(*arguments: str, stdin: bytes | None = None) -> dict:
    done = holter("check", "--format", "json", "--fail-on", "never", *arguments, stdin=stdin)
    assert done.returncode == 0, done.stderr.decode()
    said = json.loads(done.stdout, parse_constant=lambda c: pytest.fail(f"{c} is not strict JSON"))
    jsonschema.validate(said, SCHEMA)
    return said


def test_exit_code_follows_fail_on():
    assert holter("check", str(HANDS_ON), "--fail-on", "never").returncode == 0
    assert holter("check", str(HANDS_ON), "--fail-on", "warning").returncode == 1
    assert holter("check", str(HANDS_ON), "--fail-on", "info").returncode == 1


def test_healthy_run_exits_with_0():
    assert holter("check", str(ROOT / "examples/runs/healthy-grpo"), "--fail-on", "warning").returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["check", "no/such/file.jsonl"], b"no/such/file.jsonl"),
        (["check", "--select", "kl-runawy", str(HANDS_ON)], b"Did you mean kl-runaway"),
        (["check", "--ignore", "kl-runaway", str(HANDS_ON)], b"say why"),
        (["check", "--dialect", "trl-grop", str(HANDS_ON)], b"Did you mean trl-grpo"),
        (["check", "--fail-on", "sometimes", str(HANDS_ON)], b"sometimes"),
        (["check"], b"LOG"),
        (["chekc"], b"There is no command chekc. Did you mean check?"),
        (["rules", "tset"], b"Did you mean test?"),
        (["quux"], b"quux"),
    ],
    ids=lambda v: " ".join(v)[:40] if isinstance(v, list) else "",
)
def test_wrong_usage_exits_with_2_and_says_the_way_out(arguments: list[str], says: bytes):
    done = holter(*arguments)
    assert done.returncode == 2
    assert says in done.stderr
    assert b"Traceback" not in done.stderr


def test_json_keeps_numbers_that_are_not_finite_as_strings():
    rows = [
        {"step": i, "reward": 0.1 * i, "loss": 0.5, "grad_norm": float("nan") if i > 6 else 1.0} for i in range(1, 12)
    ]
    text = "\n".join(json.dumps(r) for r in rows) + "\n"
    said = answer("-", stdin=text.encode())
    values = [v for f in said["runs"][0]["findings"] for e in f["evidence"] for v in e["values"]]
    assert "NaN" in values


def test_standard_input_is_read():
    said = answer("-", stdin=HANDS_ON.read_bytes())
    assert said["runs"][0]["rows"] == 5


def test_names_of_a_hostile_log_stay_dead():
    row = {"step": 1, "loss": 1.0, "reward": 1.0, "\x1b[31m[bold]x[/bold]\x07": 2.0}
    text = "\n".join(json.dumps({**row, "step": i}) for i in range(1, 5)) + "\n"
    done = holter("check", "-", stdin=text.encode())
    assert b"\x1b" not in done.stdout
    assert b"\x07" not in done.stdout
    assert b"[bold]x[/bold]" in done.stdout


def test_settings_file_sets_limits_and_ignores_with_a_reason(tmp_path: Path):
    (tmp_path / "holter.toml").write_text(
        'fail-on = "info"\n[ignore]\nkl-runaway = "the KL target was raised on purpose"\n', encoding="utf-8"
    )
    done = holter("check", str(HANDS_ON), cwd=tmp_path)
    assert b"the KL target was raised on purpose" in done.stdout
    said = json.loads(holter("check", str(HANDS_ON), "--format", "json", cwd=tmp_path).stdout)
    assert "kl-runaway" not in {f["detector"] for f in said["runs"][0]["findings"]}
    assert said["runs"][0]["ignored"] == {"kl-runaway": "the KL target was raised on purpose"}


def test_a_limit_out_of_range_is_refused(tmp_path: Path):
    (tmp_path / "holter.toml").write_text("[detectors.kl-runaway]\nz = -1\n", encoding="utf-8")
    done = holter("check", str(HANDS_ON), cwd=tmp_path)
    assert done.returncode == 2
    assert b"z = -1 is outside" in done.stderr


def test_neither_import_nor_check_loads_torch_or_a_tracker():
    code = (
        "import sys, click.testing, holter, holter.cli;"
        f"r = click.testing.CliRunner().invoke(holter.cli.holter, ['check', {str(HANDS_ON)!r}, '--fail-on', 'never']);"
        "assert r.exit_code == 0, r.output;"
        "bad = {'torch', 'transformers', 'wandb', 'tensorboard', 'trl', 'accelerate'} & set(sys.modules); assert not bad, bad"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)


def test_help_names_every_command():
    said = holter("--help").stdout.decode()
    for command in ("check", "explain", "list"):
        assert command in said


def test_same_answer_twice():
    assert orjson.dumps(answer(str(HANDS_ON))) == orjson.dumps(answer(str(HANDS_ON)))


def test_a_log_that_was_named_and_not_read_is_no_success(tmp_path: Path):
    (tmp_path / "notes.txt").write_text("no log\n")
    good = str(tmp_path / "run.csv")
    (tmp_path / "run.csv").write_text("step,reward,kl\n1,0.1,0.01\n2,0.2,nan\n3,0.3,0.03\n")
    assert holter("check", good, str(tmp_path / "misspelt.jsonl"), "--fail-on", "never").returncode == 2
    assert holter("check", good, str(tmp_path / "notes.txt"), "--fail-on", "never").returncode == 2
    assert holter("check", good, str(tmp_path / "misspelt.jsonl"), "--fail-on", "warning").returncode == 1
    assert holter("check", str(tmp_path), "--fail-on", "never").returncode == 0, (
        "what lies beside a log may be anything"
    )


@pytest.mark.parametrize(
    ("arguments", "missing", "says"),
    [
        (["train", "grpo", "settings.yaml"], "torch", b"holter: "),
        (["serve"], "starlette", b"holter: the dashboard needs its extra: pip install 'holter[dashboard]'"),
    ],
    ids=["train", "serve"],
)
def test_a_command_without_its_extra_names_it_and_exits_with_2(arguments, missing, says, tmp_path: Path):
    (tmp_path / "settings.yaml").write_text("output_dir: out\n")
    command = ["holter", *arguments]
    code = f"import sys; sys.modules[{missing!r}] = None; sys.argv = {command}; from holter.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, cwd=tmp_path, timeout=PATIENCE, check=False
    )
    assert done.returncode == 2
    assert done.stderr.startswith(says)
    assert f"holter[{'train' if missing == 'torch' else 'dashboard'}]".encode() in done.stderr
    assert b"Traceback" not in done.stderr
