"""Logs behind URLs, with fsspec's file system in memory."""

import sys
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.runs.load import load, raw_logs

EVENTS = Path(__file__).parents[2] / "golden/tensorboard/resumed-in-a-second-file"
ROWS = b"".join(b'{"step": %d, "loss": 0.5, "reward": 0.%d}\n' % (step, step) for step in range(1, 6))


@pytest.fixture
def bucket():
    """A store with two runs, a sample file, and a folder that holds nothing to read."""
    fsspec = pytest.importorskip("fsspec")
    store = fsspec.filesystem("memory")
    store.pipe("/bucket/runs/a/metrics.jsonl", ROWS)
    store.pipe("/bucket/runs/a/config.yaml", b"beta:\n  desc: null\n  value: 0.04\n")
    store.pipe("/bucket/runs/a/samples.jsonl", b'{"prompt": "x", "completion": "y"}\n')
    for file in EVENTS.iterdir():
        store.pipe(f"/bucket/runs/b/tb/{file.name}", file.read_bytes())
    store.pipe("/bucket/else/notes.bin", b"\0\1")
    yield store
    store.rm("/bucket", recursive=True)


def test_a_pattern_a_folder_and_a_file_give_their_runs_under_their_urls(bucket):
    loaded = load(["memory://bucket/runs/*"])
    assert [run.path for run in loaded.runs] == ["memory:///bucket/runs/a/metrics.jsonl", "memory:///bucket/runs/b/tb"]
    assert not loaded.refused
    assert [len(run) for run in load(["memory://bucket/runs"]).runs] == [len(run) for run in loaded.runs]
    (alone,) = load(["memory://bucket/runs/a/metrics.jsonl"]).runs
    assert alone.series["reward"].values.tolist() == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_what_belongs_to_a_run_is_fetched_with_it_and_named_by_its_url(bucket):
    run = load(["memory://bucket/runs"]).runs[0]
    assert run.config == {"beta": 0.04}
    assert "hyper-parameters are those of memory:///bucket/runs/a/config.yaml" in run.notes


def test_a_run_behind_a_url_is_the_run_on_the_disk(bucket):
    (here,) = load([EVENTS]).runs
    (there,) = load(["memory://bucket/runs/b"]).runs
    assert there.steps.tolist() == here.steps.tolist()
    assert there.resumes == here.resumes
    assert there.series.keys() == here.series.keys()


def test_raw_logs_of_a_url_are_named_by_it(bucket):
    assert [log.name for log in raw_logs("memory://bucket/runs/a")] == ["memory:///bucket/runs/a/metrics.jsonl"]


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("memory://bucket/gone", "there is nothing under this URL"),
        ("memory://bucket/gone-*", "nothing matches this pattern"),
        ("memory://bucket/else", "no log was found|nothing"),
        ("nonsense://bucket/runs", "cannot be fetched"),
    ],
)
def test_what_cannot_be_read_is_refused_by_its_url(bucket, url, why):
    with pytest.raises(UnreadableLogError, match=why) as refused:
        load([url])
    assert url in str(refused.value)
    assert "/holter-" not in str(refused.value)


def test_a_refused_file_does_not_hide_the_others(bucket):
    bucket.pipe("/bucket/runs/c", b"\x89PNG\r\n\x1a\n")
    loaded = load(["memory://bucket/runs/*"])
    assert len(loaded.runs) == 2
    (refused,) = loaded.refused
    assert refused.file == "memory:///bucket/runs/c"
    assert "this is a picture" in refused.why


def test_without_the_package_the_way_out_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(UnreadableLogError, match=r"pip install 'holter\[remote\]'"):
        load(["s3://bucket/runs/*"])
