"""What holds for every reader, on any bytes."""

import csv
import io
import json
import math
import random

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import all_readers, read
from holter.runs.canonical import canonical

QUICK = settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
NAMES = (
    "run.jsonl",
    "run.json",
    "trainer_state.json",
    "run.csv",
    "run.tsv",
    "run.md",
    "run.log",
    "events.out.tfevents.1.h",
    "run",
)
READERS = sorted(all_readers().values(), key=lambda r: r.name)

NUMBERS = st.floats(allow_nan=True, allow_infinity=True)
KEYS = st.sampled_from(("step", "loss", "reward/mean", "kl", "KL散度", "a b"))
RECORDS = st.lists(
    st.dictionaries(KEYS, NUMBERS | st.none() | st.integers() | st.booleans() | st.text(max_size=8)), max_size=8
)

RECORD_ROWS = [{"step": i, "loss": i / 7, "kl": math.nan if i == 3 else None if i == 2 else i * 1e-5} for i in range(6)]
SAMPLES = (
    "\n".join(map(json.dumps, RECORD_ROWS)) + "\n",
    "\n".join(map(repr, RECORD_ROWS)) + "\n",
    json.dumps({"global_step": 5, "log_history": RECORD_ROWS, "max_steps": 9}, indent=2),
    json.dumps(RECORD_ROWS),
    json.dumps({"step": [1, 2, 3], "loss": [0.5, None, 0.25]}),
    "step,loss,note\n" + "".join(f'{i},{i / 7},"a, {i}"\n' for i in range(6)),
    "step;loss;kl\n" + "".join(f"{i};0,{i};1,5\n" for i in range(6)),
    "Step,a - b - loss,a - b - loss__MIN\n" + "".join(f"{i},{i}.5,\n" for i in range(6)),
    "hello\n\n| step | KL散度 |\n|---|---|\n" + "".join(f"| {i} | {i}% |\n" for i in range(6)),
    "┏━━┓\n┃ step ┃ loss ┃\n┡━━┩\n" + "".join(f"│ {i} │ {i}.5 │\n" for i in range(6)),
    "step  Mean Reward\n" + "".join(f"{i}   {i}.25\n" for i in range(6)),
)


def consistent(log):
    assert log.name
    assert log.reader in all_readers()
    if log.lines is not None:
        assert log.lines.shape == (log.rows,)
        assert (log.lines >= 1).all()
    for name, column in log.columns.items():
        assert isinstance(name, str)
        assert column.at.dtype == np.int64
        assert column.values.dtype == np.float64
        assert column.at.shape == column.values.shape
        assert (np.diff(column.at) > 0).all()
        assert column.at[0] >= 0
        assert column.at[-1] < log.rows
        if column.null is not None:
            assert column.null.shape == column.at.shape
            assert np.isnan(column.values[column.null]).all()


def survives(reader, name, data):
    """Either logs that are consistent and become runs, or a refusal that names the file."""
    source = Source(name, data=data)
    assert reader.recognises(name, source.head()) in (True, False)
    try:
        for log in reader.read(source):
            consistent(log)
            canonical(log)
    except UnreadableLogError as error:
        refusal = str(error)
    else:
        return
    assert name in refusal


@pytest.mark.parametrize("reader", READERS, ids=lambda r: r.name)
@given(st.binary(max_size=300), st.sampled_from(NAMES))
@QUICK
def test_any_bytes_are_read_or_refused(reader, data, name):
    survives(reader, name, data)


@pytest.mark.parametrize("reader", READERS, ids=lambda r: r.name)
@given(st.text(alphabet="{}[]\"',:;|\t\n\r 01.e-+%NaInfstepklo步损\\\ud83d\x00", max_size=200), st.sampled_from(NAMES))
@QUICK
def test_any_text_is_read_or_refused(reader, text, name):
    survives(reader, name, text.encode("utf-8", "surrogatepass"))


@pytest.mark.parametrize("reader", READERS, ids=lambda r: r.name)
@given(st.sampled_from(SAMPLES), st.integers(0, 2**32))
@QUICK
def test_a_damaged_log_is_read_or_refused(reader, sample, seed):
    chance = random.Random(seed)
    data = bytearray(sample.encode())
    for _ in range(chance.choice((1, 2, 5))):
        at = chance.randrange(len(data) + 1)
        match chance.randrange(4):
            case 0:
                data[at : at + 1] = bytes([chance.randrange(256)])
            case 1:
                del data[at : at + chance.choice((1, 5, 50))]
            case 2:
                data[at:at] = data[max(0, at - chance.choice((3, 30))) : at]
            case _:
                other = chance.choice(SAMPLES).encode()
                data[at:at] = other[chance.randrange(len(other)) :][:40]
    survives(reader, chance.choice(NAMES), bytes(data))


def rows_of(text_or_bytes, name):
    data = text_or_bytes if isinstance(text_or_bytes, bytes) else text_or_bytes.encode()
    try:
        (log,) = read(Source(name, data=data))
    except UnreadableLogError:
        return []
    rows = [{} for _ in range(log.rows)]
    for key, column in log.columns.items():
        for row, value in zip(column.at.tolist(), column.values.tolist(), strict=True):
            rows[row][key] = repr(value)
    return rows


@given(st.integers(0, 400))
@QUICK
def test_a_jsonl_log_cut_at_any_byte_still_gives_its_whole_lines(cut):
    text = SAMPLES[0].encode()[:cut]
    whole = rows_of(text[: text.rfind(b"\n") + 1], "run.jsonl")
    found = rows_of(text, "run.jsonl")
    assert found[: len(whole)] == whole
    assert len(found) <= len(whole) + 1


@given(st.integers(0, 2000), st.permutations(("loss", "lr", "reward")))
@QUICK
def test_a_csv_log_cut_at_any_byte_says_nothing_false(tmp_path_factory, cut, order):
    """The last cell is the dangerous one: 1e-05 cut to 1 is a number too."""
    written = [
        {"step": i, "loss": repr(i / 7), "lr": repr(1e-5 / (i + 1)), "reward": f"{i / 4:.2f}"} for i in range(20)
    ]
    names = ["step", *order]
    text = ",".join(names) + "\n" + "".join(",".join(str(r[n]) for n in names) + "\n" for r in written)
    path = tmp_path_factory.mktemp("cut") / "run.csv"
    path.write_text(text[:cut], encoding="utf-8")
    try:
        (log,) = read(Source.of(path))
    except UnreadableLogError:
        return
    whole = text[:cut].count("\n") - 1
    assert log.rows in (whole, whole + 1)
    for name, column in log.columns.items():
        assert len(column.at) >= whole
        expected = [float(written[row][name]) for row in column.at.tolist()]
        assert column.values.tolist() == pytest.approx(expected, rel=1e-12, abs=0)


@given(st.integers(0, 2000))
@QUICK
def test_a_trainer_state_cut_at_any_byte_gives_its_whole_records(cut):
    text = SAMPLES[2]
    found = rows_of(text[:cut], "trainer_state.json")
    assert found == rows_of(text, "trainer_state.json")[: len(found)]
    assert len(found) >= text[:cut].count("\n    },")


@given(st.lists(NUMBERS, min_size=1, max_size=20))
@QUICK
def test_floats_come_back_bit_by_bit_from_json_lines(values):
    text = "".join(json.dumps({"step": i, "kl": v}) + "\n" for i, v in enumerate(values))
    (log,) = read(Source("run.jsonl", data=text.encode()))
    expected = [math.nan if math.isnan(v) else v for v in values]
    assert log.columns["kl"].values.tobytes() == np.array(expected).tobytes()
    assert log.columns["kl"].null is None


@given(st.lists(st.none() | NUMBERS, min_size=1, max_size=12), st.sampled_from(",\t;"))
@QUICK
def test_floats_come_back_from_delimited_text_and_empty_cells_are_absent(values, delimiter):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter)
    writer.writerows([("step", "kl", "loss"), *((i, "" if v is None else repr(v), 0.5) for i, v in enumerate(values))])
    (log,) = read(Source("run.csv", data=out.getvalue().encode()))
    kept = {i: repr(v) for i, v in enumerate(values) if v is not None}
    column = log.columns.get("kl")
    found = {} if column is None else dict(zip(column.at.tolist(), map(repr, column.values.tolist()), strict=True))
    assert found == kept


@given(RECORDS)
@example([{"step": "", "KL散度": ";", "loss": 0.0, "kl": None}, {"kl": 0.0, "KL散度": ":"}])
@QUICK
def test_batches_of_rows_give_the_columns_that_one_row_after_another_gives(records):
    """A second, naive implementation of what JSON lines mean."""
    text = "".join(json.dumps(r) + "\n" for r in records)
    expected: dict[str, list] = {}
    for record in records:
        for key, value in record.items():
            if isinstance(value, float | int):
                with_number = True
                try:
                    number = float(value)
                except OverflowError:
                    number = math.inf if value > 0 else -math.inf
            else:
                with_number, number = value is None, math.nan
            if with_number:
                expected.setdefault(key, []).append(repr(number))
    try:
        (log,) = read(Source("run.jsonl", data=text.encode()))
    except UnreadableLogError:
        return
    for key, column in log.columns.items():
        texts = any(isinstance(r.get(key), str) for r in records)
        if not texts and not key.startswith(("eval_",)) and not key.endswith("_std"):
            assert list(map(repr, column.values.tolist())) == expected[key]
