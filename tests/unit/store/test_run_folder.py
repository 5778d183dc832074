"""A run folder, written and read back."""

import math
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

import orjson
import pytest

from holter.errors import UnreadableLogError
from holter.store.layout import findings_file, is_run_folder, metrics_file, segment_numbers
from holter.store.manifest import Manifest, describe, read_manifest, settings
from holter.store.reading import lines, rows, segments
from holter.store.run_folder import RunFolder, RunFolderError


def manifest(**said):
    return Manifest(id="run-1", created=1.0, **said)


def read(folder):
    return [(row.segment, row.step, row.values) for row in rows(folder)]


def test_what_is_written_is_read(tmp_path):
    with RunFolder.create(tmp_path / "run", manifest(algorithm="ppo")) as folder:
        folder.write(1, {"loss": math.nan, "kl": None, "reward": 0.5}, now=10.0)
        folder.write(1, {"eval/reward": -math.inf}, now=11.0)
        folder.samples(1, [{"prompt": "a\nb", "advantage": math.nan}, {"prompt": "c"}])
        folder.finding({"detector": "kl-runaway"}, now=12.0)
    first, second = read(tmp_path / "run")
    assert first[:2] == (0, 1)
    assert math.isnan(first[2]["loss"])
    assert {k: v for k, v in first[2].items() if k != "loss"} == {"time": 10.0, "kl": None, "reward": 0.5}
    assert second == (0, 1, {"time": 11.0, "eval/reward": -math.inf})
    samples = [line.row for line in lines(tmp_path / "run" / "samples-0.jsonl")]
    assert samples == [{"step": 1, "prompt": "a\nb", "advantage": "NaN"}, {"step": 1, "prompt": "c"}]
    assert next(lines(tmp_path / "run" / "findings.jsonl")).row["detector"] == "kl-runaway"


def test_the_step_is_the_step_whatever_the_row_says(tmp_path):
    with RunFolder.create(tmp_path, manifest()) as folder:
        folder.write(7, {"step": 3, "time": 5.0}, now=1.0)
    assert read(tmp_path) == [(0, 7, {"time": 5.0})]


def test_a_folder_holds_one_run(tmp_path):
    RunFolder.create(tmp_path, manifest()).close()
    with pytest.raises(RunFolderError, match="already holds a run: resume it"):
        RunFolder.create(tmp_path, manifest())
    with pytest.raises(RunFolderError, match="holds no run to resume"):
        RunFolder.resume(tmp_path / "other", manifest())


def test_the_newest_segment_wins_where_steps_overlap(tmp_path):
    with RunFolder.create(tmp_path, manifest()) as folder:
        for step in range(1, 8):
            folder.write(step, {"loss": float(step)})
    with RunFolder.resume(tmp_path, replace(manifest(), id="other")) as folder:
        assert folder.manifest.id == "run-1"
        assert folder.manifest.parent.segment == 0
        for step in (5, 6):
            folder.write(step, {"loss": step + 100.0})
    assert [(s, step, v["loss"]) for s, step, v in read(tmp_path)] == [
        (0, 1, 1),
        (0, 2, 2),
        (0, 3, 3),
        (0, 4, 4),
        (1, 5, 105),
        (1, 6, 106),
    ]


def test_rows_after_the_checkpoint_are_void_even_before_the_resumed_run_logs(tmp_path):
    with RunFolder.create(tmp_path, manifest()) as folder:
        for step in range(1, 8):
            folder.write(step, {"loss": float(step)})
    with RunFolder.resume(tmp_path, manifest(), step=4) as folder:
        assert [step for _, step, _ in read(tmp_path)] == [1, 2, 3, 4]
        folder.write(10, {"loss": 0.0})
    assert [step for _, step, _ in read(tmp_path)] == [1, 2, 3, 4, 10]


def test_a_third_segment_can_go_back_behind_the_second(tmp_path):
    RunFolder.create(tmp_path, manifest()).close()
    for number, steps in enumerate(([1, 2, 3, 4], [3, 4, 5], [2, 3])):
        folder = RunFolder.resume(tmp_path, manifest()) if number else RunFolder(tmp_path, manifest())
        for step in steps:
            folder.write(step, {"loss": float(number)})
        folder.close()
    assert [(s, step) for s, step, _ in read(tmp_path)] == [(0, 1), (2, 2), (2, 3)]


def test_two_processes_that_resume_at_once_get_segments_of_their_own(tmp_path):
    RunFolder.create(tmp_path, manifest()).close()
    one, other = RunFolder.resume(tmp_path, manifest()), RunFolder.resume(tmp_path, manifest())
    assert (one.manifest.segment, other.manifest.segment) == (1, 2)
    assert segment_numbers(tmp_path) == [0, 1, 2]
    one.close()
    other.close()


def test_a_log_cut_at_any_byte_still_gives_its_whole_lines(tmp_path):
    with RunFolder.create(tmp_path, manifest()) as folder:
        for step in range(3):
            folder.write(step, {"loss": 0.25}, now=1.0)
    file = metrics_file(tmp_path, 0)
    data = file.read_bytes()
    for cut in range(len(data) + 1):
        file.write_bytes(data[:cut])
        assert len(read(tmp_path)) == data[:cut].count(b"\n")


def test_reading_goes_on_where_it_stopped(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"step":1}\n{"step":2}\n{"st')
    seen = list(lines(file))
    assert [line.number for line in seen] == [1, 2]
    file.write_bytes(b'{"step":1}\n{"step":2}\n{"step":3}\n')
    later = list(lines(file, offset=seen[-1].end, first=seen[-1].number + 1))
    assert [(line.number, line.row) for line in later] == [(3, {"step": 3})]


def test_a_broken_line_is_told_and_costs_no_other(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"step":1}\n\nTraceback (most recent call last):\n{"step":2}\n')
    found = list(lines(file))
    assert [line.row for line in found] == [{"step": 1}, None, {"step": 2}]
    assert found[1].number == 3
    assert "not a line of a run" in found[1].fault


def test_a_gap_is_told_apart_from_a_metric_called_gap(tmp_path):
    file = tmp_path / "a.jsonl"
    file.write_bytes(b'{"gap":{"lines":3,"why":"full"}}\n{"step":1,"gap":2}\n')
    assert [line.gap for line in lines(file)] == [{"lines": 3, "why": "full"}, None]


def test_whatever_thread_says_the_first_thing_every_line_is_kept_whole(tmp_path):
    threads, each = 8, 50
    together = threading.Barrier(threads)
    with RunFolder.create(tmp_path / "run", manifest()) as run:

        def say(who):
            together.wait()
            for n in range(each):
                run.finding({"who": who, "n": n})

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(say, range(threads)))
    lines = [orjson.loads(line) for line in findings_file(tmp_path / "run").read_text().splitlines()]
    assert sorted((line["who"], line["n"]) for line in lines) == [(w, n) for w in range(threads) for n in range(each)]


def test_no_folder_and_a_broken_manifest_are_said_with_the_file(tmp_path):
    with pytest.raises(UnreadableLogError, match="no run folder"):
        segments(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(UnreadableLogError, match=r"run\.json: not a run's manifest"):
        segments(tmp_path)
    (tmp_path / "run.json").write_text('{"format": "holter-run", "version": 99}')
    with pytest.raises(UnreadableLogError, match="Upgrade holter"):
        segments(tmp_path)


@pytest.mark.parametrize(
    "entry",
    [
        *({"config": [1]}, {"config": None}, {"dialect": ["trl"]}, {"name": 5}, {"created": "now"}, {"segment": True}),
        *({"parent": "x"}, {"parent": {"segment": 0, "step": "7"}}, {"parent": {"segment": None}}, {"command": 5}),
    ],
)
def test_an_entry_that_nobody_wrote_makes_no_manifest(entry, tmp_path):
    told = {"format": "holter-run", "version": 1, "id": "a", "created": 1.0}
    (tmp_path / "run.json").write_bytes(orjson.dumps(told | entry))
    with pytest.raises(UnreadableLogError, match=r"run\.json: not a run's manifest: "):
        segments(tmp_path)


def test_a_run_that_lost_its_manifest_is_still_read(tmp_path):
    with RunFolder.create(tmp_path, manifest()) as folder:
        folder.write(1, {"loss": 1.0})
    (tmp_path / "run.json").unlink()
    assert is_run_folder(tmp_path)
    assert segments(tmp_path)[0].manifest is None
    assert len(read(tmp_path)) == 1


class Mode(Enum):
    FAST = "fast"


@dataclass
class Config:
    seed: int = 3
    mode: Mode = Mode.FAST
    path: Path = Path("/data/x")
    hub_token: str = "hf_abcdefghijklmnopqrstuvwxyz"
    rate: float = math.inf
    reward: object = field(default=len)
    names: frozenset = frozenset({"b", "a"})


def test_the_manifest_says_what_the_run_was_made_with(tmp_path):
    said = describe(algorithm="ppo", config=Config(), name="first", dialect="trl-ppo")
    assert said.seed == 3
    assert said.packages["python"].count(".") == 2
    assert "numpy" in said.packages
    assert said.hardware["cpus"] >= 1
    folder = RunFolder.create(tmp_path, said)
    folder.close()
    back = read_manifest(tmp_path / "run.json")
    assert back == replace(said, config=back.config)
    assert back.config == {
        "seed": 3,
        "mode": "fast",
        "path": "/data/x",
        "hub_token": "<hidden>",
        "rate": "Infinity",
        "reward": "builtins.len",
        "names": ["a", "b"],
    }


def test_settings_later_versions_add_are_left_aside(tmp_path):
    RunFolder.create(tmp_path, manifest()).close()
    file = tmp_path / "run.json"
    file.write_bytes(orjson.dumps({**orjson.loads(file.read_bytes()), "weather": "fine"}))
    assert read_manifest(file).id == "run-1"


def test_equal_configs_are_equal_whatever_lies_where_in_memory():
    class Model:
        pass

    assert settings({"model": Model()}) == settings({"model": Model()})
    assert settings(None) == {}
