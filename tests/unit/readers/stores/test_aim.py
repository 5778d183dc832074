"""Aim's repository, whose numbers only its own package reads; that package is stood in for by one of its interface."""

import math
import sqlite3
import sys
from types import ModuleType, SimpleNamespace

import pytest

from holter.errors import UnreadableLogError
from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.load import load


@pytest.fixture
def repository(tmp_path):
    """The tables that Aim 3 keeps beside its store, with two runs, and a file of the store that looks like a log."""
    folder = tmp_path / ".aim"
    (folder / "seqs" / "chunks").mkdir(parents=True)
    (folder / "seqs" / "chunks" / "000008.log").write_text('{"step": 1, "loss": 0.5}\n')
    with sqlite3.connect(folder / "run_metadata.sqlite") as connection:
        connection.execute("CREATE TABLE experiment (id INTEGER PRIMARY KEY, name TEXT)")
        connection.execute(
            "CREATE TABLE run (id INTEGER PRIMARY KEY, hash TEXT, name TEXT, is_archived BOOLEAN, experiment_id INTEGER)"
        )
        connection.execute("CREATE TABLE run_info (id INTEGER PRIMARY KEY)")
        connection.execute("INSERT INTO run VALUES (1, 'e36b', 'grpo', 0, NULL), (2, 'ff00', 'old', 1, NULL)")
    connection.close()
    return tmp_path


def metric(name, context, points):
    """A metric as the package offers it: ``data.items_list()`` gives steps, and values with epochs and times."""
    steps, values = [s for s, _ in points], [v for _, v in points]
    columns = (steps, (values, [1.0] * len(steps), [10.0 + i for i in range(len(steps))]))
    return SimpleNamespace(
        name=name,
        context=SimpleNamespace(to_dict=lambda: context),
        data=SimpleNamespace(items_list=lambda: columns),
    )


def installed(monkeypatch, runs):
    asked = []
    module = ModuleType("aim")
    module.Repo = lambda path: asked.append(path) or SimpleNamespace(iter_runs=lambda: iter(runs))
    monkeypatch.setitem(sys.modules, "aim", module)
    return asked


def run(metrics, *, archived=False):
    said = {"hparams": {"beta": 0.04}}
    return SimpleNamespace(name="grpo", hash="e36b", archived=archived, get=said.get, metrics=lambda: iter(metrics))


def test_the_metrics_of_a_run_come_by_subset_and_step(repository, monkeypatch):
    asked = installed(
        monkeypatch,
        [
            run(
                [
                    metric("reward", {"subset": "train"}, [(5, 0.5), (10, math.nan)]),
                    metric("kl", {"subset": "train"}, [(5, 0.01), (10, math.inf)]),
                    metric("reward", {"subset": "eval"}, [(10, 0.7)]),
                    metric("loss", {"subset": "train", "rank": 1}, [(5, 0.1), (10, 0.2)]),
                    metric("__system__cpu", {}, [(0, 3.0)]),
                ]
            ),
            run([], archived=True),
        ],
    )
    (found,) = load([repository]).runs
    assert asked == [str(repository.resolve())]
    assert found.steps.tolist() == [5, 10]
    assert found.config == {"beta": 0.04}
    assert math.isnan(found.series["reward"].values[1])
    assert found.series["eval/reward"].values.tolist() == [0.7]
    assert found.series["loss"].metric == "loss[rank=1]"
    assert "measurements of the machine left aside, which count their own steps: 1" in found.notes


def test_runs_that_aim_has_not_indexed_are_not_taken_for_an_empty_repository(repository, monkeypatch):
    installed(monkeypatch, [])
    with pytest.raises(UnreadableLogError, match=f"aim storage --repo {repository.resolve()} reindex"):
        load([repository])


def test_without_the_package_both_ways_out_are_said(repository, monkeypatch):
    monkeypatch.setitem(sys.modules, "aim", None)
    with pytest.raises(UnreadableLogError, match="pip install aim") as refused:
        load([repository])
    assert f"aim.Repo('{repository.resolve()}')" in str(refused.value)
    assert str(refused.value).startswith(str(repository / ".aim" / "run_metadata.sqlite"))


def test_without_its_folder_the_database_is_no_store(repository, monkeypatch):
    installed(monkeypatch, [run([metric("loss", {}, [(1, 0.5)])])])
    database = (repository / ".aim" / "run_metadata.sqlite").read_bytes()
    with pytest.raises(UnreadableLogError, match="standard input: the numbers of its runs lie in files beside it"):
        read(Source("standard input", data=database))


def test_what_the_package_raises_is_a_reason_and_no_traceback(repository, monkeypatch):
    module = ModuleType("aim")

    def broken(path):
        raise RuntimeError("lock held")

    module.Repo = broken
    monkeypatch.setitem(sys.modules, "aim", module)
    with pytest.raises(UnreadableLogError, match=r"Aim cannot read its own store \(lock held\)"):
        load([repository])
