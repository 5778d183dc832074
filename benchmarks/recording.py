"""What logging 100 scalars a step costs, and what `kill -9` loses: the run folder against torch's SummaryWriter and W&B offline.

    python benchmarks/recording.py [STEPS] [TURNS]

Each measurement is a fresh process, in turns. `caller` is the CPU time of the thread that trains, `process` that of all its
threads, per step, the least of the turns; bytes are those of all files, per value. `isolated` is the same tracker behind our
wrapper. `recorder` is the whole way from 100 tensors in 4 micro-batches to the line. For the loss a process logs at full
speed and says each step it has logged, then is killed; lost are the steps it said that are not in the file.
Then: what a tracker that hangs, and one that raises, cost the thread that trains over 1,000 steps.
"""

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SCALARS = 100
WRITERS = ("holter", "recorder", "summary_writer", "isolated_summary_writer", "wandb_offline")
SLOW = {"summary_writer": 5, "isolated_summary_writer": 5, "wandb_offline": 5}
"""How many times fewer steps the slow ones run."""
ENVIRONMENT = {"WANDB_MODE": "offline", "WANDB_SILENT": "true", "WANDB_CONSOLE": "off"}


def rows():
    """Rows of values that look like metrics."""
    rng = random.Random(0)
    return [{f"group_{k // 10}/metric_{k}": rng.gauss(0, 1) for k in range(SCALARS)} for _ in range(50)]


def manifest():
    from holter.store.manifest import describe

    return describe(name="benchmark")


def opened(writer, folder):
    """A function that logs one step, and one that finishes."""
    from holter.sinks.base import Destination
    from holter.sinks.isolated import Isolated
    from holter.sinks.registry import all_trackers

    to = Destination(folder=folder)
    if writer == "summary_writer":
        from torch.utils.tensorboard import SummaryWriter

        plain = SummaryWriter(log_dir=str(folder))

        def write(step, row):
            for key, value in row.items():
                plain.add_scalar(key, value, step)

        return write, plain.close
    if writer == "wandb_offline":
        import wandb

        run = wandb.init(project="benchmark", dir=str(folder))
        return (lambda step, row: run.log(row, step=step)), run.finish
    if writer == "recorder":
        return recording(folder)
    name = "tensorboard" if writer == "isolated_summary_writer" else "holter"
    sink = all_trackers()[name].create(to)
    if name == "tensorboard":
        sink = Isolated(sink)
    sink.open(manifest())
    return sink.write, sink.close


def recording(folder):
    """The recorder with 25 means in each of 4 micro-batches."""
    import torch

    from holter.recorder.recorder import Recorder
    from holter.sinks.base import Destination
    from holter.sinks.registry import all_trackers

    torch.set_num_threads(1)
    recorder = Recorder([all_trackers()["holter"].create(Destination(folder=folder))])
    recorder.open(manifest())
    total, count = torch.tensor(1.5), torch.tensor(3)

    def write(step, row):
        for _ in range(4):
            for key in row:
                recorder.record(key, total, count)
        recorder.dump(step)

    return write, recorder.close


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
    if writer in ("holter", "recorder"):
        from holter.store.reading import rows as logged

        return {row.step for row in logged(folder)}
    if writer == "wandb_offline":
        return {step for file in folder.rglob("*.wandb") for step in steps_in_wandb(file.read_bytes())}
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder), size_guidance={"scalars": 0})
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
        logged = max(int(line) for line in said if line.strip())
        return logged, logged - len(steps_in(writer, folder) & set(range(1, logged + 1)))


def measured(writer, steps):
    """One measurement in a fresh process."""
    with tempfile.TemporaryDirectory() as place:
        command = [sys.executable, __file__, "--cost", writer, str(Path(place) / "run"), str(steps)]
        done = subprocess.run(command, capture_output=True, text=True, check=True, env={**os.environ, **ENVIRONMENT})
        return json.loads(done.stdout.splitlines()[-1])


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
    best = {}
    for _ in range(turns):
        for writer in WRITERS:
            found = measured(writer, steps // SLOW.get(writer, 1))
            known = best.setdefault(writer, found)
            best[writer] = {k: min(found[k], known[k]) for k in found}
    print(f"{'writer':>24} | caller us/step  process us/step | bytes/value | steps logged at kill -9   lost")
    for writer, found in best.items():
        # What waits for an isolated tracker lies in the run folder already.
        logged, lost = killed(writer) if writer != "isolated_summary_writer" else ("-", "-")
        print(
            f"{writer:>24} | {found['caller']:14.1f} {found['process']:16.1f} | {found['bytes']:11.1f} | {logged:>23} {lost:>6}",
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
