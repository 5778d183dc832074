"""Whatever a log holds, the file that it is converted to says the same, or what it cannot say is said."""

import math
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holter.export.base import ExportError
from holter.export.registry import all_exporters
from holter.readers.base import ColumnBuilder, RawLog, Source
from holter.readers.registry import read

ABSENT = object()
NAMES = ("loss", "reward/mean", "kl", "KL散度", "a, b", 'quo"te', "x y", "train/entropy", "response_length/max", "p0.9")
VALUES = st.one_of(
    st.floats(),
    st.sampled_from([math.nan, math.inf, -math.inf, None, ABSENT, ABSENT, 0.0, -0.0, 5e-324, 1e300, 0.1, 1 / 3]),
)
ROWS = st.lists(st.tuples(*[VALUES] * len(NAMES)), min_size=1, max_size=8)


def log_of(rows):
    """A log whose steps are the tens, each of whose rows has a loss."""
    builder = ColumnBuilder()
    for number, row in enumerate(rows, start=1):
        held = {name: value for name, value in zip(NAMES, row, strict=True) if value is not ABSENT}
        builder.row([("step", 10.0 * number), *{"loss": 0.5, **held}.items()], number)
    return RawLog(name="made", reader="made", rows=len(builder), columns=builder.columns())


def said(log):
    """Rows as dicts: None for null, the value's repr otherwise, so that NaN is NaN and -0.0 is not 0.0."""
    rows = [{} for _ in range(log.rows)]
    for name, column in log.columns.items():
        nulls = [False] * len(column.at) if column.null is None else column.null.tolist()
        for row, value, null in zip(column.at.tolist(), column.values.tolist(), nulls, strict=True):
            rows[row][name] = None if null else repr(value)
    return rows


def converted(log, form, suffix=""):
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder) / f"out{suffix}"
        steps = log.columns["step"].values
        written = all_exporters()[form].write(log, steps, target)
        (file,) = (p for p in ([target] if target.is_file() else target.iterdir()) if p.name != "run.json")
        (back,) = read(Source.of(file))
        return back, " ".join(written.lost)


def without_nulls(rows):
    return [{name: value for name, value in row.items() if value is not None} for row in rows]


@given(rows=ROWS)
def test_json_lines_hold_everything(rows):
    log = log_of(rows)
    back, lost = converted(log, "jsonl", ".jsonl")
    assert said(back) == said(log)
    assert not lost


@given(rows=ROWS)
def test_csv_holds_everything_of_the_rows(rows):
    log = log_of(rows)
    back, lost = converted(log, "csv", ".csv")
    assert said(back) == said(log)
    assert not lost


def test_a_name_that_csv_cannot_keep_is_refused_and_not_lost(tmp_path):
    builder = ColumnBuilder()
    builder.row([("step", 1.0), ("loss", 0.5), ("0.9", 0.25)], 1)
    log = RawLog(name="made", reader="made", rows=1, columns=builder.columns())
    with pytest.raises(ExportError, match=r"take \.jsonl"):
        all_exporters()["csv"].write(log, log.columns["step"].values, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


@given(rows=ROWS)
def test_a_run_folder_holds_everything(rows):
    log = log_of(rows)
    back, lost = converted(log, "run-folder")
    assert [{n: v for n, v in row.items() if n != "time"} for row in said(back)] == said(log)
    assert not lost


@given(rows=ROWS)
def test_parquet_takes_nulls_for_absent_and_says_so(rows):
    pytest.importorskip("pyarrow")
    log = log_of(rows)
    back, lost = converted(log, "parquet", ".parquet")
    assert said(back) == without_nulls(said(log))
    nulls = sum(value is None for row in said(log) for value in row.values())
    assert (f"that {nulls} values were null" in lost) == (nulls > 0)


@given(rows=ROWS)
def test_event_files_hold_single_precision_and_say_how_many_digits_were_lost(rows):
    log = log_of(rows)
    back, lost = converted(log, "tensorboard")
    rounded = 0
    for name, column in log.columns.items():
        keep = np.ones(len(column.at), bool) if column.null is None else ~column.null
        if not keep.any():
            assert name not in back.columns
            continue
        found = back.columns[name]
        with np.errstate(over="ignore"):
            limited = np.where(
                np.isfinite(column.values), np.clip(column.values, -3.4028235e38, 3.4028235e38), column.values
            )
            single = limited.astype(np.float32).astype(float)
        assert found.at.tolist() == column.at[keep].tolist()
        assert np.array_equal(found.values, single[keep], equal_nan=True)
        rounded += int(np.sum((single != column.values) & ~np.isnan(column.values)))
    told = re.search(r"digits beyond single precision, in (\d+) values", lost)
    assert (int(told[1]) if told else 0) == rounded
