"""A log that is converted and read again says the same."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner

from holter.cli import holter
from holter.cli.convert import FORMATS
from holter.export.base import ExportError
from holter.export.registry import all_exporters
from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.load import load
from tests.full_disk import disk_of

NAN, INF = math.nan, math.inf
ROWS = [
    {"step": 5, "loss": 0.1, "reward/mean": NAN, "kl": None, "KL散度": -INF, "a, b": 1.0},
    {"step": 10, "loss": -0.0, "reward/mean": 1e-17, "a, b": 2.5},
    {"step": 15, "loss": 1 / 3, "kl": 2.0**60, "KL散度": INF},
    {"step": 20, "reward/mean": 5e-324, "kl": None},
]


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    lines = [json.dumps({"config": {"beta": 0.04, "optim": {"lr": 1e-6}}}), *map(json.dumps, ROWS)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def convert(*arguments):
    return CliRunner().invoke(holter, ["convert", *map(str, arguments)], catch_exceptions=False)


def said(path):
    (log,) = read(Source.of(path))
    out = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        null = [False] * len(column.at) if column.null is None else column.null.tolist()
        for row, value, nothing in zip(column.at.tolist(), column.values.tolist(), null, strict=True):
            out[row][key] = "null" if nothing else repr(value)
    return out, dict(log.config)


def test_json_lines_lose_nothing(log, tmp_path):
    result = convert(log, tmp_path / "out.jsonl")
    assert result.exit_code == 0
    assert "4 rows, 17 values under 6 names" in result.output
    assert "not carried" not in result.output
    assert said(tmp_path / "out.jsonl") == said(log)
    assert b"NaN," not in (tmp_path / "out.jsonl").read_bytes()


def test_csv_loses_the_hyper_parameters_only_and_says_so(log, tmp_path):
    result = convert(log, tmp_path / "out.csv")
    assert "not carried: hyper-parameters of the run: 2" in result.output
    assert said(tmp_path / "out.csv")[0] == said(log)[0]


def test_event_files_hold_what_single_precision_holds_at_the_same_steps(log, tmp_path):
    result = convert(log, tmp_path / "tb", "--to", "tensorboard")
    assert "not carried: that 2 values were null and not absent" in result.output
    assert "digits beyond single precision, in 4 values" in result.output
    (file,) = (tmp_path / "tb").iterdir()
    (events,) = read(Source.of(file))
    assert events.columns["step"].values.tolist() == [5, 10, 15, 20]
    (ours,) = read(Source.of(log))
    for name in ("loss", "reward/mean", "KL散度", "a, b"):
        found, expected = events.columns[name], ours.columns[name]
        assert found.at.tolist() == expected.at.tolist()
        assert np.array_equal(found.values, expected.values.astype(np.float32).astype(float), equal_nan=True)


def test_tensorboard_reads_the_event_file_that_is_written(log, tmp_path):
    module = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    convert(log, tmp_path / "tb", "--to", "tensorboard")
    seen = module.EventAccumulator(str(tmp_path / "tb")).Reload()
    assert set(seen.Tags()["scalars"]) == {"loss", "reward/mean", "kl", "KL散度", "a, b"}
    assert [(e.step, e.value) for e in seen.Scalars("a, b")] == [(5, 1.0), (10, 2.5)]


def test_a_run_folder_gives_the_same_run(log, tmp_path):
    assert convert(log, tmp_path / "run", "--to", "run-folder").exit_code == 0
    (before,), (after,) = load([log]).runs, load([tmp_path / "run"]).runs
    assert after.steps.tolist() == before.steps.tolist()
    assert after.series.keys() == before.series.keys()
    for key, series in before.series.items():
        assert np.array_equal(after.series[key].values, series.values, equal_nan=True)


def test_parquet_comes_back_with_nulls_as_absent(log, tmp_path):
    pytest.importorskip("pyarrow")
    result = convert(log, tmp_path / "out.parquet")
    assert "not carried: that 2 values were null and not absent" in result.output
    expected = [{k: v for k, v in row.items() if v != "null"} for row in said(log)[0]]
    assert said(tmp_path / "out.parquet")[0] == expected


def test_without_pyarrow_parquet_says_what_to_install(log, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(Exception, match=r"pip install 'holter\[parquet\]'"):
        convert(log, tmp_path / "out.parquet")
    (tmp_path / "in.parquet").write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(Exception, match=r"pip install 'holter\[parquet\]'"):
        convert(tmp_path / "in.parquet", tmp_path / "out.csv")


def test_nothing_is_overwritten_and_a_format_must_be_said(log, tmp_path):
    with pytest.raises(Exception, match="it is there already"):
        convert(log, log)
    with pytest.raises(Exception, match="does not say in which format"):
        convert(log, tmp_path / "out.dat")
    with pytest.raises(Exception, match="there is no folder"):
        convert(log, tmp_path / "none" / "out.csv")
    with pytest.raises(Exception, match="there is no such file"):
        convert(tmp_path / "gone.csv", tmp_path / "out.csv")
    assert [p.name for p in tmp_path.iterdir()] == ["log.jsonl"]


def test_several_runs_become_several_files(tmp_path):
    text = "".join(
        f"{{'loss': 0.{i}5, 'reward': 1.{i}, 'epoch': {e}}}\n" for i, e in enumerate((0.1, 0.1, 0.2, 0.1, 0.1))
    )
    (tmp_path / "train.log").write_text(f"training begins\n{text}")
    convert(tmp_path / "train.log", tmp_path / "out.csv")
    assert [said(tmp_path / f"out-{n}.csv")[0][0]["loss"] for n in (1, 2)] == ["0.05", "0.35"]


def test_the_command_offers_every_exporter():
    assert set(FORMATS) == set(all_exporters())


@pytest.mark.parametrize("form", ["jsonl", "csv", "tensorboard", "run-folder"])
def test_half_of_a_log_is_not_left_on_a_full_disk(log, tmp_path, form):
    target = tmp_path / "out"
    with disk_of(20), pytest.raises(ExportError, match="it cannot be written"):
        convert(log, target, "--to", form)
    assert not target.exists()
