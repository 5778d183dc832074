"""TensorBoard's own reader as the second implementation."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from holter.readers.tensorboard.reader import read_files
from tests.unit.readers.tensorboard.reading import bits, everything

pytest.importorskip("tensorboard")

GOLDEN = Path(__file__).parents[3] / "golden" / "tensorboard"
PUBLIC = sorted((Path(__file__).parents[5] / "shared/runs/public").glob("*/events.out.tfevents.*"))


def theirs(folder: Path) -> dict[str, list[tuple[int, bytes]]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util import tensor_util

    accumulator = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0}, purge_orphaned_data=False)
    accumulator.Reload()
    found = {tag: [(e.step, bits(e.value)) for e in accumulator.Scalars(tag)] for tag in accumulator.Tags()["scalars"]}
    for tag in accumulator.Tags()["tensors"]:
        if accumulator.SummaryMetadata(tag).plugin_data.plugin_name == "scalars":
            events = accumulator.Tensors(tag)
            found[tag] = [(e.step, bits(float(tensor_util.make_ndarray(e.tensor_proto).item()))) for e in events]
    return found


@pytest.mark.parametrize("folder", sorted(p for p in GOLDEN.iterdir() if p.is_dir()), ids=lambda p: p.name)
def test_golden_files_say_the_same_to_both(folder):
    ours = everything(read_files(list(folder.glob("*tfevents*")), "golden"))
    assert ours == theirs(folder)


@pytest.mark.parametrize("path", PUBLIC, ids=lambda p: p.parent.name)
def test_public_logs_say_the_same_to_both(path):
    assert everything(read_files([path], "public")) == theirs(path.parent)


def test_random_files_say_the_same_to_both(tmp_path):
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    rng = random.Random(3)
    tags = ["", "loss", "奖励/均值", *(f"train/metric_{k}" for k in range(12))]
    writer = EventFileWriter(str(tmp_path))
    for step in range(300):
        for tag in tags if rng.random() < 0.9 else rng.sample(tags, 5):
            value = Summary.Value(tag=tag, simple_value=rng.gauss(0, 1))
            writer.add_event(Event(wall_time=1.7e9 + step, step=step * 50, summary=Summary(value=[value])))
    writer.close()
    assert everything(read_files(list(tmp_path.iterdir()), "random")) == theirs(tmp_path)
