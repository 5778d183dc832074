"""A document that is read in blocks says what it says when it is read whole, and takes no more memory than its columns."""

import json
import tracemalloc

import pytest

from holter.errors import UnreadableLogError
from holter.readers import json_blocks, json_document, json_tables, jsonl
from holter.readers.base import Source
from holter.readers.plausibility import NotALogError
from holter.readers.registry import read

RECORDS = [
    {
        "step": i,
        "loss": i / 7,
        "kl": None if i == 3 else i * 1e-5,
        "note": '}], [{"a\\',
        "by": {"math": i, "of": [{}, 1]},
    }
    for i in range(30)
]
COLUMNS = {
    "step": [*range(30)],
    "loss": [i / 7 for i in range(30)],
    "kl": [None, *range(29)],
    "on": [True] * 30,
    "big": [10**400] * 30,
    "text": ["a"] * 30,
}
POINTS = {"loss": [[i, i / 7] for i in range(30)], "kl": [[i, 1.5] for i in range(30)]}
DOCUMENTS = {
    "records": RECORDS,
    "records under a name": {"args": {"lr": 1e-6, "n": [1]}, "history": RECORDS, "best": 0.5, "done": True},
    "records deeper down": {"run": {"logs": {"history": RECORDS}}, "config": {"lr": 1e-6}},
    "records that are settings": {"config": {"stages": RECORDS}, "seed": 1},
    "two lists of records": {"train": RECORDS, "eval": [{"step": r["step"], "eval_loss": 0.5} for r in RECORDS]},
    "records and a number": [*RECORDS, 5],
    "points of one metric": [{"step": i, "value": i / 7} for i in range(30)],
    "columns": COLUMNS,
    "columns beside settings": {**COLUMNS, "config": {"lr": 1e-6}, "eval": {"step": [10, 20], "reward": [0.5, 1.0]}},
    "columns as pandas writes them": {k: {str(i): x for i, x in enumerate(v)} for k, v in COLUMNS.items()},
    "points": POINTS,
    "records by step": {f"step_{r['step']}": r for r in RECORDS},
    "records by step deeper down": {
        "n": 3,
        "reward": {"merged": [{"step": r["step"], "reward": 0.5} for r in RECORDS]},
        "kl": {"data": {str(r["step"]): {"kl": r["loss"]} for r in RECORDS}},
    },
    "one record by step": {"10": {"loss": 0.5, "note": "x" * 500}},
    "records by step and another": {**{str(r["step"]): r for r in RECORDS}, "last": {"loss": 0.5}},
    "a wide row": {"step": 1, **{f"layer/{i}/loss": i / 7 for i in range(200)}},
    "no log": {"messages": [{"role": "user", "content": str(i)} for i in range(30)]},
    "names that need escapes": [{"step": i, 'a"b\\': 0.5, "\u00e4\n": i} for i in range(30)],
}


def told(data, name):
    try:
        logs = read(Source(name, data=data))
    except UnreadableLogError as error:
        return str(error)
    return [
        (
            log.name,
            log.rows,
            {k: (c.at.tolist(), [repr(v) for v in c.values.tolist()], None if c.null is None else c.null.tolist())
             for k, c in log.columns.items()},
            dict(log.config),
            [str(s) for s in log.skipped],
            list(log.notes),
        )
        for log in logs
    ]  # fmt: skip


@pytest.mark.parametrize("block", [64, 700, 1 << 20])
@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", ["log.json", "log"])
@pytest.mark.parametrize("document", DOCUMENTS.values(), ids=DOCUMENTS)
def test_blocks_say_what_the_whole_says(document, name, indent, block, monkeypatch):
    data = json.dumps(document, indent=indent).encode()
    with monkeypatch.context() as whole:
        whole.setattr(json_document, "in_blocks", lambda _: None)
        whole.setattr(jsonl, "in_blocks", lambda _: None)
        expected = told(data, name)
    monkeypatch.setattr(json_blocks, "_BLOCK", block)
    monkeypatch.setattr(json_tables, "_LONG", 7)
    assert told(data, name) == expected


@pytest.mark.parametrize("name", ["records", "records under a name", "columns", "records by step"])
def test_a_document_that_ends_early_or_goes_on_is_looked_at_as_a_whole(name, monkeypatch):
    data = json.dumps(DOCUMENTS[name]).encode()
    monkeypatch.setattr(json_blocks, "_BLOCK", 64)
    for given in (data[:-1], data[: len(data) // 2], data + b' {"step": 1}', data + b"\n" + data):
        found = told(given, "log.json")
        with monkeypatch.context() as whole:
            whole.setattr(json_document, "in_blocks", lambda _: None)
            whole.setattr(jsonl, "in_blocks", lambda _: None)
            assert found == told(given, "log.json")


@pytest.mark.parametrize("shape", ["records", "under a name", "trainer state", "columns", "by step"])
def test_a_document_in_one_line_takes_at_most_four_times_the_memory_of_its_columns(shape):
    records = [{"step": i, **{f"metric/{k}": (i + 1) / (k + 7) for k in range(40)}} for i in range(15_000)]
    document = {
        "records": records,
        "under a name": {"history": records, "seed": 1},
        "trainer state": {"global_step": 15_000, "log_history": records, "max_steps": 15_000},
        "columns": {k: [r[k] for r in records] for k in records[0]},
        "by step": {str(r["step"]): r for r in records},
    }[shape]
    source = Source("log.json", data=json.dumps(document).encode())
    del records, document
    read(source)
    tracemalloc.start()
    (log,) = read(source)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert log.rows == 15_000
    assert most < 4 * sum(c.values.nbytes for c in log.columns.values())


@pytest.mark.parametrize(
    "document",
    [
        {"flagged": {"plain": [0, 14], "adaptive-kl": [1, 15]}},
        {"flagged": {"ppo": [0, 14, 3], "grpo": [1, 15, 2]}},
    ],
    ids=["shares", "algorithms"],
)
def test_pairs_and_names_of_algorithms_are_no_log(document):
    with pytest.raises(NotALogError):
        read(Source("measured.json", data=json.dumps(document).encode()))


@pytest.mark.parametrize(
    "document", [{"reward": [0.1, 0.2, 0.3], "seed": [1, 1, 1]}, {"step": [1, 2], "kl": [0.1, 0.2]}]
)
def test_columns_without_a_step_and_two_rows_with_one_are_a_log(document):
    (log,) = read(Source("log.json", data=json.dumps(document).encode()))
    assert log.rows == len(next(iter(document.values())))
