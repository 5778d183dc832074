"""``holter explain``, as a user types it."""

import json
import os
import subprocess
import sys

import pytest
from click.testing import CliRunner

from holter.cli import holter
from holter.detectors.registry import all_detectors
from holter.dialects.base import Fit, Name
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers
from holter.reports.lookup import look_up
from holter.reports.pages import conversion, readable, value_range
from holter.signals.catalog import catalog, concepts, signal
from tests.patience import PATIENCE

MAIN = [sys.executable, "-c", "from holter.cli import main; main()"]


def explain(*arguments):
    return CliRunner().invoke(holter, ["explain", *arguments], catch_exceptions=True)


def explained(*arguments):
    said = explain(*arguments)
    assert said.exit_code == 0, said.output
    return said.output


def section(page, title):
    return page.split(f"\n## {title}\n", 1)[1].split("\n## ", 1)[0]


def test_a_signal_page_says_all_there_is():
    page = explained("objective/non_score_reward")
    assert page.startswith("# KL penalty in the reward\n")
    for stated in (
        "`objective/non_score_reward`",
        "`kl_penalty`",
        "unit: reward",
        "range: any number",
        "mean over samples",
    ):
        assert stated in page
    assert "-kl_coef" in section(page, "What it is")
    assert "Negative while it costs" in section(page, "What it is")
    assert "drops the sign" in section(page, "Documentation and code")
    assert "`objective/kl`" in section(page, "Look at beside it")
    assert "TRL PPOTrainer" in section(page, "What frameworks call it")
    assert "Ziegler" in section(page, "Sources")


def test_a_signal_page_names_the_detectors_that_look_at_it():
    assert "`kl-runaway` (HLT201): " in section(explained("kl"), "Detectors that look at it")


def test_a_signal_page_shows_conversion_fit_and_versions():
    names = section(explained("perf/mfu"), "What frameworks call it")
    assert "prime-rl: `perf/mfu` (value = 0.01 * raw)" in names
    names = section(explained("rewards/{name}/mean"), "What frameworks call it")
    assert "TRL GRPOTrainer: `rewards/{name}` (up to 0.16)" in names


def test_a_filled_in_key_is_explained_by_its_pattern():
    page = explained("rewards/accuracy/mean")
    assert "key: `rewards/{name}/mean`, asked as `rewards/accuracy/mean`" in page


def test_an_evaluated_signal_is_explained_by_the_signal():
    assert explained("eval/kl").startswith("# KL to the reference policy\n")


def test_a_score_of_any_name_is_an_evaluation_score():
    assert explained("eval/mmlu").startswith("# Evaluation score\n")


def test_a_concept_shows_its_signals_with_their_units():
    page = explained("ref_kl")
    assert "`kl` (nats/token)" in page
    assert "`objective/kl` (nats/sequence)" in page


def test_a_concept_of_one_signal_is_that_signal():
    assert explained("eos_fraction") == explained("completions/eos_ratio")


def test_a_detector_wins_over_a_concept_of_its_name_and_says_so():
    page = explained("truncation")
    assert page.startswith("# truncation (HLT")
    assert "`holter explain completions/clipped_ratio`" in page


@pytest.mark.parametrize("name", ["kl-runaway", "HLT201", "hlt201", "kl_runaway"])
def test_a_detector_by_name_or_code(name):
    page = explained(name)
    assert page.startswith("# kl-runaway (HLT201)\n")
    assert "## When it is wrong" in page


@pytest.mark.parametrize("arguments", [["verl"], ["--dialect", "verl"]])
def test_a_dialect_says_what_it_logs_what_never_and_its_traps(arguments):
    page = explained(*arguments)
    assert page.startswith("# verl\n")
    assert "`critic/score/mean`: `reward`" in section(page, "What it logs")
    assert "(`zero_std_groups`)" in section(page, "What it never logs")
    assert section(page, "Traps").strip()


def test_a_dialect_shows_what_it_inherits():
    assert "`learning_rate`: `lr`" in explained("trl-grpo").split("What it shares with", 1)[1]


def test_a_reader_says_what_it_reads():
    assert "reader: `jsonl`" in explained("jsonl")


def test_a_frameworks_own_name_leads_to_the_signal():
    page = explained("actor/pg_clipfrac")
    assert "- verl: `policy/clipfrac_avg`, Clip fraction of the PPO update" in page
    assert "`holter explain policy/clipfrac_avg`" in page


def test_a_frameworks_own_name_in_one_dialect():
    page = explained("actor/ppo_kl", "--dialect", "verl")
    assert "`policy/kl_k1_avg`" in page
    assert "EasyR1" not in page


def test_a_name_that_a_dialect_lacks_gets_its_nearest_names():
    said = subprocess.run(
        [*MAIN, "explain", "actor/pg_los", "--dialect", "verl"], capture_output=True, text=True, timeout=PATIENCE
    )
    assert said.returncode == 2
    assert "Did you mean actor/pg_loss" in said.stderr
    assert "Traceback" not in said.stderr


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ("objective/kll", "objective/kl (signal)"),
        ("kl-runawy", "kl-runaway (detector)"),
        ("HLT2O1", "HLT201 (detector)"),
        ("verll", "verl (dialect)"),
        ("jsonI", "jsonl (reader)"),
        ("num_eos", "val/num_eos_tokens (signal)"),
    ],
)
def test_an_unknown_name_gets_the_nearest_of_every_kind(asked, meant):
    error = explain(asked).exception
    assert meant in str(error)
    assert "holter list" in str(error)


def test_an_unknown_name_exits_with_2_and_one_line():
    said = subprocess.run([*MAIN, "explain", "no-such-thing-at-all"], capture_output=True, text=True, timeout=PATIENCE)
    assert said.returncode == 2
    assert said.stdout == ""
    assert said.stderr.startswith("holter: Nothing is called 'no-such-thing-at-all'.")
    assert said.stderr.count("\n") == 1


def test_without_a_name_it_says_what_to_give():
    said = explain()
    assert said.exit_code == 2
    assert "--dialect" in said.output


@pytest.mark.parametrize("name", ["kl", "ref_kl", "kl-runaway", "verl", "jsonl", "actor/ppo_kl", "explained_variance"])
def test_json_holds_the_page_and_the_facts(name):
    said = json.loads(
        explained(name, "--format", "json"), parse_constant=lambda c: pytest.fail(f"not strict JSON: {c}")
    )
    assert said["schema"] == "holter.explain/1"
    assert said["kind"] in {"signal", "concept", "detector", "dialect", "reader", "name"}
    assert said["page"] == explained(name)


def test_json_facts_of_a_signal_are_its_declaration():
    facts = json.loads(explained("explained_variance", "--format", "json"))["facts"]
    declared = catalog()["explained_variance"]
    assert (facts["unit"], facts["low"], facts["high"]) == ("1", None, 1.0)
    assert facts["formula"] == declared.formula
    assert facts["moves_with"] == list(declared.moves_with)
    assert {"verl", "sb3"} <= {n["dialect"] for n in facts["names"]}


EVERYTHING = [*catalog(), *concepts(), *all_detectors(), *all_dialects(), *all_readers()]


@pytest.mark.parametrize("name", EVERYTHING)
def test_everything_has_a_page(name):
    page = look_up(name)
    assert page.markdown.startswith("# ")
    assert page.title
    assert "(?P<" not in page.markdown


def test_keys_dialects_readers_and_detectors_do_not_share_names():
    kinds = [set(all_detectors()), set(all_dialects()), set(all_readers()), set(catalog())]
    assert sum(map(len, kinds)) == len(set().union(*kinds))


@pytest.mark.skipif(sys.platform == "win32", reason="a pseudo-terminal is needed")
def test_a_terminal_gets_rendered_text_of_its_width():
    import pty
    import termios

    leader, follower = pty.openpty()
    termios.tcsetwinsize(follower, (40, 80))
    child = subprocess.Popen(
        [*MAIN, "explain", "rewards/{name}/mean"],
        stdout=follower,
        stdin=follower,
        stderr=subprocess.PIPE,
        env={k: v for k, v in os.environ.items() if k != "COLUMNS"} | {"TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(follower)
    said = b""
    try:
        while chunk := os.read(leader, 65536):
            said += chunk
    except OSError:
        pass
    os.close(leader)
    assert child.wait(timeout=PATIENCE) == 0, child.stderr.read()
    child.stderr.close()
    import re

    lines = re.sub(r"\x1b\[[0-9;]*m", "", said.decode()).splitlines()
    assert max(map(len, lines)) <= 80
    assert not any(line.startswith("#") for line in lines)
    assert any("rewards/{name}/mean" in line for line in lines)
    assert any("metrics/{name}" in line for line in lines), "names with brackets must not vanish as markup"


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (Name("a", "kl"), ""),
        (Name("a", "kl", scale=0.01), "0.01 * raw"),
        (Name("a", "kl", scale=-1.0), "-raw"),
        (Name("a", "kl", power=2.0), "raw^2"),
        (Name("a", "kl", scale=-1.0, offset=1.0), "1 - raw"),
        (Name("a", "kl", scale=0.5, power=2.0, offset=3.0), "3 + 0.5 * raw^2"),
        (Name("a", "kl", scale=-2.0, offset=1.0), "1 - 2 * raw"),
        (Name("a", "kl", offset=1.0), "1 + raw"),
    ],
)
def test_conversion_is_written_as_it_is_computed(name, says):
    assert conversion(name) == says


def test_every_conversion_computes_what_the_tables_do():
    for spoken in all_dialects().values():
        for name in spoken.names:
            written = (conversion(name) or "raw").replace("^", "**")
            raw = 0.37
            assert eval(written, {"raw": raw}) == pytest.approx(name.offset + name.scale * raw**name.power)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (r"rewards/(?P<name>.+)/mean", "rewards/{name}/mean"),
        (r"reward/(?P<name>(?!overall$).+)", "reward/{name}"),
        (r"eval/(?P<name>[^/]+)-pass@(?P<k>\d+)", "eval/{name}-pass@{k}"),
        (r"x/(?P<name>a\)b(c(d)))\.e", "x/{name}.e"),
    ],
)
def test_a_pattern_is_shown_with_its_labels(raw, says):
    assert readable(Name(raw, "kl", pattern=True, fit=Fit.EXACT)) == says


def test_a_plain_name_is_shown_as_it_is():
    assert readable(Name("a.(b)[c]", "kl")) == "a.(b)[c]"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("loss", "any number"),
        ("grad_norm", "0 or more"),
        ("explained_variance", "1 or less"),
        ("sampling/pearson", "-1 to 1"),
        ("perplexity", "1 or more"),
    ],
)
def test_range_in_words(key, words):
    assert value_range(signal(key)) == words
