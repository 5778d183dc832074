"""Comparisons as Markdown and as a page's payload: complete, translatable, and deaf to what a log says."""

import io
import json
import math
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

from holter.compare import Verdict, compare, comparison
from holter.language import LANGUAGES, SOURCE, speaking, translated
from holter.reports.comparison import in_lines, print_comparison
from holter.reports.comparison_markdown import markdown
from holter.reports.comparison_words import DIFFERS, headline, interval, method
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


def printed(found, *, verbose=False):
    """What the terminal shows of a comparison, 110 columns wide."""
    console = Console(width=110, file=io.StringIO(), color_system=None)
    print_comparison(console, found, verbose=verbose)
    return console.file.getvalue()


def test_the_terminal_tells_the_gravest_of_many_pairs_and_the_others_in_a_line_each():
    runs = [run(f"d{i}/log.jsonl", i, drop=0.1 * i if i > 1 else 0, beta=0.1 * i) for i in (0, 4, 1, 3, 2)]
    said, everything = printed(compare(runs)), printed(compare(runs), verbose=True)
    full = re.compile(r"^ (beta=\S+) against beta=0 *$", re.MULTILINE)
    assert full.findall(said) == ["beta=0.2", "beta=0.3", "beta=0.4"]
    others = said.partition("others against beta=0")[2]
    assert re.search(r"^ beta=0.1 +\d+", others, re.MULTILINE)
    assert "--verbose tells each in full." in others
    assert full.findall(everything) == ["beta=0.1", "beta=0.2", "beta=0.3", "beta=0.4"]
    assert "others against" not in everything


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
def test_markdown_speaks_the_language_and_quotes_the_log(code):
    with speaking(code):
        said = markdown(two_settings())
    assert translated("Worse", code) in said
    assert "`reward`" in said
    assert "Not distinguishable" not in said


def test_heads_of_columns_are_not_broken_and_all_columns_stay_at_80(monkeypatch):
    runs = [run(f"{name}/log.jsonl", i, drop=i) for i, name in enumerate(("healthy-grpo-baseline", "hacked-grpo"))]
    console = Console(width=80, file=io.StringIO(), color_system=None)
    print_comparison(console, compare(runs, by="none"), verbose=False)
    (head,) = [line for line in console.file.getvalue().splitlines() if "at the end" in line]
    assert head.split("  ")[0] == ""
    assert {"heal…eline", "hack…-grpo", "apart from"} <= set(re.split(r" {2,}", head.strip()))


@pytest.mark.parametrize("width", [30, 50, 60, 70, 80, 120, 200])
def test_no_width_cuts_a_number_of_a_difference(width):
    console = Console(width=width, file=io.StringIO(), color_system=None)
    comparison = two_settings()
    print_comparison(console, comparison, verbose=True)
    lines = console.file.getvalue().splitlines()
    assert max(map(len, lines)) <= width
    page = " ".join(" ".join(lines).split())
    for pair in comparison.pairs:
        differ = [d for d in pair.differences if d.effect.verdict in DIFFERS]
        wanted = [f"step {math.floor(d.parting.at + 0.5)}" for d in differ if d.parting is not None]
        wanted += [number.strip(",") for d in differ for number in interval(d.effect).split()]
        assert wanted
        assert [w for w in wanted if not re.search(rf"{re.escape(w)}(?![\d.])", page)] == []


def test_names_of_metrics_are_broken_behind_their_marks():
    assert in_lines("eval_completions/clipped_ratio", 18).split("\n") == ["eval_completions/", "clipped_ratio"]
    assert in_lines("abcdefgh", 3).split("\n") == ["abc", "def", "gh"]
    assert in_lines("kl", 14) == "kl"
    assert in_lines("奖励均值", 4).split("\n") == ["奖励", "均值"], "a character is two columns wide"


def test_an_interval_without_0_that_is_no_difference_is_explained():
    plain = two_settings()
    assert "leaves out 0" not in method(plain)
    (pair,) = plain.pairs
    same = next(d for d in pair.differences if d.effect.verdict is Verdict.SAME)
    seeming = replace(same, effect=replace(same.effect, low=0.1, high=0.3))
    others = tuple(seeming if d is same else d for d in pair.differences)
    assert "leaves out 0" in method(replace(plain, pairs=(replace(pair, differences=others),)))
