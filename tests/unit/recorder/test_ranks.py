"""Two processes give the row of one."""

import math
import os
import signal
from collections import Counter
from datetime import timedelta

import pytest

torch = pytest.importorskip("torch")
if not torch.distributed.is_available():
    pytest.skip("this torch has no distributed package", allow_module_level=True)

import torch.distributed as dist  # noqa: E402
import torch.multiprocessing as mp  # noqa: E402

from holter.recorder.recorder import Recorder  # noqa: E402
from holter.recorder.reductions import RecordError  # noqa: E402
from tests.unit.recorder.test_recorder import Memory, batch, record_all  # noqa: E402

COLLECTIVES = (
    "all_gather",
    "all_gather_object",
    "all_gather_into_tensor",
    "all_reduce",
    "gather",
    "broadcast",
    "barrier",
)


def process(rank, folder, results):
    """One of two: half of each batch, a metric of its own, one that comes late, a conflict at the end."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2)
    calls = Counter()
    for name in COLLECTIVES:
        original = getattr(dist, name)

        def counted(*arguments, _original=original, _name=name, **options):
            calls[_name] += 1
            return _original(*arguments, **options)

        setattr(dist, name, counted)
    sink = Memory()
    recorder = Recorder([sink])
    rows, collectives = [], []
    for step in range(5):
        values, mask = batch(seed=step)
        # Uneven: three sequences here, five there.
        mine = slice(0, 3) if rank == 0 else slice(3, 8)
        record_all(recorder, values[mine], mask[mine])
        recorder.record_last("lr", 0.1 + rank)
        if rank == 1:
            recorder.record_mean("only/one", 4.0)
        if step >= 3 and rank == 0:
            recorder.record_max("late", math.nan)
        calls.clear()
        rows.append(recorder.dump(step, episode=step))
        collectives.append(dict(calls))
    recorder.record_samples({"prompt": [f"of {rank}"]})
    samples = recorder.dump_samples(5)
    recorder.record_mean("x", 1.0) if rank else recorder.record_sum("x", 1.0)
    try:
        recorder.dump(6)
        conflict = ""
    except RecordError as error:
        conflict = str(error)
    results.put((rank, rows, collectives, samples, len(sink.rows), conflict))
    dist.destroy_process_group()


def mortal(rank, folder, results, pids, dying, number):
    """One of two, of which one sends itself a signal after its second row."""
    patience = timedelta(seconds=2) if number == signal.SIGSTOP else None
    dist.init_process_group("gloo", init_method=f"file://{folder}/meet", rank=rank, world_size=2, timeout=patience)
    pids.put((rank, os.getpid()))
    sink = Memory()
    recorder = Recorder([sink])
    rows = []
    for step in range(5):
        if step == 2 and rank == dying:
            os.kill(os.getpid(), number)
        recorder.record("kl", 2.0 + rank, 1)
        rows.append(recorder.dump(step))
    recorder.record_samples({"prompt": [f"of {rank}"]})
    results.put((rank, rows, recorder.dump_samples(5), [step for step, _ in sink.rows]))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP], ids=["killed", "stopped"])
@pytest.mark.parametrize("dying", [0, 1])
def test_a_process_that_is_gone_neither_holds_up_the_other_nor_ends_its_record(tmp_path, dying, number):
    context = mp.get_context("spawn")
    results, pids = context.SimpleQueue(), context.SimpleQueue()
    children = [
        context.Process(target=mortal, args=(rank, str(tmp_path), results, pids, dying, number)) for rank in range(2)
    ]
    for child in children:
        child.start()
    rank, rows, samples, written = results.get()
    if number == signal.SIGSTOP:
        os.kill(dict((pids.get(), pids.get()))[dying], signal.SIGCONT)
        # It finds that the other has gone on, and does so, too.
        _, late, *_ = results.get()
        assert [row["kl"] for row in late] == [2.5, 2.5, *[2.0 + dying] * 3]
    for child in children:
        child.join()
    assert rank == 1 - dying
    assert [row["kl"] for row in rows] == [2.5, 2.5, *[2.0 + rank] * 3]
    # The main process goes on writing; where it died, nobody else begins to.
    assert written == ([0, 1, 2, 3, 4] if rank == 0 else [])
    assert samples == ([{"prompt": "of 0"}] if rank == 0 else [])


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    """What both processes say."""
    context = mp.get_context("spawn")
    results = context.SimpleQueue()
    folder = tmp_path_factory.mktemp("ranks")
    children = [context.Process(target=process, args=(rank, str(folder), results)) for rank in range(2)]
    for child in children:
        child.start()
    said = sorted((results.get() for _ in children), key=lambda r: r[0])
    for child in children:
        child.join()
        assert child.exitcode == 0
    return said


def test_two_processes_give_the_row_of_one(two):
    for step in range(5):
        values, mask = batch(seed=step)
        alone = Recorder()
        record_all(alone, values, mask)
        expected = alone.dump(step)
        for _, rows, *_ in two:
            assert {k: rows[step][k] for k in expected} == pytest.approx(expected, rel=1e-5)


def test_rows_are_the_same_on_both_and_written_once(two):
    for one, other in zip(two[0][1], two[1][1], strict=True):
        assert str(one) == str(other)
    assert [said[4] for said in two] == [5, 0]


def test_a_metric_of_one_process_is_in_the_row_and_a_rate_is_the_main_ones(two):
    for row in two[0][1]:
        assert row["only/one"] == 4.0
        assert row["lr"] == 0.1
    assert "late" not in two[0][1][2]
    assert math.isnan(two[0][1][3]["late"])


def test_a_step_costs_one_collective_once_the_names_are_known(two):
    for _, _, collectives, *_ in two:
        assert collectives[1] == collectives[2] == collectives[4] == {"all_gather": 1}
        # New names cost an exchange and a second gather.
        assert collectives[0]["all_gather_object"] == collectives[3]["all_gather_object"] == 1


def test_completions_of_both_reach_the_main_process(two):
    assert two[0][3] == [{"prompt": "of 0"}, {"prompt": "of 1"}]
    assert two[1][3] == []


def test_a_key_of_two_meanings_is_refused_on_both(two):
    for *_, conflict in two:
        assert "'x' is recorded as sum by one process, as mean by another" in conflict
