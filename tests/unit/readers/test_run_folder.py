"""What the recorder writes, the reading half reads."""

import math
from dataclasses import replace

import pytest

from holter.readers.base import Source
from holter.readers.registry import read
from holter.runs.load import load
from holter.store.manifest import Manifest
from holter.store.run_folder import RunFolder

MANIFEST = Manifest(id="run", created=0.0, algorithm="ppo", config={"kl_coef": 0.05, "num_ppo_epochs": 4})


def written(folder, steps, *, resume=None, shift=0.0):
    run = RunFolder.create(folder, MANIFEST) if resume is None else RunFolder.resume(folder, MANIFEST, step=resume)
    with run:
        for step in steps:
            row = {"objective/kl": step + shift, "policy/approxkl_avg": math.nan if step == 3 else 0.01}
            run.write(step, row, now=100.0 + step)


def only(folder):
    (run,) = load([str(folder)]).runs
    return run


def test_a_run_folder_comes_back_as_one_run_with_its_config(tmp_path):
    written(tmp_path, range(1, 7))
    run = only(tmp_path)
    assert run.steps.tolist() == [1, 2, 3, 4, 5, 6]
    assert run.series["objective/kl"].values.tolist() == [1, 2, 3, 4, 5, 6]
    assert math.isnan(run.series["policy/approxkl_avg"].values[2])
    assert run.config["kl_coef"] == 0.05


def test_segments_are_one_run_and_the_newest_wins(tmp_path):
    written(tmp_path, range(1, 8))
    written(tmp_path, range(5, 10), resume=4, shift=100.0)
    run = only(tmp_path)
    assert run.steps.tolist() == list(range(1, 10))
    assert run.series["objective/kl"].values.tolist() == [1, 2, 3, 4, *(step + 100.0 for step in range(5, 10))]
    assert run.resumes == (4,)


def test_a_run_that_was_resumed_from_its_first_step_is_one_run(tmp_path):
    written(tmp_path, range(1, 5))
    written(tmp_path, range(1, 4), resume=0, shift=100.0)
    run = only(tmp_path)
    assert run.series["objective/kl"].steps.tolist() == [1, 2, 3]
    assert run.series["objective/kl"].values.tolist() == [101, 102, 103]
    assert run.resumes == (0,)
    assert run.repeated == 4


def test_the_boundary_of_a_resume_is_known_where_no_step_is_repeated(tmp_path):
    written(tmp_path, range(1, 5))
    written(tmp_path, range(5, 8), resume=4)
    assert only(tmp_path).resumes == (4,)


def test_the_manifest_names_the_dialect(tmp_path):
    rows = {"reward": 0.5, "reward_std": 0.1, "kl": 0.01, "completions/mean_length": 9.0}
    for name, dialect in (("ours", "holter"), ("theirs", "trl-grpo"), ("unsaid", "")):
        with RunFolder.create(tmp_path / name, replace(MANIFEST, dialect=dialect)) as run:
            for step in (1, 2, 3):
                run.write(step, rows, now=float(step))
    assert [only(tmp_path / name).dialect for name in ("ours", "theirs", "unsaid")] == [
        "holter",
        "trl-grpo",
        "trl-grpo",
    ]


def test_the_eleventh_segment_comes_after_the_tenth(tmp_path):
    written(tmp_path, range(1, 4))
    for segment in range(1, 12):
        written(tmp_path, [segment + 2, segment + 3], resume=segment + 1, shift=1000.0 * segment)
    run = only(tmp_path)
    assert run.steps.tolist() == list(range(1, 15))
    assert run.series["objective/kl"].values[-2:].tolist() == [11013.0, 11014.0]


def test_rows_after_a_checkpoint_that_were_never_replaced_do_not_count(tmp_path):
    written(tmp_path, range(1, 8))
    written(tmp_path, [10, 11], resume=4)
    assert only(tmp_path).steps.tolist() == [1, 2, 3, 4, 10, 11]


def test_gaps_and_broken_lines_are_named_with_file_and_line(tmp_path):
    written(tmp_path, range(1, 4))
    file = tmp_path / "metrics-0.jsonl"
    file.write_bytes(file.read_bytes() + b'{"gap":{"lines":3,"why":"No space left on device"}}\n{"step":7,"lo\n{"st')
    run = only(tmp_path)
    said = [str(s) for s in run.skipped]
    assert said[0] == f"{file}:4: 3 rows could not be written here: No space left on device"
    assert said[1].startswith(f"{file}:5: not a line of a run")
    assert len(said) == 2
    assert len(run.steps) == 3


def test_a_broken_manifest_is_told_and_costs_no_row(tmp_path):
    written(tmp_path, range(1, 4))
    (tmp_path / "metrics-1.jsonl").write_bytes(
        (tmp_path / "metrics-0.jsonl").read_bytes().replace(b'"step":', b'"step":1')
    )
    (tmp_path / "run-1.json").write_text(
        '{"format": "holter-run", "version": 1, "id": "a", "created": 1.0, "config": [1]}'
    )
    (run,) = load([tmp_path]).runs
    assert run.steps.tolist() == [1, 2, 3, 11, 12, 13]
    assert [str(s) for s in run.skipped] == [f"{tmp_path / 'run-1.json'}: not a run's manifest: its config is a list."]


def test_one_metrics_file_is_read_with_the_manifest_beside_it(tmp_path):
    written(tmp_path, range(1, 4))
    (log,) = read(Source.of(tmp_path / "metrics-0.jsonl"))
    assert log.reader == "run-folder"
    assert log.config["num_ppo_epochs"] == 4
    assert log.lines.tolist() == [1, 2, 3]


@pytest.mark.parametrize("head", [b"", b"{}", b'{"loss": 1}\n', b'{"step": 1, "loss": 2}\n'])
def test_a_foreign_file_of_that_name_is_left_to_others(tmp_path, head):
    (tmp_path / "metrics-0.jsonl").write_bytes(head)
    source = Source.of(tmp_path / "metrics-0.jsonl")
    from holter.readers.run_folder import RUN_FOLDER

    assert not RUN_FOLDER.recognises(source.name, head)


def test_manifests_of_other_runs_do_not_mix(tmp_path):
    written(tmp_path / "a", range(1, 4))
    with RunFolder.create(tmp_path / "b", replace(MANIFEST, config={"kl_coef": 9.0})) as other:
        other.write(1, {"objective/kl": 1.0})
    found = {run.config["kl_coef"] for run in load([str(tmp_path)]).runs}
    assert found == {0.05, 9.0}


def test_training_and_evaluation_rows_of_one_step_do_not_replace_each_other(tmp_path):
    with RunFolder.create(tmp_path, MANIFEST) as run:
        for step in (1, 2, 3):
            run.write(step, {"objective/kl": 0.1 * step}, now=100.0 + step)
            run.write(step, {"eval/reward": 0.5}, now=100.5 + step)
        run.write(3, {"objective/kl": 0.4}, now=104.0)
    read = only(tmp_path)
    assert len(read) == 3
    assert read.repeated == 1
