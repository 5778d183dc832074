"""Labels, verdicts and rates of the accuracy benchmark, against hand-made sets and the scorer that came with the labels."""

from __future__ import annotations

import importlib.util
import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from holter.detectors.registry import all_detectors
from holter.simulation.conditions import FAMILIES
from holter.simulation.faults import FAULTS
from labelled import made, page
from labelled.judged import Judged, Said, judged
from labelled.logs import SETS, Kinds, Label, labels
from labelled.study import MADE, study

SHARED = Path(__file__).parents[3] / "shared"
KINDS = {
    "kinds": {"kl_explosion": ["kl-runaway"], "nan": ["not-finite", "masked-nan"], "truncation": ["truncation"]},
    "instability": ["kl_explosion", "nan"],
    "trl": {"lr_too_high": "INSTABILITY", "nan_loss": ["nan"], "odd": []},
    "cases": {"fp16_overflow": ["truncation", "INSTABILITY"], "no_kl": ["kl_explosion"]},
    "public": {"nan": ["nan"]},
}


@pytest.fixture
def root(tmp_path):
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "kinds.json").write_text(json.dumps(KINDS))
    return tmp_path


def put(root, folder, meta, expect=None, rows=()):
    run = root / folder
    run.mkdir(parents=True)
    (run / "meta.json").write_text(json.dumps(meta))
    if expect is not None:
        (run / "expect.json").write_text(json.dumps(expect))
    (run / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows))


def test_kinds_of_kinds_are_spelled_out(root):
    kinds = Kinds(root)
    assert kinds.names(["lr_too_high"], "trl") == {"kl-runaway", "not-finite", "masked-nan"}
    assert kinds.names(["fp16_overflow"], "cases") == {"truncation", "kl-runaway", "not-finite", "masked-nan"}
    assert kinds.names(["no such label"], "trl") == set()


def test_each_set_is_labelled_in_its_own_way(root):
    put(root, "runs/trl/a", {"fault": "nan_loss", "onset_step": 5})
    put(root, "runs/trl/b", {"fault": "healthy_cosine"})
    put(root, "runs/trl/c", {"fault": "odd"})
    put(root, "runs/public/long", {"labels": ["nan"], "n_steps": 25, "onset": {"first_row": 1}})
    put(root, "runs/public/short", {"labels": ["nan"], "n_steps": 24})
    put(root, "runs/public/mixed", {"labels": ["healthy", "other"], "n_steps": 90})
    put(
        root, "cases/x", {}, {"expected": ["no_kl"], "expected_not": ["no_kl", "fp16_overflow"], "severity": "critical"}
    )
    put(root, "cases/y", {}, {"expected": [], "expected_not": [], "severity": "info"})
    a, b, c = labels(root, "runs/trl")
    assert (a.sick, a.healthy, a.onset, sorted(a.names)) == (True, False, 5, ["masked-nan", "not-finite"])
    assert (b.sick, b.healthy) == (False, True)
    assert (c.sick, c.healthy) == (False, False), "a label that no detector could name is not judged"
    long, mixed, short = labels(root, "runs/public")
    assert (long.sick, long.final, long.onset) == (True, True, None)
    assert (mixed.sick, mixed.healthy) == (False, False)
    assert not short.sick
    x, y = labels(root, "cases")
    assert (x.sick, sorted(x.names), sorted(x.never)) == (
        True,
        ["kl-runaway"],
        ["masked-nan", "not-finite", "truncation"],
    )
    assert (y.sick, y.healthy) == (False, True)


def test_a_set_that_is_not_there_is_absent_and_not_empty(root, tmp_path):
    assert labels(root, "runs/trl") is None
    put(root, "runs/trl/a", {"fault": "nan_loss"})
    assert len(labels(root, "runs/trl")) == 1
    (root / "bench" / "kinds.json").unlink()
    assert labels(root, "runs/trl") is None


def verdict(said=(), onset=10, sick=True, names=("kl-runaway",), final=False, blind=(), ever=(), **recipe):
    label = Label(
        set=MADE if recipe else "runs/trl", id="x", log=None, says="kl-drift" if sick else "healthy", sick=sick, healthy=not sick,
        names=frozenset(names), onset=onset, course="jump" if sick else "", final=final,
    )  # fmt: skip
    made_of = made.Recipe(
        **{"algorithm": "ppo", "fault": None, "family": "plain", "rows": 60, "seed": 1, "configured": True} | recipe
    )
    return Judged(
        label=label, recipe=made_of if recipe else None, rows=60, onset=onset, said=tuple(said), blind=frozenset(blind),
        ever=frozenset(ever),
    )  # fmt: skip


def found(detector="kl-runaway", first=12, raised=15, warns=True, active=True):
    return Said(detector, warns, active, first, raised)


def test_a_right_name_counts_from_the_onset_on():
    assert verdict([found()]).right
    assert not verdict([found(warns=False)]).right
    assert not verdict([found("truncation")]).right
    late, early = verdict([found(raised=10)]), verdict([found(first=8, raised=9)])
    assert (late.right, late.early) == (True, False)
    assert (early.right, early.early) == (False, True)


def test_the_earliest_right_finding_gives_onset_and_delay():
    v = verdict([found(first=13, raised=20), found(first=7, raised=25), found("truncation", 1, 11)])
    assert (v.misplaced(), v.delay()) == (-3, 10)
    assert verdict([found("truncation")]).delay() is None


def test_of_a_log_judged_by_its_end_only_what_lasts_counts():
    assert not verdict([found(active=False)], final=True).right
    assert verdict([found(active=False)]).right


def test_rates_follow_from_verdicts():
    ill = {"fault": "kl-drift"}
    record = study(
        {
            "cases": None,
            "runs/trl": [verdict([found()]), verdict(), verdict([found()], sick=False, onset=None)],
            MADE: [
                verdict([found(first=11, raised=14)], **ill),
                verdict([found("truncation")], **ill),
                verdict([found(warns=False)], blind=["kl-above-budget"], **ill),
                verdict([found(first=8, raised=30)], **ill),
                verdict([found()], sick=False, onset=None, names=(), family="dips", ever=["kl-runaway", "no-learning"]),
                verdict(sick=False, onset=None, names=(), blind=["kl-runaway"], family="solved", ever=["no-learning"]),
            ],
        }
    )
    assert record["sets"]["cases"] is None
    trl = record["sets"]["runs/trl"]
    assert (trl["right"], trl["flagged"], trl["onset"], trl["delay"]) == ([1, 2], [1, 1], [2.0, 2.0], [5.0, 5.0])
    assert (trl["missed"], trl["accused"]) == ([["x", "kl-drift", []]], [["x", ["kl-runaway"]]])
    drift = record["faults"]["kl-drift/ppo"]
    assert (drift["right"], drift["hinted"], drift["instead"]) == ([2, 4], 1, [("truncation", 1)])
    assert (drift["onset"], drift["delay"]) == ([1.5, 1.9], [12.0, 18.4])
    assert record["families"] == {"dips": [1, 1], "solved": [0, 1]}
    assert record["ever"] == {
        "all": [2, 2],
        "families": {"dips": [1, 1], "solved": [1, 1]},
        "detectors": {"no-learning": 2, "kl-runaway": 1},
    }
    runaway = record["detectors"]["kl-runaway"]
    assert runaway["accused"] == [1, 1], "of the healthy runs in which it could look"
    assert runaway["recall"] == {"kl-drift": [2, 4, 4]}
    assert (runaway["named"], runaway["flagged_on"]) == ([1, 2], ["runs/trl/x"])
    assert record["detectors"]["truncation"]["beside"] == [("kl-drift", 1)]
    assert set(record["detectors"]) == set(all_detectors())


def test_the_page_shows_absent_sets_weak_spots_and_misses():
    ill = {"fault": "kl-drift"}
    record = json.loads(json.dumps(study({
        "cases": None,
        "runs/trl": [verdict([found()]), verdict(), verdict([found()], sick=False, onset=None)],
        MADE: [verdict(**ill), verdict([found()], sick=False, onset=None, names=(), family="dips")],
    })))  # fmt: skip
    text = page.tables(record)
    assert "| cases | absent |" in text
    assert "- kl-drift in PPO is rightly named in 0.00 (0.00-0.79) only." in text
    assert "`kl-runaway` accuses healthy made runs: 1000.0 per 1,000" in text
    assert "| `runs/trl/x` | kl-drift | nothing |" in text
    assert "| `runs/trl/x` | kl-runaway |" in text
    assert "$" not in page.document(record)


def test_a_planted_jump_is_judged_from_bytes_to_verdict(tmp_path):
    log = tmp_path / "log.jsonl"
    rows = [
        {"step": i, "loss": 0.1 * i if i < 30 else float("nan"), "grad_norm": 0.5, "reward": 0.1} for i in range(1, 41)
    ]
    log.write_text("".join(json.dumps(r) + "\n" for r in rows))
    names = frozenset({"not-finite"})
    v = judged(Label(set="runs/trl", id="x", log=log, says="nan", sick=True, healthy=False, names=names, onset=30))
    assert (v.rows, v.onset, v.right, v.misplaced(), v.error) == (40, 30, True, 0, "")


def test_a_warning_that_was_over_at_the_end_was_heard_by_whoever_watched(tmp_path):
    rng = np.random.default_rng(1)
    late = [0.2 + 0.6 * max(0, i - 90) / 60 + 0.02 * rng.normal() for i in range(150)]
    log = tmp_path / "log.jsonl"
    log.write_text(
        "".join(json.dumps({"step": i + 1, "reward": r, "reward_std": 0.4}) + "\n" for i, r in enumerate(late))
    )
    sound = judged(Label(set="runs/trl", id="x", log=log, says="healthy", sick=False, healthy=True))
    assert (sound.flagged, sound.ever) == (False, {"no-learning"})


def test_a_log_that_cannot_be_read_is_an_error_and_a_miss(tmp_path):
    label = Label(set="runs/trl", id="x", log=tmp_path / "gone.jsonl", says="nan", sick=True, healthy=False)
    v = judged(label)
    assert "gone.jsonl" in v.error
    assert not v.right


def test_recipes_go_round_through_everything_that_can_be_made():
    healthy = list(made.healthy(len(FAMILIES) * 32))
    combinations = Counter((r.family, r.algorithm, r.rows, r.configured) for r in healthy)
    assert len(combinations) == len(FAMILIES) * 2 * len(made.LENGTHS) * 2
    sick = list(made.sick(8))
    assert Counter((r.fault, r.algorithm) for r in sick) == {(f, a): 8 for f, k in FAULTS.items() for a in k.algorithms}
    assert "short" not in {r.family for r in sick}
    assert len({(r.algorithm, r.family, r.seed) for r in [*healthy, *sick]}) == len(healthy) + len(sick)


def test_a_recipe_plants_its_fault_where_it_says():
    recipe = made.Recipe(
        algorithm="grpo", fault="truncation", family="sparse", rows=60, seed=3, configured=True, begins=0.5, jump=True
    )
    run = recipe.make()
    label, data = made.written(run, recipe)
    first, *rows = map(json.loads, data.decode().splitlines())
    assert "config" in first
    assert len(rows) == 60
    assert label.onset == pytest.approx(rows[-1]["step"] / 2, abs=1)
    assert label.course == "jump"
    assert label.names == set(FAULTS["truncation"].named_by)


@pytest.mark.skipif(not (SHARED / "bench" / "score.py").exists(), reason="the labelled sets are not here")
@pytest.mark.parametrize("name", SETS)
def test_labels_are_those_of_the_scorer_that_came_with_them(name):
    """A second implementation, by other hands."""
    spec = importlib.util.spec_from_file_location("score", SHARED / "bench" / "score.py")
    score = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(score)
    found = labels(SHARED, name)
    if found is None:
        pytest.skip(f"{name} is not here")
    for label in found:
        other = score.load(SHARED / name / label.id)
        assert (label.sick, label.healthy, set(label.names), set(label.never), label.onset, label.final) == (
            other["sick"], other["healthy"], set(other["names"]), set(other["never"]), other["onset"], other["active_only"],
        ), label.id  # fmt: skip
        assert label.log == other["log"]
