"""How fast event files become columns, against TensorBoard's own reader and tbparse, measured in turns in one process.

    python benchmarks/event_files.py [STEPS] [TAGS] [TURNS]

10,000 steps of 60 tags take some three minutes of CPU time a turn, nearly all of it the other readers'. Needs tensorboard
and tbparse (`bench` in pyproject.toml). Holter checks every checksum, as TensorBoard does, and what comes out of all readers is
compared.
"""

import sys
import tempfile
import tracemalloc
import warnings
from pathlib import Path
from time import process_time

import numpy as np

from holter.readers.tensorboard.reader import read_files

FORMS = ("simple_value", "tensor", "shuffled")
"""How a scalar is written: the old form, the new one, and the old one with the tags in another order at every step."""


OWN_TIMES = 5


def written(folder, form, steps, tags):
    """A log as torch's SummaryWriter makes it, one record a scalar, by TensorBoard's own writer."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary, SummaryMetadata
    from tensorboard.compat.proto.tensor_pb2 import TensorProto
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    rng = np.random.default_rng(0)
    names = [f"train/group_{k % 7}/{'a_longer_' * (k % 3)}metric_{k}" for k in range(tags)]
    plugin = SummaryMetadata(plugin_data=SummaryMetadata.PluginData(plugin_name="scalars"))
    writer = EventFileWriter(str(folder), max_queue_size=10_000)
    second = 1.7e9
    for step in range(steps):
        second += rng.uniform(1, 2)
        order = rng.permutation(tags) if form == "shuffled" else range(tags)
        for value, k in zip(rng.normal(size=tags).tolist(), order, strict=True):
            if form == "tensor":
                tensor = TensorProto(dtype="DT_FLOAT", float_val=[value])
                said = Summary.Value(tag=names[k], tensor=tensor, metadata=plugin)
            else:
                said = Summary.Value(tag=names[k], simple_value=value)
            second += 1e-5
            writer.add_event(Event(wall_time=second, step=step, summary=Summary(value=[said])))
    writer.close()


def by_tensorboard(folder, form):
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
    from tensorboard.util.tensor_util import make_ndarray

    log = EventAccumulator(str(folder), size_guidance={"scalars": 0, "tensors": 0})
    log.Reload()
    if form == "tensor":
        tags = log.Tags()["tensors"]
        return {t: np.array([float(make_ndarray(e.tensor_proto)) for e in log.Tensors(t)]) for t in tags}
    return {t: np.array([e.value for e in log.Scalars(t)]) for t in log.Tags()["scalars"]}


def by_tbparse(folder, form):
    from tbparse import SummaryReader

    log = SummaryReader(str(folder))
    table = log.tensors if form == "tensor" else log.scalars
    return {tag: np.array(rows["value"], np.float64) for tag, rows in table.groupby("tag", sort=False)}


def by_holter(folder, form):  # noqa: ARG001
    log = read_files(list(folder.iterdir()), str(folder))
    assert not log.skipped
    return {name: c.values for name, c in log.columns.items() if name not in ("step", "wall_time")}


def timed(read, folder, form):
    """CPU seconds and the columns."""
    start = process_time()
    columns = read(folder, form)
    return process_time() - start, columns


def peak(folder, form):
    """Bytes allocated at the most while reading, and bytes of the columns that come out: values, rows, steps, times."""
    tracemalloc.start()
    log = read_files(list(folder.iterdir()), form)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = {id(c.at): c.at.nbytes for c in log.columns.values()}
    return most, sum(c.values.nbytes for c in log.columns.values()) + sum(rows.values())


def turn(folder, form):
    """CPU seconds of every reader, and the number of points. Ours is so short that a single time says little."""
    base, theirs = timed(by_tensorboard, folder, form)
    tabular, table = timed(by_tbparse, folder, form)
    own = []
    for _ in range(OWN_TIMES):
        seconds, ours = timed(by_holter, folder, form)
        own.append(seconds)
    for other in (theirs, table):
        assert other.keys() == ours.keys()
        assert all(np.array_equal(other[tag], ours[tag]) for tag in ours)
    return (base, tabular, float(np.median(own))), sum(map(len, ours.values()))


def measure(folder, form, turns):
    found = [turn(folder, form) for _ in range(turns)]
    times, points = np.array([seconds for seconds, _ in found]), found[0][1]
    middle = np.median(times, axis=0)
    ratios = np.median(times[:, :2] / times[:, 2:], axis=0)
    most, size = peak(folder, form)
    print(
        f"| {form} | {points:,} | {middle[0]:.2f} s | {middle[1]:.2f} s | {1e3 * middle[2]:.0f} ms "
        f"| {points / middle[2] / 1e6:.1f} | {ratios[0]:.0f}x | {ratios[1]:.0f}x | {most / size:.1f}x |",
        flush=True,
    )


def main():
    steps, tags, turns = (int(a) for a in [*sys.argv[1:], *("10000", "60", "3")[len(sys.argv) - 1 :]])
    # tbparse and TensorBoard warn about their own use of other packages.
    warnings.simplefilter("ignore")
    print(
        "| scalars | points | EventAccumulator | tbparse | holter | million points/s | ratio | ratio to tbparse | peak memory |"
    )
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for form in FORMS:
        with tempfile.TemporaryDirectory() as name:
            written(Path(name), form, steps, tags)
            measure(Path(name), form, turns)


if __name__ == "__main__":
    main()
