"""From what a user types to runs: files, folders, patterns, standard input."""

import io
import json
import os
import socket
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from holter.errors import UnreadableLogError
from holter.runs import folder as folder_module
from holter.runs import load as load_module
from holter.runs.load import _with_own_names, load


def jsonl(rows=3, **extra):
    return "".join(
        json.dumps({"step": i, "loss": 1 / (i + 1), "reward": i / 2, **extra}) + "\n" for i in range(1, rows + 1)
    )


def state(rows=3, global_step=None):
    history = [{"step": i, "loss": 1 / (i + 1), "reward": i / 4, "learning_rate": 1e-6} for i in range(1, rows + 1)]
    return json.dumps({"global_step": global_step or rows, "log_history": history, "max_steps": 100}, indent=2)


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def names(loaded, root):
    return [r.name.removeprefix(f"{root}{os.sep}") for r in loaded.runs]


def test_a_file_that_is_named_is_read(tmp_path):
    write(tmp_path, {"log.jsonl": jsonl()})
    loaded = load([tmp_path / "log.jsonl"])
    assert [len(r) for r in loaded.runs] == [3]
    assert loaded.refused == ()


def test_one_bad_file_does_not_hide_the_others(tmp_path):
    write(tmp_path, {"a.jsonl": jsonl(), "b.py": "import os\n", "c.csv": "1,2\n3,4\n"})
    loaded = load([tmp_path / n for n in ("a.jsonl", "b.py", "c.csv", "missing.jsonl")])
    assert names(loaded, tmp_path) == ["a.jsonl"]
    assert {r.file.removeprefix(f"{tmp_path}{os.sep}"): r.why.split(":")[0] for r in loaded.refused} == {
        "b.py": "this is source code. Give the log that it wrote.",
        "c.csv": "the columns have no names",
        "missing.jsonl": "there is no such file or folder",
    }


def test_nothing_readable_is_an_error_with_every_reason(tmp_path):
    write(tmp_path, {"b.py": "import os\n", "c.csv": "1,2\n3,4\n"})
    with pytest.raises(
        UnreadableLogError, match=r"(?s)nothing could be read:.*b\.py: this is source code.*c\.csv: the columns"
    ):
        load([tmp_path / "b.py", tmp_path / "c.csv"])
    with pytest.raises(UnreadableLogError, match=r"there is no such file or folder\. Give a log"):
        load([tmp_path / "missing"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UnreadableLogError, match=r"no log was found in .*empty\. Give a log"):
        load([tmp_path / "empty"])


def test_the_folder_one_stands_in_is_named(tmp_path, monkeypatch):
    (tmp_path / "empty").mkdir()
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(UnreadableLogError, match=r"no log was found in .*empty\. Give a log"):
        load(["."])


@pytest.mark.skipif(os.name == "nt", reason="no such names there")
def test_a_refusal_stays_on_one_line_whatever_the_file_is_called(tmp_path):
    (tmp_path / "two\nlines.jsonl").write_bytes(b"\x00\x01")
    with pytest.raises(UnreadableLogError, match=r"two\\nlines\.jsonl: this is binary data") as error:
        load([tmp_path / "two\nlines.jsonl"])
    assert "\n" not in str(error.value)


def test_patterns_are_expanded_where_the_shell_does_not(tmp_path):
    write(tmp_path, {"a/log.jsonl": jsonl(), "b/log.jsonl": jsonl(4)})
    assert [len(r) for r in load([f"{tmp_path}/*/log.jsonl"]).runs] == [3, 4]
    assert [len(r) for r in load([f"{tmp_path}/**/*.jsonl", tmp_path / "a" / "log.jsonl"]).runs] == [3, 4]
    with pytest.raises(UnreadableLogError, match="no file matches this pattern"):
        load([f"{tmp_path}/*.csv"])


def test_a_file_whose_name_looks_like_a_pattern_is_that_file(tmp_path):
    write(tmp_path, {"run[1].jsonl": jsonl()})
    assert len(load([tmp_path / "run[1].jsonl"]).runs) == 1


def test_standard_input_is_read(monkeypatch):
    pasted = "my run:\n\n步骤\t平均奖励\tKL散度\n1000\t2.5\t15.2\n2000\t3.1\t18.5"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pasted.encode())))
    (run,) = load(["-"]).runs
    assert run.name == "standard input"
    assert run.series["kl"].values.tolist() == [15.2, 18.5]


def test_several_runs_in_a_folder_are_told_apart(tmp_path):
    write(
        tmp_path,
        {
            "a/log.jsonl": jsonl(),
            "b/log.jsonl": jsonl(4),
            "seed-1.csv": "step,loss\n1,2\n",
            "seed-2.csv": "step,loss\n1,3\n",
        },
    )
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["a/log.jsonl", "b/log.jsonl", "seed-1.csv", "seed-2.csv"]
    assert all(not r.notes for r in loaded.runs)


def test_what_is_plainly_no_log_is_passed_over_in_a_folder_and_refused_by_name(tmp_path):
    clutter = {
        "README.md": "| step | loss |\n|---|---|\n| 1 | 2 |\n",
        "config.json": '{"step": 1}',
        "meta.json": '{"n_steps": 3}',
        "expect.json": "{}",
        "train.py": "import torch\n",
        "settings.yaml": "step: 1\n",
        "tokenizer_config.json": "{}",
        "vocab.json": '{"a": 1}',
        "samples.jsonl": '{"prompt": "a", "completion": "b", "reward": 1}\n',
        "completions/completions_00010.parquet": "PAR1",
        "train_data_step10.jsonl": '{"content": "a", "rewards": 1}\n',
        "model.safetensors": "x",
        ".hidden/log.jsonl": jsonl(),
        "__pycache__/log.jsonl": jsonl(),
    }
    write(tmp_path, {**clutter, "log.jsonl": jsonl()})
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["log.jsonl"]
    assert loaded.refused == ()
    for name in ("config.json", "train.py", "settings.yaml", "model.safetensors", "samples.jsonl"):
        with pytest.raises(UnreadableLogError, match=name):
            load([tmp_path / name])


def test_of_checkpoints_the_newest_is_read_beside_the_top(tmp_path):
    write(
        tmp_path,
        {
            "trainer_state.json": state(5),
            "checkpoint-2/trainer_state.json": state(2),
            "checkpoint-10/trainer_state.json": state(10),
            "checkpoint-5/trainer_state.json": state(5),
        },
    )
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["checkpoint-10/trainer_state.json"]
    (tmp_path / "checkpoint-10" / "trainer_state.json").unlink()
    assert names(load([tmp_path]), tmp_path) == ["trainer_state.json"]


def test_a_checkpoint_before_the_end_gives_way_to_a_form_that_goes_on(tmp_path):
    write(tmp_path, {"checkpoint-2/trainer_state.json": state(2), "log.jsonl": jsonl(5)})
    (run,) = load([tmp_path]).runs
    assert len(run) == 5
    write(tmp_path, {"checkpoint-2/trainer_state.json": state(2).replace('"max_steps": 100', '"max_steps": 2')})
    (run,) = load([tmp_path]).runs
    assert run.path.endswith("trainer_state.json")


def test_of_one_run_in_several_formats_the_fullest_is_read_and_the_others_are_named(tmp_path):
    write(
        tmp_path,
        {
            "trainer_state.json": state(),
            "log.jsonl": jsonl(),
            "logs/metrics.csv": "step,loss\n1,2\n",
            "stdout.txt": "hello\n",
        },
    )
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["trainer_state.json"]
    forms, texts = loaded.runs[0].notes
    assert forms.startswith("left aside as another form of this run: ")
    assert "log.jsonl" in forms
    assert "metrics.csv" in forms
    assert texts == f"text beside this run, not read: {tmp_path / 'stdout.txt'}"


def test_what_is_plainly_no_log_is_no_form_of_the_run_beside_it(tmp_path):
    write(tmp_path, {"log.jsonl": jsonl(), "results.csv": "model,accuracy\na,0.5\nb,0.6\n"})
    (run,) = load([tmp_path]).runs
    assert run.notes == ()


def test_runs_of_one_name_are_numbered(tmp_path):
    write(tmp_path, {f"{n}/log.jsonl": jsonl(n + 3) for n in range(4)})
    runs = [run for n in range(4) for run in load([tmp_path / str(n)]).runs]
    alike = [replace(run, name=name) for run, name in zip(runs, ("a", "a", "a (2)", "a"), strict=True)]
    assert [run.name for run in _with_own_names(alike)] == ["a", "a (2)", "a (2) (2)", "a (3)"]


def test_the_next_format_is_read_where_the_best_one_cannot_be(tmp_path):
    write(tmp_path, {"trainer_state.json": '{"log_history": []}', "log.jsonl": jsonl()})
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["log.jsonl"]
    assert "log_history is empty" in loaded.refused[0].why


def test_what_turns_out_to_be_no_log_is_told_only_where_nothing_else_is(tmp_path):
    write(tmp_path, {"scores.csv": "model,accuracy\na,0.5\nb,0.6\n", "console.txt": "hello\n"})
    with pytest.raises(UnreadableLogError, match=r"scores\.csv: its columns \(model, accuracy\) have no step"):
        load([tmp_path])
    write(tmp_path, {"log.jsonl": jsonl(), "broken.jsonl": "{{{\n{{\n"})
    loaded = load([tmp_path])
    assert names(loaded, tmp_path) == ["log.jsonl"]
    assert [Path(r.file).name for r in loaded.refused] == ["broken.jsonl"]


SCORES = [{"model": m, "loss": i / 4, "kl": 0.1} for i, m in enumerate(("base", "sft", "rl"))]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("run.jsonl", "".join(json.dumps(r) + "\n" for r in SCORES)),
        ("run.log", "".join(f"{r}\n" for r in SCORES)),
        ("run.json", json.dumps(SCORES)),
        ("run.csv", "model,loss,kl\n" + "".join(f"{r['model']},{r['loss']},{r['kl']}\n" for r in SCORES)),
    ],
)
def test_what_a_reader_understood_and_refused_is_not_read_by_a_less_sure_one(name, text, tmp_path):
    write(tmp_path, {name: text})
    with pytest.raises(UnreadableLogError, match="told apart by model"):
        load([tmp_path / name])


def test_a_console_that_begins_like_json_lines_is_read_as_a_console(tmp_path):
    began = "".join(json.dumps({"event": "worker up", "rank": i}) + "\n" for i in range(20))
    rows = "".join(f"step:{i} - actor/pg_loss:{i / 7} - critic/rewards/mean:{i / 3}\n" for i in range(1, 10))
    write(tmp_path, {"out.log": began + rows, "few.log": began + rows[: rows.index("step:4")]})
    (run,) = load([tmp_path / "out.log"]).runs
    assert run.steps.tolist() == [*range(1, 10)]
    (run,) = load([tmp_path / "few.log"]).runs
    assert run.steps.tolist() == [1, 2, 3]


def test_the_same_numbers_under_two_names_are_one_run(tmp_path):
    rows = [{"step": i, "loss": i / 3} for i in range(3)]
    turned = [{"loss": r["loss"], "step": r["step"]} for r in rows]
    write(
        tmp_path,
        {n: "".join(json.dumps(r) + "\n" for r in rs) for n, rs in (("log.jsonl", rows), ("metrics.jsonl", turned))},
    )
    (run,) = load([tmp_path]).runs
    assert run.notes == (f"left aside because it says exactly the same: {tmp_path / 'metrics.jsonl'}",)


def test_runs_that_happen_to_be_equal_in_two_folders_stay_two(tmp_path):
    write(tmp_path, {"a/log.jsonl": jsonl(), "b/log.jsonl": jsonl()})
    assert len(load([tmp_path]).runs) == 2


def test_event_files_of_one_folder_are_one_run(tmp_path):
    source = pytest.importorskip("tensorboard.compat.proto.event_pb2", reason="needs tensorboard to write event files")
    del source
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    for first in (1, 4):
        writer = EventFileWriter(str(tmp_path / "runs" / "Nov30_02-44-12_host"), filename_suffix=f".{first}")
        for step in range(first, first + 3):
            writer.add_event(
                Event(step=step, summary=Summary(value=[Summary.Value(tag="train/loss", simple_value=step)]))
            )
        writer.close()
    (run,) = load([tmp_path]).runs
    assert len(run) == 6


def test_links_in_a_circle_pipes_sockets_and_closed_folders_are_survived(tmp_path, monkeypatch):
    write(tmp_path, {"a/log.jsonl": jsonl(), "closed/log.jsonl": jsonl()})
    (tmp_path / "a" / "again").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "linked.jsonl").symlink_to(tmp_path / "a" / "log.jsonl")
    (tmp_path / "gone.jsonl").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.jsonl")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket.jsonl")
        scandir = os.scandir

        def closed(path):
            if path.name == "closed":
                raise PermissionError(13, "Permission denied")
            return scandir(path)

        monkeypatch.setattr(folder_module.os, "scandir", closed)
        loaded = load([tmp_path])
    assert len(loaded.runs) == 1
    assert {Path(r.file).name: r.why for r in loaded.refused} == {
        "closed": "this folder cannot be read (Permission denied)",
        "gone.jsonl": "it cannot be opened (No such file or directory)",
    }


def test_a_pipe_that_is_named_is_refused_and_never_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.jsonl")
    with pytest.raises(
        UnreadableLogError, match=r"it is a named pipe, not a file\. To read from it: `holter check - < "
    ):
        load([tmp_path / "pipe.jsonl"])
    with pytest.raises(UnreadableLogError, match=r"^/dev/zero: it is a device, not a file"):
        load(["/dev/zero"])


def test_a_folder_without_end_is_left_with_a_reason(tmp_path, monkeypatch):
    write(tmp_path, {f"{i}/log.jsonl": jsonl() for i in range(5)})
    monkeypatch.setattr(folder_module, "MOST_ENTRIES", 7)
    loaded = load([tmp_path])
    assert loaded.runs
    assert "name the runs' folders" in loaded.refused[0].why


def test_runs_of_one_name_get_names_of_their_own(tmp_path):
    export = "Step,a - train/reward,a - train/reward__MIN\n1,2,3\n"
    write(tmp_path, {"1.csv": export, "2.csv": export.replace("2", "5"), "3.csv": export.replace("2", "6")})
    assert [r.name for r in load([tmp_path / "1.csv", tmp_path / "2.csv", tmp_path / "3.csv"]).runs] == [
        "a",
        "a (2)",
        "a (3)",
    ]


def test_the_dialect_can_be_given(tmp_path):
    write(tmp_path, {"log.jsonl": jsonl()})
    assert load([tmp_path], speaks="verl").runs[0].dialect == "verl"


def test_a_refusal_names_the_file_once_and_the_line(tmp_path):
    write(tmp_path, {"train.jsonl": jsonl(), "doubtful.csv": 'step,reward\n1,"1,234"\n2,"2,345"\n'})
    (refused,) = load([tmp_path / "train.jsonl", tmp_path / "doubtful.csv", tmp_path / "train.jsonl"]).refused
    assert (refused.file, refused.line) == (str(tmp_path / "doubtful.csv"), 2)
    assert refused.why.startswith("column 'reward' has the number '1,234'")


def test_a_mistyped_path_is_answered_with_the_nearest_name(tmp_path):
    write(tmp_path, {"train.jsonl": jsonl(), "unlike.csv": "a,b\n"})
    with pytest.raises(UnreadableLogError, match=r"no such file or folder\. Did you mean .*train\.jsonl\?$"):
        load([tmp_path / "trian.jsonl"])
    with pytest.raises(UnreadableLogError, match="nor is there a folder"):
        load([tmp_path / "gone" / "train.jsonl"])


def test_of_a_large_folder_not_every_name_is_looked_at_and_the_folder_is_closed(tmp_path, monkeypatch):
    monkeypatch.setattr(load_module, "MOST_NAMES", 1)
    write(tmp_path, {"a.jsonl": jsonl(), "b.jsonl": jsonl()})
    with pytest.raises(UnreadableLogError, match="there is no such file or folder"):
        load([tmp_path / "c.jsonl"])


@pytest.mark.parametrize("name", ["run.jsonl", "trainer_state.json"])
def test_only_the_signals_that_were_asked_for_are_loaded(tmp_path, name):
    (tmp_path / name).write_text(jsonl() if name.endswith("l") else state())
    whole = load([tmp_path / name]).runs[0]
    (run,) = load([tmp_path / name], signals=["reward"]).runs
    assert {s.metric for s in run.series.values() if s.concept != "axis"} == {"reward"}
    assert run.get("reward").values.tolist() == whole.get("reward").values.tolist()
    assert run.steps.tolist() == whole.steps.tolist()
    assert run.dialect == whole.dialect


def test_a_signal_may_be_asked_for_by_its_concept_or_by_the_name_in_the_log(tmp_path):
    (tmp_path / "run.jsonl").write_text(jsonl(**{"kl": 0.5, "my/own": 2.0}))
    by_concept = load([tmp_path / "run.jsonl"], signals=["ref_kl"]).runs[0]
    by_name = load([tmp_path / "run.jsonl"], signals=["my/own"]).runs[0]
    assert by_concept.get("ref_kl").values.tolist() == [0.5] * 3
    assert not by_concept.unknown
    assert by_name.unknown["my/own"].values.tolist() == [2.0] * 3
    assert by_name.get("reward") is None
