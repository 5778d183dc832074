"""The recorder: one row a step, one look at the device."""

import json
import math
from collections import Counter

import pytest

torch = pytest.importorskip("torch")

from holter.recorder.recorder import Recorder  # noqa: E402
from holter.recorder.reductions import RecordError  # noqa: E402
from holter.signals.masked import masked_max, masked_mean, masked_min, masked_sum, masked_var  # noqa: E402
from holter.store.manifest import Manifest  # noqa: E402

NAN = math.nan


class Memory:
    """A sink that remembers."""

    name = "memory"

    def __init__(self):
        self.rows, self.tables, self.opened, self.closed = [], [], [], 0

    def open(self, manifest):
        self.opened.append(manifest)

    def write(self, step, row):
        self.rows.append((step, dict(row)))

    def samples(self, step, rows):
        self.tables.append((step, list(rows)))

    def close(self):
        self.closed += 1


def batch(seed=0, size=8, length=12):
    generator = torch.Generator().manual_seed(seed)
    values = torch.randn(size, length, generator=generator)
    lengths = torch.randint(1, length + 1, (size, 1), generator=generator)
    mask = torch.arange(length) < lengths
    return values.masked_fill(~mask, NAN), mask


def record_all(recorder, values, mask):
    recorder.record_mean("kl", values, mask)
    recorder.record_sum("tokens", mask)
    recorder.record_min("low", values, mask)
    recorder.record_max("high", values, mask)
    recorder.record_std("std", values, mask)
    recorder.record_variance("var", values, mask)
    recorder.record_explained_variance("ev", values, values.square(), mask)


@pytest.mark.parametrize("cut", [1, 2, 3, 8])
def test_a_batch_cut_into_other_micro_batches_gives_the_same_row(cut):
    values, mask = batch()
    real = values[mask].double()
    recorder = Recorder()
    for i in range(0, 8, cut):
        record_all(recorder, values[i : i + cut], mask[i : i + cut])
    row = recorder.dump(1)
    target = real.square()
    assert row == pytest.approx(
        {
            "kl": real.mean().item(),
            "tokens": mask.sum().item(),
            "low": real.min().item(),
            "high": real.max().item(),
            "std": real.std().item(),
            "var": real.var().item(),
            "ev": (1 - (target - real).var() / target.var()).item(),
        },
        rel=1e-5,
    )


@pytest.mark.parametrize("mask", ["none", "of every value", "of every row"])
def test_metrics_reduced_together_are_what_each_is_by_itself(mask):
    values, counted = batch()
    given = {"none": None, "of every value": counted, "of every row": torch.arange(8).unsqueeze(1) % 3 > 0}[mask]
    whole = values.nan_to_num() * 100
    kinds = (torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int16, torch.int8)
    recorder, expected = Recorder(), {}
    for dtype in (*kinds, torch.bool):
        cast = whole.to(dtype)
        recorder.record_mean(f"mean/{dtype}", cast, given)
        recorder.record_sum(f"sum/{dtype}", cast, given)
        recorder.record_variance(f"var/{dtype}", cast, given)
        recorder.record_min(f"min/{dtype}", cast, given)
        recorder.record_max(f"max/{dtype}", cast, given)
        expected |= {
            f"mean/{dtype}": masked_mean(cast, given).item(),
            f"sum/{dtype}": masked_sum(cast, given).item(),
            f"var/{dtype}": masked_var(cast, given).item(),
            f"min/{dtype}": masked_min(cast, given).item(),
            f"max/{dtype}": masked_max(cast, given).item(),
        }
    assert recorder.dump(1) == pytest.approx(expected, rel=1e-5)


def test_padding_on_either_side_and_more_of_it_changes_nothing():
    values, mask = batch()
    rows = []
    for v, m in (
        (values, mask),
        (values.flip(1), mask.flip(1)),
        (torch.nn.functional.pad(values, (0, 9), value=NAN), torch.nn.functional.pad(mask, (0, 9))),
    ):
        recorder = Recorder()
        record_all(recorder, v, m)
        rows.append(recorder.dump(1))
    assert rows[0] == pytest.approx(rows[1], rel=1e-6)
    assert rows[0] == pytest.approx(rows[2], rel=1e-6)


def test_a_minimum_is_that_of_the_window_and_no_mean_of_minima():
    recorder = Recorder()
    for step in (1.0, 2.0, 3.0):
        recorder.record_min("low", torch.tensor([step, 9.0]))
        recorder.record_max("high", step)
    assert recorder.dump(3) == {"low": 1.0, "high": 3.0}


def test_numbers_and_tensors_of_any_type_mix():
    recorder = Recorder()
    recorder.record("loss", 3.0, 1)
    recorder.record("loss", torch.tensor(5.0, requires_grad=True), torch.tensor(2))
    recorder.record("loss", torch.tensor([1], dtype=torch.int64), 1)
    recorder.record_max("high", 2.0)
    recorder.record_max("high", torch.tensor(1.0))
    assert recorder.dump(1) == {"loss": 9 / 4, "high": 2.0}


def test_counts_beyond_float32_are_exact():
    recorder = Recorder()
    recorder.record_sum("tokens", torch.tensor(2**40))
    recorder.record("kl", torch.tensor(1.0), torch.tensor(2**25 + 1))
    recorder.record("loss", torch.tensor(0.5), torch.tensor(1))
    row = recorder.dump(1)
    assert row["tokens"] == 2**40
    assert row["kl"] == 1 / (2**25 + 1)


def test_the_newest_value_counts_for_a_rate():
    recorder = Recorder()
    for rate in (0.1, torch.tensor(0.2, dtype=torch.float64), 0.3):
        recorder.record_last("lr", rate)
    assert recorder.dump(1) == {"lr": 0.3}
    recorder.record_last("lr", 0.3)
    recorder.record_last("lr", torch.tensor(0.4, dtype=torch.float64))
    assert recorder.dump(2) == {"lr": 0.4}


def test_nan_and_infinity_are_kept_and_stay_with_their_metric():
    recorder = Recorder()
    recorder.record_mean("loss", torch.tensor([1.0, NAN]))
    recorder.record_max("high", torch.tensor([1.0, math.inf]))
    recorder.record_min("low", torch.tensor([NAN, 1.0]))
    recorder.record_min("low", torch.tensor([0.0]))
    recorder.record_mean("kl", torch.tensor([1.0, 3.0]))
    row = recorder.dump(1)
    assert math.isnan(row["loss"])
    assert math.isnan(row["low"])
    assert (row["high"], row["kl"]) == (math.inf, 2.0)


def test_a_mean_over_nothing_is_absent_and_no_nan():
    values, nothing = torch.ones(2, 3), torch.zeros(2, 3)
    recorder = Recorder()
    record_all(recorder, values, nothing)
    assert recorder.dump(1) == {"tokens": 0.0}


def test_one_key_has_one_meaning():
    recorder = Recorder()
    recorder.record_mean("x", 1.0)
    with pytest.raises(RecordError, match="'x' was recorded as mean, and is now recorded as max"):
        recorder.record_max("x", 1.0)


def test_a_dump_ends_the_window():
    recorder = Recorder()
    recorder.record_mean("x", 1.0)
    assert recorder.dump(1) == {"x": 1.0}
    assert recorder.dump(2) == {}
    recorder.record_mean("x", 5.0)
    recorder.discard()
    assert recorder.dump(3) == {}


def test_rows_reach_every_sink_with_times_that_rise():
    one, other = Memory(), Memory()
    recorder = Recorder([one, other], clock=lambda: 5.0)
    recorder.open(Manifest(id="a", created=0.0))
    recorder.record_mean("x", 1.0)
    recorder.dump(7, episode=64)
    recorder.write(7, {"eval/x": NAN})
    recorder.close()
    assert str(one.rows) == str(other.rows)
    assert math.isnan(one.rows[1][1]["eval/x"])
    assert one.rows[0] == (7, {"time": 5.0, "episode": 64, "x": 1.0})
    assert one.rows[1][1]["time"] > 5.0
    assert (len(one.opened), one.closed) == (1, 1)


class Syncs:
    """Counts what makes the host wait for the device."""

    METHODS = (
        "item",
        "tolist",
        "cpu",
        "numpy",
        "__bool__",
        "__float__",
        "__int__",
        "__index__",
        "nonzero",
        "__array__",
    )

    def __init__(self, monkeypatch):
        self.seen = Counter()
        for name in self.METHODS:
            original = getattr(torch.Tensor, name)

            def counted(tensor, *arguments, _original=original, _name=name, **options):
                self.seen[_name] += 1
                return _original(tensor, *arguments, **options)

            monkeypatch.setattr(torch.Tensor, name, counted)


def test_a_step_costs_one_look_at_the_device(monkeypatch):
    values, mask = batch()
    recorder = Recorder([Memory()])
    syncs = Syncs(monkeypatch)
    for step in range(3):
        for i in range(0, 8, 2):
            record_all(recorder, values[i : i + 2], mask[i : i + 2])
            recorder.record_last("lr", 0.1)
        assert not syncs.seen
        row = recorder.dump(step)
        assert len(row) == 8
        assert syncs.seen == {"tolist": 1}
        syncs.seen.clear()


def test_completions_of_a_step_cost_one_look_at_the_device(monkeypatch):
    sink = Memory()
    recorder = Recorder([sink])
    recorder.record_samples(
        {
            "prompt": ["a", "b"],
            "reward": torch.tensor([0.5, NAN]),
            "truncated": torch.tensor([True, False]),
            "length": torch.tensor([3, 2**30]),
        }
    )
    recorder.record_samples({"prompt": ["c"], "reward": torch.tensor([1.0])})
    syncs = Syncs(monkeypatch)
    rows = recorder.dump_samples(4)
    assert syncs.seen == {"tolist": 1}
    assert sink.tables == [(4, rows)]
    assert rows[0] == {"prompt": "a", "reward": 0.5, "truncated": True, "length": 3}
    assert math.isnan(rows[1]["reward"])
    assert (rows[1]["truncated"], rows[1]["length"]) == (False, 2**30)
    assert rows[2] == {"prompt": "c", "reward": 1.0}
    assert recorder.dump_samples(5) == []


def test_the_newest_completions_are_kept():
    recorder = Recorder([Memory()], samples_per_dump=3)
    for first in range(0, 10, 2):
        recorder.record_samples({"n": list(range(first, first + 2))})
    assert [row["n"] for row in recorder.dump_samples(1)] == [7, 8, 9]


def test_columns_of_different_length_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        Recorder().record_samples({"a": [1], "b": [1, 2]})


def test_a_row_begun_before_a_checkpoint_is_ended_after_it():
    values, mask = batch(seed=5)
    whole, before, after = Recorder(), Recorder(), Recorder()
    for recorder in (whole, before):
        record_all(recorder, values[:3], mask[:3])
        recorder.record("late", torch.tensor(3.0), 2)
    kept = json.loads(json.dumps(before.state()))
    after.record("gone", 1.0, 1)
    after.restore(kept)
    for recorder in (whole, after):
        record_all(recorder, values[3:], mask[3:])
    expected = whole.dump(1)
    assert after.dump(1) == pytest.approx(expected, rel=1e-12, nan_ok=True)
    assert expected["late"] == 1.5
    assert after.state() == {}


def test_a_state_of_a_later_version_is_refused():
    with pytest.raises(RecordError, match="'kl' was recorded as median, which is none of mean"):
        Recorder().restore({"kl": ("median", (1.0,))})


def test_completions_that_wait_survive_a_checkpoint():
    first, second = Recorder(), Recorder()
    first.record_samples({"prompt": ["a", "b"], "reward": torch.tensor([1.0, float("nan")]), "ended": [True, False]})
    state = first.samples_state()
    second.record_samples({"prompt": ["not done"]})
    second.restore_samples(state)
    second.record_samples({"prompt": ["c"]})
    rows = second.dump_samples(1)
    assert [row["prompt"] for row in rows] == ["a", "b", "c"]
    assert (rows[0]["reward"], rows[1]["ended"]) == (1.0, False)
    assert math.isnan(rows[1]["reward"])
    assert len(first.dump_samples(1)) == 2


def test_what_is_reduced_together_is_what_each_would_be_alone():
    values, mask = batch()
    other = torch.arange(8.0)
    calls = [
        ("record_mean", "a", values, mask),
        ("record_mean", "b", values > 0, mask),
        ("record_std", "c", values.bfloat16(), mask),
        ("record_max", "d", values, mask[:, :1]),
        ("record_min", "e", torch.nan_to_num(values), None),
        ("record_mean", "f", other, other > 3),
        ("record_max", "g", other, None),
        ("record_variance", "h", other[3], None),
        ("record_sum", "i", torch.tensor(2**53 - 1), None),
        ("record_mean", "j", other[5], None),
    ]
    together, alone = Recorder(), {}
    for _ in range(2):
        for method, key, *rest in calls:
            getattr(together, method)(key, *rest)
    for method, key, *rest in calls:
        recorder = Recorder()
        for _ in range(2):
            getattr(recorder, method)(key, *rest)
        alone |= recorder.dump(1)
    row = together.dump(1)
    assert {k: str(v) for k, v in row.items()} == {k: str(v) for k, v in alone.items()}
    assert (row["f"], row["g"], row["h"], row["j"]) == (5.5, 7.0, 0.0, 5.0)
    assert row["i"] == 2 * (2**53 - 1)


def test_metrics_of_many_micro_batches_do_not_wait_for_the_row():
    values, mask = batch()
    recorder = Recorder()
    for _ in range(5):
        record_all(recorder, values, mask)
        assert len(recorder._window._waiting) == 7


def test_no_values_are_no_metric_and_no_error():
    recorder = Recorder()
    for method in ("record_mean", "record_min", "record_max", "record_std"):
        getattr(recorder, method)(method, torch.ones(3)[torch.zeros(3, dtype=torch.bool)])
    recorder.record_mean("x", torch.ones(1))
    assert recorder.dump(1) == {"x": 1.0}


@pytest.mark.parametrize("which", ["values", "mask"])
def test_what_is_changed_after_it_was_recorded_is_no_silent_wrong_number(which):
    values, mask = batch()
    recorder = Recorder()
    recorder.record_mean("kl", values, mask)
    {"values": values, "mask": mask}[which].zero_()
    with pytest.raises(RecordError, match=r"'kl' was changed in place .* record a clone"):
        recorder.dump(1)
