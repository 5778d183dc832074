"""Writes the event files of this folder with TensorBoard's own writers. Run it as ``python tests/golden/tensorboard/write.py``.

The names of the files are fixed, because a writer puts the hour, the machine and the process into them.
"""

from __future__ import annotations

import json
import math
import random
import shutil
from pathlib import Path

import numpy as np
from tensorboard.compat.proto.event_pb2 import Event
from tensorboard.compat.proto.summary_pb2 import HistogramProto, Summary, SummaryMetadata
from tensorboard.compat.proto.tensor_pb2 import TensorProto
from tensorboard.compat.proto.tensor_shape_pb2 import TensorShapeProto
from tensorboard.summary import Writer
from tensorboard.summary.writer.event_file_writer import EventFileWriter

HERE = Path(__file__).parent
BEGIN = 1_700_000_000
TAGS = ("train/loss", "train/reward", "train/kl", "train/entropy", "train/completions/mean_length")


def plugin(name: str) -> SummaryMetadata:
    return SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name=name))


def add(writer: EventFileWriter, step: int, value: Summary.Value, second: float) -> None:
    writer.add_event(Event(wall_time=BEGIN + second, step=step, summary=Summary(value=[value])))


def named(folder: Path, second: int, index: int) -> None:
    """Give the newest file of a folder its lasting name."""
    newest = max(folder.iterdir(), key=lambda path: path.stat().st_mtime_ns)
    newest.rename(folder / f"events.out.tfevents.{BEGIN + second}.host.1.{index}")


def simple_values(rng: random.Random) -> None:
    folder = HERE / "simple-values"
    writer = EventFileWriter(str(folder))
    for step in range(150):
        for tag in TAGS:
            value = math.nan if (tag, step) == ("train/kl", 77) else rng.gauss(0, 1)
            add(writer, step * 100, Summary.Value(tag=tag, simple_value=value), step)
        if step % 25 == 0:
            add(writer, step * 100, Summary.Value(tag="eval/reward", simple_value=rng.random()), step + 0.5)
    writer.close()
    named(folder, 0, 0)


def tensors(rng: random.Random) -> None:
    folder = HERE / "tensors"
    writer = Writer(str(folder))
    for step in range(60):
        for tag in TAGS[:3]:
            writer.add_scalar(tag, np.float32(rng.gauss(0, 1)), step, wall_time=BEGIN + step)
    writer.close()
    named(folder, 0, 0)


def resumed(rng: random.Random) -> None:
    folder = HERE / "resumed-in-a-second-file"
    for index, (first, last) in enumerate([(1, 60), (41, 100)]):
        writer = EventFileWriter(str(folder))
        for step in range(first, last + 1):
            for tag in TAGS:
                add(writer, step, Summary.Value(tag=tag, simple_value=rng.gauss(index, 0.1)), 1000 * index + step)
        writer.close()
        named(folder, 1000 * index, index)


def other_kinds(rng: random.Random) -> None:
    folder = HERE / "histograms-texts-and-arguments"
    writer = EventFileWriter(str(folder))
    for tag, said in (("args", {"learning_rate": 1e-6, "beta": 0.04}), ("model_config", {"hidden_size": 64})):
        text = TensorProto(dtype="DT_STRING", string_val=[json.dumps(said).encode()], tensor_shape=TensorShapeProto())
        add(writer, 0, Summary.Value(tag=f"{tag}/text_summary", tensor=text, metadata=plugin("text")), 0)
    for step in range(1, 31):
        for tag in TAGS:
            number = TensorProto(dtype="DT_FLOAT", float_val=[rng.gauss(0, 1)])
            add(writer, step, Summary.Value(tag=tag, tensor=number, metadata=plugin("scalars")), step)
        counts = HistogramProto(min=0, max=1, num=2, sum=1, sum_squares=1, bucket_limit=[0.5, 1], bucket=[1, 1])
        add(writer, step, Summary.Value(tag="weights", histo=counts), step)
    writer.close()
    named(folder, 0, 0)


if __name__ == "__main__":
    for old in HERE.iterdir():
        if old.is_dir():
            shutil.rmtree(old)
    for write in (simple_values, tensors, resumed, other_kinds):
        write(random.Random(write.__name__))
