"""``holter.check``: from paths to diagnoses in one call."""

import subprocess
import sys

import pytest

import holter
from holter.errors import UnknownNameError, UnreadableLogError
from holter.settings import Settings
from tests.patience import PATIENCE

ROWS = "".join(f'{{"step": {n}, "kl": {"NaN" if n > 3 else 0.01}, "reward": 0.5}}\n' for n in range(1, 7))


@pytest.fixture
def log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "log.jsonl").write_text(ROWS)
    return tmp_path / "log.jsonl"


def detectors(checked):
    (diagnosis,) = checked.diagnoses
    return [f.detector for f in diagnosis.findings]


def test_a_log_becomes_a_diagnosis(log):
    checked = holter.check(log)
    assert "not-finite" in detectors(checked)
    assert checked.diagnoses[0].last_good_step == 3
    assert checked.refused == ()


def test_a_log_that_cannot_be_read_is_named_and_the_others_are_read(log):
    checked = holter.check("nothing.jsonl", log)
    assert len(checked.diagnoses) == 1
    assert [r.file for r in checked.refused] == ["nothing.jsonl"]
    with pytest.raises(UnreadableLogError, match=r"nothing\.jsonl: there is no such file"):
        holter.check("nothing.jsonl")


def test_settings_of_the_working_folder_count_unless_others_are_given(log):
    (log.parent / "holter.toml").write_text('[ignore]\nnot-finite = "a test"\n')
    assert "not-finite" not in detectors(holter.check(log))
    (log.parent / "logs").mkdir()
    moved = log.rename(log.parent / "logs" / "log.jsonl")
    assert "not-finite" in detectors(holter.check(moved, settings=Settings()))


def test_the_dialect_can_be_said(log):
    assert holter.check(log, dialect="verl").diagnoses[0].run.dialect == "verl"
    with pytest.raises(UnknownNameError, match="Did you mean verl"):
        holter.check(log, dialect="verll")


def test_reading_imports_no_torch(log):
    code = f"import sys, holter; holter.check({str(log)!r}); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE)
