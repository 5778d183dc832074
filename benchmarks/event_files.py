"""How fast event files become columns, against TensorBoard's reader, tbparse, tb-like and TensorBoard's data server, in turns.

    python benchmarks/event_files.py [STEPS] [TAGS] [TURNS] [RUNS]

10,000 steps of 60 tags take some three minutes of CPU time a turn, nearly all of it the other readers'. Needs tensorboard
and tbparse (`bench` in pyproject.toml); tb-like and tensorboard-data-server are measured where they are installed. Holter checks
every checksum, as TensorBoard and its data server do and tb-like does not, and what comes out of the readers in Python is
compared. The data server, written in Rust, keeps what it reads to itself: its time is the CPU time of its process until it
says that the log is loaded. Last, RUNS folders with a small run each are read, by tbparse and by Holter.
"""

import os
import subprocess
import sys
import tempfile
import tracemalloc
import warnings
from importlib.util import find_spec
from pathlib import Path
from time import process_time

import numpy as np

from holter.readers.registry import all_readers
from holter.readers.tensorboard.reader import read_files
from holter.runs.load import raw_logs

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


def by_tb_like(folder, form):  # noqa: ARG001
    from tblike.events import parse_file

    columns: dict[str, list[float]] = {}
    for path in folder.iterdir():
        said = parse_file(str(path))
        for tag, value in zip(said["tags"], said["vals"], strict=True):
            columns.setdefault(tag, []).append(value)
    return {tag: np.array(values) for tag, values in columns.items()}


def by_data_server(folder):
    """CPU seconds of TensorBoard's data server, every point kept, until it has loaded the log."""
    import tensorboard_data_server

    command = [tensorboard_data_server.server_binary(), "--logdir", str(folder), "--reload", "once", "--port", "0"]
    command += ["--samples-per-plugin", "scalars=1000000000", "--verbose", "--verbose"]
    server = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    try:
        for line in server.stderr:
            if "Finished load cycle" in line:
                break
        fields = Path(f"/proc/{server.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    finally:
        server.kill()
        server.wait()


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
    """CPU seconds of every reader, by name, and the number of points. Ours is so short that a single time says little."""
    times, columns = {}, {}
    times["EventAccumulator"], columns["EventAccumulator"] = timed(by_tensorboard, folder, form)
    times["tbparse"], columns["tbparse"] = timed(by_tbparse, folder, form)
    if find_spec("tblike"):
        times["tb-like"], columns["tb-like"] = timed(by_tb_like, folder, form)
    if find_spec("tensorboard_data_server"):
        times["data server"] = by_data_server(folder)
    own = []
    for _ in range(OWN_TIMES):
        seconds, ours = timed(by_holter, folder, form)
        own.append(seconds)
    for other in columns.values():
        assert other.keys() == ours.keys()
        assert all(np.array_equal(other[tag], ours[tag]) for tag in ours)
    return {**times, "holter": float(np.median(own))}, sum(map(len, ours.values()))


def measure(folder, form, turns):
    found = [turn(folder, form) for _ in range(turns)]
    points = found[0][1]
    most, size = peak(folder, form)
    own = np.median([times["holter"] for times, _ in found])
    for name in found[0][0]:
        if name != "holter":
            middle = np.median([times[name] for times, _ in found])
            ratio = np.median([times[name] / times["holter"] for times, _ in found])
            print(f"| {form} | {name} | {middle:.2f} s | {1e3 * own:.0f} ms | {ratio:.0f}x |", flush=True)
    rate = points / own / 1e6
    print(
        f"| {form} | | {points:,} points | {rate:.1f} million a second | peak memory {most / size:.1f}x the columns |"
    )


def small_runs(folder, count):
    """CPU seconds of tbparse and of Holter for a folder of `count` runs of 50 steps and 20 tags."""
    from tbparse import SummaryReader

    for number in range(count):
        written(folder / f"run-{number}", "simple_value", 50, 20)
    # Both have loaded what they import: tbparse above, Holter here.
    all_readers()
    began = process_time()
    table = SummaryReader(str(folder)).scalars
    between = process_time()
    logs = raw_logs(str(folder))
    ended = process_time()
    assert len(logs) == count
    assert len(table) == count * 50 * 20 == sum(len(log.columns) - 2 for log in logs) * 50
    return between - began, ended - between


def main():
    given = [int(a) for a in sys.argv[1:]]
    steps, tags, turns, runs = [*given, *(10_000, 60, 3, 200)[len(given) :]]
    # tbparse and TensorBoard warn about their own use of other packages.
    warnings.simplefilter("ignore")
    print("| scalars | reader | its time | holter | ratio |")
    print("|---|---|---:|---:|---:|")
    for form in FORMS if steps else ():
        with tempfile.TemporaryDirectory() as name:
            written(Path(name), form, steps, tags)
            measure(Path(name), form, turns)
    with tempfile.TemporaryDirectory() as name:
        theirs, ours = small_runs(Path(name), runs)
        print(f"| {runs} small runs | tbparse | {theirs:.2f} s | {1e3 * ours:.0f} ms | {theirs / ours:.0f}x |")


if __name__ == "__main__":
    main()
