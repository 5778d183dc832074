"""Comparisons as Markdown and as a page's payload: complete, translatable, and deaf to what a log says."""

import ast
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from holter.compare import Verdict, comparison, effect, groups
from holter.compare.curves import AXES
from holter.language import LANGUAGES, SOURCE, speak, translated
from holter.reports import comparison_words
from holter.reports.comparison_markdown import markdown
from holter.reports.comparison_words import headline
from holter.reports.html.compare_page import page
from holter.reports.html.compare_payload import payload
from holter.runs.build import run_of
from tests.unit.reports.comparisons import hostile, run, same_setting_twice, seeds_only, sweep, two_settings

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>|[x](javascript:alert(3)) @team `b`"
OTHERS = [code for code in LANGUAGES if code != SOURCE]


def test_the_headline_says_what_it_comes_to():
    assert str(headline(two_settings())) == "bad is worse than baseline in 2 ways"
    assert "not distinguishable with these seeds" in str(headline(same_setting_twice()))
    assert str(headline(seeds_only())) == "3 seeds of one setting"
    assert re.fullmatch(r"learning_rate, beta swept over 9 runs; effects that stand out: \d", str(headline(sweep())))


def test_markdown_says_what_is_worse_before_the_tables():
    said = markdown(two_settings())
    assert said.startswith("# ✗ ")
    assert said.index("### Worse") < said.index("| at the end |")
    assert re.search(r"^\| ▼ \| `reward` \| 0\.\d+ \| 0\.\d+ \| -0\.\d+ \\\[", said, re.MULTILINE)
    assert "<details><summary>Not distinguishable with these seeds" in said


def test_markdown_of_seeds_says_how_far_they_spread():
    assert re.search(r"^\| `reward` \| 0\.\d+ \| 0\.\d+ \| 0\.\d+ ± ", markdown(seeds_only()), re.MULTILINE)


def test_markdown_of_a_sweep_names_what_moved_and_the_best():
    said = markdown(sweep())
    assert "a larger learning\\_rate raises kl" in said
    assert "reward ends best with learning\\_rate=" in said


def test_nothing_of_a_log_comes_alive_in_markdown():
    said = markdown(hostile(HOSTILE))
    outside = re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", said)
    outside = re.sub(r"</?(?:details|summary)>", "", outside)
    assert not re.search(r"<[a-z/]|@team|(?<!\\)\]\(|javascript:", outside)
    rows = [line for line in said.splitlines() if line.startswith("|")]
    cells = {len(re.split(r"(?<!\\)\|", row)) for row in rows if "`reward" in row or "rewards/" in row}
    assert len(cells) == 1


def test_the_payload_draws_the_mean_over_seeds_and_its_band():
    found = two_settings()
    said = payload(found, ())
    reward = next(s for s in said["signals"] if s["key"] == "reward")
    assert [len(g["runs"]) for g in said["groups"]] == [3, 3]
    assert all(group["half"] is not None for group in reward["groups"])
    assert [line["run"] for line in reward["lines"]] == list(range(6))
    assert reward["groups"][0]["mean"]["n"] == found.signals["reward"].aligned.means.shape[1]
    assert said["signals"][0]["key"] == "reward"
    assert next(d for d in said["pairs"][0]["differences"] if d["signal"] == "reward")["verdict"] == Verdict.LOWER


def test_one_run_a_setting_has_no_band():
    reward = next(s for s in payload(sweep(), ())["signals"] if s["key"] == "reward")
    assert all(group["half"] is None for group in reward["groups"])


def test_a_sweep_carries_what_every_run_was_set_to_and_where_it_ended():
    found = sweep()
    swept = payload(found, ())["sweep"]
    assert [s["name"] for s in swept["settings"]] == ["learning_rate", "beta"]
    assert len(swept["ends"]["kl"]) == 9
    assert np.allclose(swept["ends"]["kl"], found.signals["kl"].ends)


def test_a_run_that_ends_without_a_number_is_told_as_such():
    runs = [run(f"r{i}/log.jsonl", i, warmup=i) for i in range(4)]
    broken = run("r4/log.jsonl", 4, warmup=4)
    broken.series["reward"].values[-30:] = math.nan
    ends = payload(comparison.compare([*runs, broken]), ())["sweep"]["ends"]["reward"]
    assert ends[-1] == "NaN"


def test_a_hundred_runs_of_a_thousand_rows_stay_a_file_to_share():
    rng = np.random.default_rng(0)
    steps = [float(i) for i in range(1000)]
    runs = [
        run_of(steps, {k: list(rng.random(1000)) for k in ("reward", "kl", "entropy")}, name=f"r{i}/log.jsonl")
        for i in range(40)
    ]
    assert len(page(comparison.compare(runs)).encode()) < 3_000_000


def test_data_cannot_leave_its_block():
    said = page(hostile(HOSTILE))
    assert said.count("</script>") == 2
    block = re.search(r'id="holter-data">(.*?)</script>', said, re.DOTALL)
    assert block is not None
    assert any(HOSTILE in g["label"] for g in json.loads(block[1])["groups"])
    assert "<img" not in said.split("holter-data")[0]


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_of_a_comparison_is_in_every_catalogue(code):
    wanted = {b.phrase for b in effect.Basis} | set(AXES)
    for module in (comparison, comparison_words):
        tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
        calls = [
            n for n in ast.walk(tree) if isinstance(n, ast.Call) and getattr(n.func, "id", "") in {"Sentence", "text"}
        ]
        for argument in (c.args[0] for c in calls if c.args):
            if isinstance(argument, ast.Constant):
                wanted.add(argument.value)
            elif isinstance(argument, ast.Name) and argument.id.isupper():
                wanted.add(getattr(module, argument.id))
    wanted |= {comparison_words.ONE_RUN_EACH, comparison_words.NOTHING_STANDS}
    wanted |= {
        found.how for found in (groups.grouped([run("a", 1), run("b", 2)], by=by) for by in ("config", "name", "none"))
    }
    assert len(wanted) > 40
    assert not {w for w in wanted if translated(w, code) == w}


@pytest.mark.parametrize("code", OTHERS)
def test_markdown_speaks_the_language_and_quotes_the_log(code):
    speak(code)
    try:
        said = markdown(two_settings())
    finally:
        speak(SOURCE)
    assert translated("Worse", code) in said
    assert "`reward`" in said
    assert "Not distinguishable" not in said
