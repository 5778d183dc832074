"""Tables in HTML inside other text."""

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read

TABLE = """    <table border="1" class="dataframe">
  <thead>
 <tr style="text-align: left;">
      <th>Step</th>
      <th>Training Loss</th>
      <th>reward</th>
      <th>kl</th>
    </tr>
  </thead>
  <tbody>
    <tr><td>1</td><td>0.000000</td><td>-2.750000</td><td>No Log</td></tr>
    <tr><td>50</td><td>0.000300</td><td>1.500000</td><td>0.125000</td></tr>
  </tbody>
</table><p>
"""


def test_a_notebook_exported_as_markdown_keeps_its_table():
    text = f"# Training\n\nif x < 3: print('<')\n\n{TABLE}\n    TrainOutput(global_step=50, training_loss=0.25)\n"
    (log,) = read(Source("maze.md", data=text.encode()))
    assert {name: column.values.tolist() for name, column in log.columns.items()} == {
        "Step": [1, 50],
        "Training Loss": [0, 0.0003],
        "reward": [-2.75, 1.5],
        "kl": [0.125],
    }
    assert log.columns["kl"].at.tolist() == [1]


def test_every_table_of_metrics_is_a_log_and_tables_of_anything_else_are_none():
    other = (
        TABLE.replace("Training Loss", "Name").replace("reward", "Owner").replace("Step", "Page").replace("kl", "Pages")
    )
    logs = read(Source("maze.md", data=f"{TABLE}\n{other}\n{TABLE}".encode()))
    assert [log.rows for log in logs] == [2, 2]


@pytest.mark.parametrize("text", ["# Notes\n\nNothing was trained here.\n", "<table><tr><td>1</td></tr></table>\n"])
def test_a_text_without_such_a_table_says_what_the_console_says(text):
    with pytest.raises(UnreadableLogError, match="no line in it is a row of metrics"):
        read(Source("notes.md", data=text.encode()))
