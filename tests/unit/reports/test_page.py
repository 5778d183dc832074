"""The payload and the file around it: complete, small, and deaf to what a log says."""

import json
import re

import numpy as np
import orjson
import pytest

from holter.findings.diagnosis import diagnose
from holter.language import speaking
from holter.reports.html import page as page_module
from holter.reports.html.page import MissingBundleError, asset, embedded, own_texts, page
from holter.reports.html.payload import payload
from holter.reports.html.vital_signs import strips
from holter.runs.build import run_of
from holter.runs.run import Split
from holter.signals.catalog import catalog
from holter.store.encoding import encode
from tests.unit.reports.diagnoses import REFUSED, healthy, sick

SIGNALS = [k for k, s in catalog().items() if not s.labels and s.concept != "axis"][:60]


def noisy(rows: int, seed: int = 0):
    rng = np.random.default_rng(seed)
    return run_of(
        [float(i) for i in range(1, rows + 1)],
        {k: list(0.2 + 0.1 * rng.random(rows)) for k in SIGNALS},
        config={f"option_{i}": i for i in range(150)},
    )


def data_of(html: str) -> dict:
    block = re.search(r'<script type="application/json" id="holter-data">(.*?)</script>', html, re.DOTALL)
    assert block is not None
    return json.loads(block[1])


def test_a_report_of_sixty_signals_over_a_thousand_rows_is_small():
    assert len(SIGNALS) == 60
    html = page([diagnose(noisy(1000))])
    assert len(html.encode()) <= 600_000


@pytest.mark.slow
def test_a_report_of_sixty_signals_over_a_hundred_thousand_rows_stays_small():
    assert len(page([diagnose(noisy(100_000))]).encode()) <= 2_000_000


def test_every_series_is_in_exactly_one_strip_of_one_unit():
    run = noisy(30)
    drawn = [s.key for strip in strips(run) for s in strip.series]
    assert sorted(drawn) == sorted(k for k, s in run.series.items() if len(s) and s.concept != "axis")
    assert all(len({s.unit for s in strip.series}) == 1 for strip in strips(run))


def test_training_and_held_out_reward_share_a_strip():
    run = run_of([1.0, 2.0], {"reward": [0.1, 0.2], "eval/reward": [0.1, 0.1]})
    first = strips(run)[0]
    assert [(s.concept, s.split) for s in first.series] == [("reward", Split.TRAIN), ("eval_reward", Split.EVAL)]


def test_stories_and_strips_point_at_what_they_mean():
    said = payload([sick()])["runs"][0]
    assert [said["findings"][s["root"]]["detector"] for s in said["stories"]] == ["kl-runaway", "printed-zero"]
    assert [said["findings"][c]["detector"] for c in said["stories"][0]["consequences"]] == ["reward-decline"]
    kl = next(s for s in said["strips"] if s["sign"] == "kl")
    assert said["series"][kl["series"][0]]["metric"] == "kl"
    assert said["series"][kl["series"][0]]["band"] == {"low": 0.0, "high": 1.0, "rule": "kl-above-budget"}


def test_what_is_not_finite_is_counted_and_told_apart_from_what_is_absent():
    run = run_of([1.0, 2.0, 3.0, 4.0], {"reward": [1.0, float("nan"), float("-inf"), None]})
    facts = payload([diagnose(run)])["runs"][0]["series"][0]["facts"]
    assert (facts["n"], facts["nan"], facts["infinite"], facts["last"]) == (3, 1, 1, "-Infinity")
    assert (facts["min"], facts["max"]) == (1, 1)


def test_completions_around_a_finding_come_from_the_run_folder(tmp_path):
    (tmp_path / "run.json").write_bytes(
        orjson.dumps(
            {"format": "holter-run", "version": 1, "id": "a", "created": 1.0, "seed": 3, "packages": {"torch": "2.9"}}
        )
    )
    rows = [{"step": float(s), "time": 1.0, "reward": 0.1} for s in range(1, 13)]
    (tmp_path / "metrics-0.jsonl").write_bytes(b"".join(encode(r) for r in rows))
    samples = [
        {
            "step": s,
            "prompt": f"p{s}",
            "completion": f"c{s}.{i}" + "x" * 2000 * (i == 2),
            "reward": r,
            "truncated": i == 2,
        }
        for s in (50, 60, 90)
        for i, r in enumerate([0.5, -1.0, 0.0, 2.0, 0.1])
    ]
    (tmp_path / "samples-0.jsonl").write_bytes(b"".join(encode(r) for r in samples))
    said = payload([sick(name=str(tmp_path))])["runs"][0]
    assert said["made_with"] == {"seed": "3", "processes": "1", "torch": "2.9"}
    assert [s["step"] for s in said["samples"]] == [50, 60, 90]
    at_60 = said["samples"][1]["rows"]
    assert [r["numbers"]["reward"] for r in at_60] == [-1, 0, 2]
    assert (len(at_60[1]["completion"]), at_60[1]["characters"]) == (1200, 2005)
    assert at_60[1]["numbers"]["truncated"] == 1


def test_nothing_in_the_data_can_end_its_block():
    hostile = "</script><script>alert(1)</script><!-- \u2028 ]]>"
    html = page([sick(name=hostile, metric=hostile)], REFUSED)
    assert html.count("<script") == html.count("</script>") == 2
    assert "<!--" not in html
    assert data_of(html)["runs"][0]["name"] == hostile
    assert json.loads(embedded({"a": hostile})) == {"a": hostile}


def test_a_page_asks_for_nothing_and_allows_nothing():
    html = page([sick(), healthy()])
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    assert not re.search(r"<(link|img|iframe|base|form|object)\b", html.split("<script", 1)[0])


def test_a_page_carries_every_language_for_what_it_says():
    with speaking("zh"):
        html = page([sick()])
    said = data_of(html)
    assert said["language"] == "zh"
    assert '<html lang="zh">' in html
    assert set(own_texts()["report"]) - set(said["texts"]["zh"]) == {"NaN"}
    assert {s["title"] for s in said["signs"]} <= set(said["texts"]["zh"])


def test_without_the_bundle_the_error_says_what_builds_it(monkeypatch):
    monkeypatch.setattr(page_module, "ASSETS", "not-built")
    with pytest.raises(MissingBundleError, match=r"pip install"):
        page([healthy()])


def test_the_bundle_carries_the_licence_of_what_is_in_it():
    script = asset("report.js")
    assert script.startswith("/*! uPlot")
    assert "Permission is hereby granted" in script
