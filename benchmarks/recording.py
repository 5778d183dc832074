"""What logging 100 scalars a step costs, and what `kill -9` loses: the run folder against what other trackers write.

    python benchmarks/recording.py [STEPS] [TURNS]

Each measurement is a fresh process, in turns; a tracker that is not installed is left out. `caller` is the CPU time of the thread
that trains, `process` that of all its threads, per step, the least of the turns; processes that a tracker starts beside it are
not counted. Bytes are those of all files, per value. `line` is what cannot be gone below: a row of numbers as a line of JSON,
written by one call. `run.log` is `holter.init(...).log`, without and with the monitor; `recorder` the whole way from 100 tensors
in 4 micro-batches to the line; `holter tensorboard` our own event files, which are written in a thread of their own.

For the loss a process logs at full speed and says each step it has logged, then is killed; lost are the steps it said that are
not in its files. Then: what a tracker that hangs, and one that raises, cost the thread that trains over 1,000 steps.
"""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

SCALARS = 100
NEEDS = {
    "line": "holter",
    "run.log": "holter",
    "run.log, monitored": "holter",
    "recorder": "torch",
    "holter tensorboard": "tensorboard",
    "SummaryWriter": "torch",
    "W&B offline": "wandb",
    "Trackio": "trackio",
    "MLflow": "mlflow",
}
"""What each writer needs."""
SLOW = {"SummaryWriter": 5, "holter tensorboard": 5, "W&B offline": 5, "Trackio": 5, "MLflow": 100}
"""How many times fewer steps the slow ones run."""
ENVIRONMENT = {
    "WANDB_MODE": "offline",
    "WANDB_SILENT": "true",
    "WANDB_CONSOLE": "off",
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "HF_HUB_OFFLINE": "1",
}


def rows():
    """Rows of values that look like metrics."""
    rng = random.Random(0)
    return [{f"group_{k // 10}/metric_{k}": rng.gauss(0, 1) for k in range(SCALARS)} for _ in range(50)]


def manifest():
    from holter.store.manifest import describe

    return describe(name="benchmark")


def opened(writer, folder):
    """A function that logs one step, and one that finishes."""
    folder.mkdir(parents=True, exist_ok=True)
    return OPEN[writer](folder)


def plain_lines(folder):
    import orjson

    file = os.open(folder / "lines.jsonl", os.O_WRONLY | os.O_CREAT | os.O_APPEND)

    def write(step, row):
        os.write(file, orjson.dumps({"step": step, "time": time.time(), **row}, option=orjson.OPT_APPEND_NEWLINE))

    return write, lambda: os.close(file)


def session(folder, *, monitor):
    import holter

    run = holter.init(folder / "run", monitor=monitor, tell=None)
    return (lambda step, row: run.log(row, step=step)), run.finish


def holter_tensorboard(folder):
    from holter.sinks.base import Destination
    from holter.sinks.registry import all_trackers

    sink = all_trackers()["tensorboard"].create(Destination(folder=folder))
    sink.open(manifest())
    return sink.write, sink.close


def summary_writer(folder):
    from torch.utils.tensorboard import SummaryWriter

    plain = SummaryWriter(log_dir=str(folder))

    def write(step, row):
        for key, value in row.items():
            plain.add_scalar(key, value, step)

    return write, plain.close


def wandb_offline(folder):
    import wandb

    run = wandb.init(project="benchmark", dir=str(folder))
    return (lambda step, row: run.log(row, step=step)), run.finish


def trackio(folder):
    os.environ["TRACKIO_DIR"] = str(folder)
    import trackio as tracker

    run = tracker.init(project="benchmark", name="run", embed=False, auto_log_cpu=False, auto_log_gpu=False)
    return (lambda step, row: run.log(row, step=step)), run.finish


def mlflow(folder):
    import mlflow as tracker

    tracker.set_tracking_uri(f"sqlite:///{folder / 'mlflow.db'}")
    tracker.set_experiment("benchmark")
    tracker.start_run()
    return (lambda step, row: tracker.log_metrics(row, step=step)), tracker.end_run


def recording(folder):
    """The recorder with 100 means in each of 4 micro-batches."""
    import torch

    from holter.recorder.recorder import Recorder
    from holter.sinks.base import Destination
    from holter.sinks.registry import all_trackers

    torch.set_num_threads(1)
    recorder = Recorder([all_trackers()["holter"].create(Destination(folder=folder / "run"))])
    recorder.open(manifest())
    total, count = torch.tensor(1.5), torch.tensor(3)

    def write(step, row):
        for _ in range(4):
            for key in row:
                recorder.record(key, total, count)
        recorder.dump(step)

    return write, recorder.close


OPEN = {
    "line": plain_lines,
    "run.log": lambda folder: session(folder, monitor=False),
    "run.log, monitored": lambda folder: session(folder, monitor=True),
    "recorder": recording,
    "holter tensorboard": holter_tensorboard,
    "SummaryWriter": summary_writer,
    "W&B offline": wandb_offline,
    "Trackio": trackio,
    "MLflow": mlflow,
}
"""How each writer is opened in an empty folder."""


def cost(writer, folder, steps):
    """Microseconds a step and bytes a value in this process."""
    made = rows()
    write, finish = opened(writer, folder)
    for step in range(20):
        write(step, made[step % 50])
    thread, process = time.thread_time(), time.process_time()
    for step in range(20, steps + 20):
        write(step, made[step % 50])
    thread = time.thread_time() - thread
    finish()
    process = time.process_time() - process
    size = sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
    said = {"caller": thread / steps * 1e6, "process": process / steps * 1e6, "bytes": size / (steps + 20) / SCALARS}
    print(json.dumps(said))


def endless(writer, folder):
    """Log until killed, saying each step that is logged."""
    made = rows()
    write, _ = opened(writer, folder)
    step = 0
    while True:
        step += 1
        write(step, made[step % 50])
        os.write(1, f"{step}\n".encode())


def steps_in(writer, folder):
    """Steps that are whole in what a killed process left."""
    if writer == "line":
        whole = (folder / "lines.jsonl").read_bytes().rpartition(b"\n")[0]
        return {json.loads(line)["step"] for line in whole.splitlines()}
    if writer in ("run.log", "run.log, monitored", "recorder"):
        from holter.store.reading import rows as logged

        return {row.step for row in logged(folder / "run")}
    if writer == "W&B offline":
        return {step for file in folder.rglob("*.wandb") for step in steps_in_wandb(file.read_bytes())}
    if writer in ("Trackio", "MLflow"):
        (file,) = folder.glob("*.db")
        with sqlite3.connect(file) as base:
            whole = f"select step from metrics group by step having count(*) >= {SCALARS if writer == 'MLflow' else 1}"
            return {step for (step,) in base.execute(whole)}
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    (home,) = {file.parent for file in folder.rglob("*tfevents*")}
    read = EventAccumulator(str(home), size_guidance={"scalars": 0})
    read.Reload()
    last = f"group_{(SCALARS - 1) // 10}/metric_{SCALARS - 1}"
    tags = read.Tags()["scalars"]
    return {event.step for event in read.Scalars(last)} if last in tags else set()


def steps_in_wandb(data):
    """Steps of the history records of a .wandb file: blocks of 32 KiB with records cut into checksummed pieces."""
    from wandb.proto.wandb_internal_pb2 import Record

    at, record = 7, b""
    while at + 7 <= len(data):
        if 32768 - at % 32768 < 7:
            at += 32768 - at % 32768
            continue
        size, kind = int.from_bytes(data[at + 4 : at + 6], "little"), data[at + 6]
        if at + 7 + size > len(data):
            return
        record = (record if kind in (3, 4) else b"") + data[at + 7 : at + 7 + size]
        at += 7 + size
        if kind in (1, 4) and (parsed := Record.FromString(record)).HasField("history"):
            yield parsed.history.step.num


def killed(writer, seconds=2.0):
    """Steps that a process said it had logged, and how many of them are lost."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "run"
        child = subprocess.Popen(
            [sys.executable, __file__, "--endless", writer, str(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, **ENVIRONMENT},
        )
        first = child.stdout.readline()
        end = time.monotonic() + seconds
        said = [first]
        while time.monotonic() < end:
            said.append(child.stdout.readline())
        os.kill(child.pid, signal.SIGKILL)
        said += child.stdout.read().splitlines()
        child.wait()
        logged = max(int(line) for line in said if line.strip().isdigit())
        return logged, logged - len(steps_in(writer, folder) & set(range(1, logged + 1)))


def measured(writer, steps):
    """One measurement in a fresh process."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, __file__, "--cost", writer, str(Path(place) / "run"), str(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT})
        return json.loads(next(line for line in done.stdout.splitlines() if line.startswith("{")))


class Sick:
    """A tracker that hangs or raises at every call."""

    name = "sick"

    def __init__(self, hangs):
        self.hangs = hangs

    def open(self, manifest):
        """Open at once."""

    def write(self, step, row):
        """Hang or raise."""
        if self.hangs:
            time.sleep(3600)
        raise ConnectionError(f"the network is gone, and with it step {step} of {len(row)} values")

    samples = write

    def close(self):
        """Close at once."""


def sickness(hangs, steps=1000):
    """Milliseconds that a sick tracker costs the thread that trains, over `steps` steps of wall-clock time."""
    import logging

    from holter.sinks.isolated import Isolated

    logging.getLogger("holter").addHandler(logging.NullHandler())
    made = rows()
    sink = Isolated(Sick(hangs), patience=0.2)
    sink.open(manifest())
    spent = 0.0
    for step in range(steps):
        row = {"time": float(step), **made[step % 50]}
        start = time.perf_counter()
        sink.write(step, row)
        spent += time.perf_counter() - start
    sink.close()
    return spent * 1000


def main():
    steps = int(sys.argv[1]) if len(sys.argv) > 1 else 5000
    turns = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    writers = [name for name, package in NEEDS.items() if find_spec(package) is not None]
    best = {}
    for _ in range(turns):
        for writer in writers:
            found = measured(writer, max(50, steps // SLOW.get(writer, 1)))
            known = best.setdefault(writer, found)
            best[writer] = {k: min(found[k], known[k]) for k in found}
    ours = best["run.log"]["caller"]
    print(f"{'writer':>20} | caller us/step   to run.log  process us/step | bytes/value | logged at kill -9    lost")
    for writer, found in best.items():
        logged, lost = killed(writer)
        print(
            f"{writer:>20} | {found['caller']:14.1f} {found['caller'] / ours:11.1f}x {found['process']:16.1f} |"
            f" {found['bytes']:11.1f} | {logged:>17,} {lost:>7,}",
            flush=True,
        )
    for hangs, what in ((True, "hangs"), (False, "raises")):
        print(f"a tracker that {what}: {sickness(hangs):.1f} ms of training's wall-clock time over 1,000 steps")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cost"]:
        cost(sys.argv[2], Path(sys.argv[3]), int(sys.argv[4]))
    elif sys.argv[1:2] == ["--endless"]:
        endless(sys.argv[2], Path(sys.argv[3]))
    else:
        main()
