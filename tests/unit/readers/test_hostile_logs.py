"""Logs that would break a careless reader: too deep, too wide, too long, half binary, half written."""

import json
import tracemalloc

import numpy as np
import pytest

from holter.errors import UnreadableLogError
from holter.readers import table
from holter.readers.base import Source
from holter.readers.registry import read


def only(data, name="run.jsonl"):
    (log,) = read(Source(name, data=data if isinstance(data, bytes) else data.encode()))
    return log


def values(log, name):
    return log.columns[name].values.tolist()


def said(log):
    return [str(s) for s in log.skipped]


GOOD = '{"step": 1, "loss": 0.5}\n'


@pytest.mark.parametrize(
    ("deep", "why"),
    [
        ('{"a":' * 500 + "1" + "}" * 500, "objects are nested more than 16 deep"),
        ('{"a":' * 100_000 + "1" + "}" * 100_000, "nested too deeply"),
        ("[" * 100_000, "nested too deeply"),
    ],
)
def test_deep_nesting_costs_a_line_and_no_more(deep, why):
    log = only(GOOD + deep + "\n" + '{"step": 2, "loss": 0.25}\n')
    assert values(log, "loss") == [0.5, 0.25]
    assert len(log.skipped) == 1
    assert log.skipped[0].line == 2
    assert why in log.skipped[0].why


@pytest.mark.parametrize("written", ["nan", "-nan", "NaN", "-nan(ind)"])
def test_a_nan_that_no_json_knows_costs_no_row(written):
    log = only(GOOD + f'{{"step": 2, "loss": {written}, "kl": 0.1, "done": true}}\n')
    assert not log.skipped
    np.testing.assert_array_equal(values(log, "loss"), [0.5, np.nan])
    assert values(log, "kl") == [0.1]


def test_a_line_that_is_nothing_is_named_by_what_is_wrong_with_its_json():
    log = only(GOOD + '{"step": 2, "lo{"step": 3, "loss": 0.5}\n' + GOOD.replace("1", "4"))
    assert values(log, "step") == [1.0, 4.0]
    assert said(log) == ["run.jsonl:2: not JSON (unexpected character, expected ':' after key)"]


def test_a_document_of_brackets_is_refused():
    for body in ("[" * 100_000, '[{"a":' * 50_000, '{"log_history": ' + "[" * 100_000):
        with pytest.raises(UnreadableLogError, match=r"run\.json"):
            read(Source("run.json", data=body.encode()))


def test_a_million_names_are_refused_before_they_take_the_memory(monkeypatch):
    monkeypatch.setattr(table, "MOST_COLUMNS", 1000)
    lines = "".join(json.dumps({"step": i, **{f"prompt_{i}_{j}": 1.0 for j in range(100)}}) + "\n" for i in range(100))
    with pytest.raises(UnreadableLogError, match=r"run\.jsonl: it uses more than 1,000 different names"):
        read(Source("run.jsonl", data=lines.encode()))


def test_long_texts_beside_numbers_cost_no_more_than_themselves():
    """NumPy would make an array of fixed-width text of them, as wide as the longest."""
    lines = "".join(json.dumps({"step": i, "loss": 0.5, "completion": "x" * 5000}) + "\n" for i in range(1000)).encode()
    tracemalloc.start()
    log = only(lines)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.rows == 1000
    assert peak < 4 * len(lines)


def test_rows_with_other_names_each_time_are_put_together_in_order():
    rows = [{"step": i, f"layer_{i % 7}/norm": i / 2, **({"loss": i / 4} if i % 3 else {})} for i in range(200)]
    log = only("".join(json.dumps(r) + "\n" for r in rows))
    assert values(log, "step") == list(range(200))
    for key in {k for r in rows for k in r}:
        assert log.columns[key].at.tolist() == [i for i, r in enumerate(rows) if key in r]
        assert values(log, key) == [r[key] for r in rows if key in r]


def test_a_change_of_names_across_a_batch_keeps_every_row(monkeypatch):
    rows = [
        {"step": i, "loss": None if i % 5 == 0 else i / 3} | ({"kl": "NaN"} if i % 11 == 0 else {}) for i in range(300)
    ]
    text = "".join(json.dumps(r) + "\n" for r in rows)
    whole = only(text)
    for size in (1, 7, 100):
        monkeypatch.setattr(table, "_BATCH", size)
        log = only(text)
        for key, column in whole.columns.items():
            assert np.array_equal(column.at, log.columns[key].at)
            assert np.array_equal(column.values, log.columns[key].values, equal_nan=True)
            assert (column.null is None) == (log.columns[key].null is None)
            assert column.null is None or np.array_equal(column.null, log.columns[key].null)


def test_one_name_twice_in_a_record_keeps_the_last():
    log = only('{"step": 1, "a/b": 1, "a": {"b": 2}, "loss": 3}\n')
    assert values(log, "a/b") == [2.0]


def test_bytes_that_are_no_utf8_are_replaced_and_counted():
    log = only(GOOD.encode() + b'{"step": 2, "note": "\xff\xfe", "loss": 0.25}\n')
    assert values(log, "loss") == [0.5, 0.25]
    assert "lines with bytes that are not UTF-8, which were replaced: 1" in log.notes
    log = only(b"step,loss,note\n1,0.5,\xe9t\xe9\n2,0.25,x\n", "run.csv")
    assert values(log, "loss") == [0.5, 0.25]
    assert "lines with bytes that are not UTF-8, which were replaced: 1" in log.notes


def test_names_can_be_printed_whatever_stands_in_them():
    log = only('{"step": 1, "\\ud83d": 2, "a\\u001b[31m\\nb": 3}\n')
    for name in log.columns:
        assert name.isprintable()
        name.encode("utf-8")


def test_a_block_of_zeros_in_the_middle_costs_a_line():
    log = only(GOOD.encode() + b"\0" * 500 + b"\n" + b'{"step": 2, "loss": 0.25}\n')
    assert values(log, "loss") == [0.5, 0.25]
    assert log.skipped[0].line == 2


def test_numbers_too_large_for_a_float_are_infinite_and_integers_keep_their_digits():
    log = only(
        '{"step": 9007199254740992, "loss": 1e400, "num_tokens": ' + "9" * 400 + ', "kl": 18446744073709551616}\n'
    )
    assert values(log, "step") == [2.0**53]
    assert values(log, "num_tokens") == [float("inf")]
    assert values(log, "kl") == [2.0**64]


def test_digits_without_end_are_looked_at_once():
    """A pattern that backtracks would take hours over them."""
    for tail in ("", "x", ".x", "ex", ",x"):
        log = only(
            "step,loss,kl\n1,0.5,0.1\n2," + "1" * 300_000 + tail + ",0.2\n"
            if tail != ",x"
            else "step;loss\n1;1\n2;2\n",
            "run.csv",
        )
        assert log.columns["step"].at[0] == 0


def test_hundreds_of_broken_lines_are_counted_and_not_listed():
    log = only(GOOD + "{broken\n" * 500 + GOOD.replace("1", "2"))
    assert len(log.skipped) == 101
    assert log.skipped[-1].why == "400 more places could not be read"


def test_an_open_quote_does_not_swallow_the_file():
    log = only('step,loss\n1,"0.5\n' + "".join(f"{i},{i / 4}\n" for i in range(2, 1000)), "run.csv")
    assert values(log, "step") == list(range(1, 1000))
    assert said(log) == ["run.csv:2: a quote is opened and not closed"]


def test_two_columns_of_one_name_are_both_kept():
    log = only("step,kl,kl\n1,0.5,0.25\n", "run.csv")
    assert values(log, "kl (2)") == [0.25]


def test_columns_of_other_lengths_become_logs_of_their_own():
    logs = read(
        Source(
            "h.json",
            data=json.dumps({"step": [1, 2, 3], "loss": [3, 2, 1], "eval_step": [2, 3], "eval_loss": [5, 4]}).encode(),
        )
    )
    assert [(log.name, log.rows, list(log.columns)) for log in logs] == [
        ("h.json", 3, ["step", "loss"]),
        ("h.json (columns of 2)", 2, ["eval_step", "eval_loss"]),
    ]


def test_a_run_in_a_chart_export_has_no_columns_that_are_empty_for_it():
    one, other = read(Source("chart.csv", data=b"Step,a - loss,b - loss,a - loss__MIN\n1,0.5,,0.5\n,,0.25,\n"))
    assert list(one.columns) == ["Step", "loss"]
    assert list(other.columns) == ["loss"]


def test_brackets_in_delimited_text_are_text():
    log = only("step,loss,note\n1,0.5,[2\n3,0.25,4]\n", "run.csv")
    assert values(log, "step") == [1.0, 3.0]
