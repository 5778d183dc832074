"""Notebooks: what of their outputs is a log."""

import gzip
import json
import tracemalloc

import pytest

from holter.errors import UnreadableLogError
from holter.readers import json_texts
from holter.readers.base import Source
from holter.readers.html_table import html_tables
from holter.readers.registry import read


def notebook(*outputs_of_cells):
    cells = [{"cell_type": "code", "metadata": {}, "source": [], "outputs": outputs} for outputs in outputs_of_cells]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}).encode()


def html(text):
    return {"output_type": "display_data", "data": {"text/html": text}, "metadata": {}}


def printed(*lines):
    return {"output_type": "stream", "name": "stdout", "text": list(lines)}


def logs(data, name="run.ipynb"):
    return read(Source(name, data=data))


def test_rows_that_stream_in_several_outputs_are_one_log():
    outputs = [printed(f"objective/kl: {i}.5\nppo/returns/mean: -0.{i}\n", "-" * 30 + "\n") for i in range(1, 6)]
    (log,) = logs(notebook(outputs))
    assert log.columns["objective/kl"].values.tolist() == [1.5, 2.5, 3.5, 4.5, 5.5]
    assert log.lines is None


def test_a_plain_text_table_is_read_where_there_is_no_html():
    table = "   step  loss  reward\n0    10  0.50     1.5\n1    20  0.25     2.5"
    (log,) = logs(notebook([{"output_type": "execute_result", "data": {"text/plain": table}}]))
    assert log.columns["reward"].values.tolist() == [1.5, 2.5]


def test_the_table_of_a_cell_is_read_and_not_its_printed_copy():
    table = "<table><tr><th>Step</th><th>Training Loss</th></tr><tr><td>1</td><td>0.5</td></tr></table>"
    (log,) = logs(notebook([printed("{'loss': 0.5, 'epoch': 0.1}\n"), html(table)]))
    assert list(log.columns) == ["Step", "Training Loss"]


def test_version_3_keeps_cells_in_worksheets():
    table = "<table><tr><th>step</th><th>loss</th></tr><tr><td>1</td><td>0.5</td></tr></table>"
    cells = [{"cell_type": "code", "outputs": [{"output_type": "display_data", "html": [table]}]}]
    data = json.dumps({"metadata": {}, "nbformat": 3, "worksheets": [{"cells": cells}]}).encode()
    (log,) = logs(data)
    assert log.columns["loss"].values.tolist() == [0.5]


def test_rows_of_another_width_are_counted():
    table = "<table><tr><th>step</th><th>loss</th></tr><tr><td>1</td><td>0.5</td></tr><tr><td>2</td></tr></table>"
    (log,) = logs(notebook([html(table)]))
    assert [str(s) for s in log.skipped] == ["run.ipynb: row 2 of a table has 1 cells where the header has 2"]


@pytest.mark.parametrize(
    "outputs",
    [
        [],
        [printed("accuracy: 0.5\n")],
        [html("<table><tr><th>model</th><th>accuracy</th></tr><tr><td>a</td><td>0.5</td></tr></table>")],
        [html("<p>loss 0.5</p>")],
        [{"output_type": "error", "traceback": ["loss: nan"]}],
        ["no object"],
    ],
)
def test_a_notebook_without_metrics_is_refused_with_the_way_out(outputs):
    with pytest.raises(UnreadableLogError, match=r"no output of this notebook holds metrics.*trainer_state\.json"):
        logs(notebook(outputs))


def test_a_notebook_that_is_cut_is_refused_as_such():
    data = notebook([printed("{'loss': 0.5, 'reward': 1, 'epoch': 0.1}\n")])
    with pytest.raises(UnreadableLogError, match="the notebook is not JSON"):
        logs(data[:-20])


class Collected:
    def __init__(self, names):
        self.names, self.rows = names, []

    def row(self, cells):
        self.rows.append(cells)


TABLES = "<table><th>a &amp; b<th>c<tr><td>1<td>2<br>3<tr><td>4<td>5</table><table><tr><td>x"


@pytest.mark.parametrize("size", [1, 7, len(TABLES)])
def test_html_tables_survive_what_is_not_closed_and_come_in_pieces_of_any_size(size):
    tables = html_tables((TABLES[at : at + size] for at in range(0, len(TABLES), size)), Collected)
    assert [(t.names, t.rows) for t in tables] == [(["a & b", "c"], [["1", "2 3"], ["4", "5"]]), ([], [["x"]])]


ROWS = 4000


def long_table():
    rows = [
        f"    <tr>\n      <td>{i}</td>\n      <td>{i / 8} &amp;</td>\n      <td>{i / 4}</td>\n    </tr>\n"
        for i in range(ROWS)
    ]
    head = '<table border="1">\n  <thead>\n      <th>step</th>\n      <th>note</th>\n      <th>loss</th>\n  </thead>\n'
    return head + "".join(rows) + "</table><p>“é”</p>"


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("listed", [False, True])
@pytest.mark.parametrize("packed", [False, True])
def test_a_long_table_is_read_however_the_notebook_is_laid_out(indent, listed, packed):
    table = long_table()
    output = html(table.splitlines(keepends=True) if listed else table)
    output["data"]["image/png"] = "iVBORw0KGgo=" * 20_000
    data = json.dumps(json.loads(notebook([printed("hello\n")], [output])), indent=indent).encode()
    (log,) = logs(gzip.compress(data) if packed else data, "run.ipynb.gz" if packed else "run.ipynb")
    assert log.columns["step"].values.tolist() == list(range(ROWS))
    assert log.columns["loss"].values.tolist() == [i / 4 for i in range(ROWS)]


@pytest.mark.parametrize("listed", [False, True])
def test_what_a_cell_printed_at_length_is_read_with_its_quotes_and_brackets(listed):
    lines = [f"{{'loss': {i / 4}, 'reward': {i}}}\n" for i in range(ROWS)]
    lines[7:7] = ['"text": ["', '", "', "\\\\", '\\"\n', '{"text/html": [\n']
    (log,) = logs(notebook([{"output_type": "stream", "text": lines if listed else "".join(lines)}]))
    assert log.columns["loss"].values.tolist() == [i / 4 for i in range(ROWS)]


@pytest.mark.parametrize("wrong", [b'\\x"', b'" "', b"[", b"nul"])
def test_damage_inside_a_long_output_is_told_as_anywhere_else(wrong):
    data = notebook([html(long_table().splitlines(keepends=True))])
    middle = data.index(b', "', len(data) // 2) + 1
    with pytest.raises(UnreadableLogError, match="the notebook is not JSON"):
        logs(data[:middle] + wrong + data[middle:])


def test_without_room_for_a_copy_a_packed_notebook_is_read_from_memory(monkeypatch):
    data = gzip.compress(notebook([html(long_table().splitlines(keepends=True))]))
    (expected,) = logs(data)

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(json_texts.tempfile, "NamedTemporaryFile", full)
    (log,) = logs(data)
    assert {n: c.values.tolist() for n, c in log.columns.items()} == {
        n: c.values.tolist() for n, c in expected.columns.items()
    }


@pytest.mark.parametrize("wrapped", [bytes, gzip.compress, lambda data: data.decode().encode("utf-16")])
def test_a_notebook_costs_a_small_multiple_of_its_columns_packed_or_not(tmp_path, wrapped):
    rows = 2500
    names = [f"loss_{i}" for i in range(40)]
    lines = ["<table>\n", "<tr>\n", *(f"  <th>{name}</th>\n" for name in names), "</tr>\n"]
    for i in range(rows):
        lines += ["<tr>\n", *(f"      <td>{i / 7 + j}</td>\n" for j in range(40)), "</tr>\n"]
    path = tmp_path / "run.ipynb"
    path.write_bytes(wrapped(notebook([html([*lines, "</table>"])])))
    # What is made once, all readers and their patterns, is no notebook's.
    assert logs(notebook([html(long_table().splitlines(keepends=True))]))
    tracemalloc.start()
    try:
        (log,) = read(Source.of(path))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    size = sum(column.values.nbytes for column in log.columns.values())
    assert size == 8 * 40 * rows
    # Besides the columns: a batch of rows on its way into them, and blocks of the file.
    assert peak < 4 * size + (4 << 20)
