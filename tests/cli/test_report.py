"""``holter report`` as a user types it."""

import json
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import jsonschema
import pytest

from tests.full_disk import disk_of
from tests.patience import PATIENCE

ROOT = Path(__file__).parents[2]
HANDS_ON = ROOT / "examples" / "hands_on.md"


def report(*arguments: str, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "holter", "report", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=PATIENCE, check=False
    )


def test_a_page_is_written_where_it_was_asked_for(tmp_path):
    done = report(str(HANDS_ON), "-o", str(tmp_path / "run.html"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("Wrote ")
    assert (tmp_path / "run.html").read_text(encoding="utf-8").startswith("<!doctype html>")


def test_a_page_without_a_name_goes_beside_the_user(tmp_path):
    assert report(str(HANDS_ON), cwd=tmp_path).returncode == 0
    assert [p.name for p in tmp_path.iterdir()] == ["holter-report.html"]


def test_the_name_of_the_output_says_the_format(tmp_path):
    assert report(str(HANDS_ON), "-o", str(tmp_path / "run.sarif")).returncode == 0
    assert json.loads((tmp_path / "run.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"


def test_json_is_the_answer_of_check():
    schema = json.loads((files("holter.reports") / "check.schema.json").read_text(encoding="utf-8"))
    said = json.loads(report(str(HANDS_ON), "--format", "json").stdout)
    jsonschema.validate(said, schema)
    checked = subprocess.run(
        [sys.executable, "-m", "holter", "check", str(HANDS_ON), "--format", "json"],
        capture_output=True,
        cwd=ROOT,
        timeout=PATIENCE,
        check=False,
    )
    assert said == json.loads(checked.stdout)


def test_markdown_goes_to_standard_output():
    done = report(str(HANDS_ON), "--format", "markdown")
    assert done.returncode == 0
    assert done.stdout.startswith("# ")


def test_several_runs_are_on_one_page(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.md").write_text(HANDS_ON.read_text(encoding="utf-8"), encoding="utf-8")
    out = tmp_path / "runs.md"
    assert report(str(tmp_path / "a.md"), str(tmp_path / "b.md"), "-o", str(out)).returncode == 0
    assert "| run | verdict |" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--lang", "fr"], "Holter speaks en, zh"),
        (["--format", "pdf"], "Invalid value for '--format'"),
        (["-o", "no/such/folder/run.html"], "cannot be written"),
    ],
)
def test_wrong_use_is_one_line_and_exit_code_2(arguments, said):
    done = report(str(HANDS_ON), *arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_what_cannot_be_read_is_named_on_standard_error(tmp_path):
    broken = tmp_path / "broken.jsonl"
    broken.write_bytes(b"\x00\x01\x02")
    done = report(str(HANDS_ON), str(broken), "-o", str(tmp_path / "r.html"))
    assert done.returncode == 2
    assert "broken.jsonl" in done.stderr


def test_a_name_that_means_no_format_is_refused_unless_the_format_is_said(tmp_path):
    out = tmp_path / "run.pdf"
    done = report(str(HANDS_ON), "-o", str(out))
    assert done.returncode == 2
    assert "run.pdf: the name does not say in which format" in done.stderr
    assert not out.exists()
    assert report(str(HANDS_ON), "-o", str(out), "--format", "markdown").returncode == 0


def test_a_folder_is_no_name_of_a_report(tmp_path):
    done = report(str(HANDS_ON), "-o", str(tmp_path))
    assert done.returncode == 2
    assert done.stderr.startswith(f"holter: {tmp_path}: it is a folder; name a file in it, as {tmp_path}/")


def test_half_of_a_report_is_not_left_on_a_full_disk(tmp_path):
    page = tmp_path / "run.html"
    with disk_of(30_000):
        done = report(str(HANDS_ON), "-o", str(page))
    assert done.returncode == 2
    assert "it cannot be written" in done.stderr
    assert not page.exists()
