"""Reports in another language: every sentence of a diagnosis is told in it, and nothing else is touched."""

import json
import re
from pathlib import Path

import pytest
from rich.console import Console

from holter.alerts import Alert, Ledger
from holter.alerts.services import _worded
from holter.alerts.trackers import worded
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Severity
from holter.language import LANGUAGES, SOURCE, speaking, translated
from holter.monitor.pulse import Pulse
from holter.reports.html import compare_page
from holter.reports.html.page import page
from holter.reports.live_screen import LiveScreen
from holter.reports.prose import Prose, line_starts, unbreakable
from holter.runs.load import load
from tests.unit.reports.comparisons import same_setting_twice, seeds_only, sweep, two_settings
from tests.unit.reports.diagnoses import REFUSED, sick

OTHERS = [code for code in LANGUAGES if code != SOURCE]
EXAMPLES = Path(__file__).parents[3] / "examples" / "runs"
SENTENCES = {
    "title",
    "text",
    "says",
    "check",
    "why",
    "advice",
    "against",
    "notes",
    "headline",
    "best",
    "method",
    "began",
    "sure",
}
"""Fields of a payload that hold what Holter says."""
ENGLISH = re.compile(r"(?<![\w/.`'=-])[A-Za-z][a-z]+(?: [a-z]{2,}){2,}")


def real():
    return [diagnose(run) for run in load([str(EXAMPLES)]).runs]


def sentences(said, field=""):
    """What stands in the fields that hold sentences."""
    if isinstance(said, str):
        if field in SENTENCES:
            yield said
    elif isinstance(said, dict):
        for name, each in said.items():
            yield from sentences(each, name)
    elif isinstance(said, list):
        for each in said:
            yield from sentences(each, field)


def data_of(html):
    block = re.search(r'<script type="application/json" id="holter-data">(.*?)</script>', html, re.DOTALL)
    assert block is not None
    return json.loads(block[1])


@pytest.mark.parametrize("code", OTHERS)
def test_a_page_holds_every_sentence_of_its_runs_in_every_language(code):
    data = data_of(page(real(), REFUSED))
    said = {
        s
        for s in sentences({k: v for k, v in data.items() if k not in ("texts", "detectors")})
        if re.search("[a-z]{3} [a-z]", s)
    }
    assert len(said) > 100
    assert not [s for s in said if s not in data["texts"][code]]


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("made", [two_settings, sweep, same_setting_twice, seeds_only])
def test_a_comparison_holds_every_sentence_in_every_language(code, made):
    data = data_of(compare_page.page(made()))
    said = {
        s
        for s in sentences({k: v for k, v in data.items() if k not in ("texts", "detectors")})
        if re.search("[a-z]{3} [a-z]", s)
    }
    assert said
    assert not [s for s in said if s not in data["texts"][code]]


@pytest.mark.parametrize("code", OTHERS)
def test_without_a_script_a_page_says_it_in_the_language_spoken(code):
    with speaking(code):
        html = page(real())
    shown = html.split("<noscript>")[1].split("</noscript>")[0]
    assert not ENGLISH.findall(re.sub("<[^>]+>", " ", shown))


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize("size", [(80, 24), (20, 5), (41, 30)])
def test_the_live_page_fits_the_terminal_in_columns(code, size):
    diagnoses = real()
    pulses = [Pulse(age=75.0, gap=2.0).says] * len(diagnoses)
    with speaking(code):
        screen = LiveScreen((80, 24))
        screen.show(diagnoses, pulses, [None] * len(diagnoses), [], "")
        pages = [screen.lines(size)]
        screen.press("?")
        pages.append(screen.lines(size))
    for lines in pages:
        plain = [re.sub(r"\x1b\[[0-9;]*m", "", line) for line in lines]
        assert len(lines) == size[1]
        assert max(Console().measure(line).maximum for line in plain) <= size[0]
        assert not [line for line in plain if ENGLISH.search(line)]


@pytest.mark.parametrize("code", OTHERS)
def test_an_alert_is_told_in_the_language_and_written_down_in_english(code):
    (diagnosis, *_) = [d for d in real() if d.verdict.status == "critical"]
    ledger = Ledger(floor=Severity.WARNING)
    opened = ledger.update(diagnosis.findings, rows=100, step=100, now=0.0, last_good_step=5.0, run="mine")
    gone = ledger.update([], rows=101, step=101, now=1.0, run="mine")
    alerts = [a for a in (*opened, *gone) if a.told]
    assert {"opened", "resolved"} <= {a.kind for a in alerts}
    for alert in alerts:
        english, record = str(alert), json.dumps(alert.record())
        with speaking(code):
            told = [str(alert), *_worded(alert)[:2], *worded(alert)[:2]]
            assert json.dumps(alert.record()) == record
        assert str(alert) == english
        assert not [line for line in told if ENGLISH.search(line)]


@pytest.mark.parametrize("code", OTHERS)
@pytest.mark.parametrize(
    "pulse",
    [Pulse(), Pulse(age=0.1), Pulse(age=90000.0, gap=3.0), Pulse(ended="failed", why="ValueError: x", age=3600.0)],
)
def test_signs_of_life_and_what_is_wrong_with_them_are_told(code, pulse):
    assert not ENGLISH.search(translated(pulse.says, code))
    finding = pulse.finding(sick().run)
    for said in () if finding is None else (finding.title, *finding.advice, *(e.says for e in finding.evidence)):
        assert not ENGLISH.search(translated(said, code))


def test_every_kind_of_alert_is_the_sentence_that_it_was():
    finding = next(f for f in sick().findings if f.severity is Severity.CRITICAL)
    lines = [
        str(Alert(kind=kind, finding=finding, step=9, told=True, last_good_step=4.0))
        for kind in ("opened", "worsened", "persists", "resolved")
    ]
    start = f"{finding.detector}"
    assert [line.removeprefix(start).split(" since")[0].split(" (since")[0] for line in lines] == [
        " critical",
        " is now critical",
        " still critical",
        " is over",
    ]
    assert [line.endswith(" Last good step: 4.") for line in lines] == [True, True, True, False]


CHINESE = "rewards/gold/mean 从 0.8 跌到 0，而且没有换来奖励（最高 1.2）。此外：补全撞上长度上限"


@pytest.mark.parametrize("width", [10, 17, 24, 33, 80, 200])
def test_a_line_of_chinese_is_filled_and_never_begins_with_a_closing_mark(width):
    console = Console(width=width, file=None)
    lines = [line.plain for line in Prose(CHINESE).wrap(console, width)]
    columns = [Console().measure(line).maximum for line in lines]
    assert "".join(lines).replace(" ", "") == CHINESE.replace(" ", "")
    if width > 17:
        assert max(columns) <= width
        assert not [line for line in lines[1:] if line[0] in "，。：）"]
        longest = max(map(len, unbreakable(CHINESE)))
        assert all(c > width - longest - 4 for c in columns[:-1])


def test_a_word_that_is_wider_than_the_line_is_cut():
    assert line_starts("abcdefgh", 3) == [3, 6]
    assert line_starts("长长长", 3) == [1, 2]
    assert line_starts("ab cdefgh", 4) == [4, 8]


def test_english_is_broken_as_rich_breaks_it():
    console = Console(width=20, file=None)
    english = "the policy drifts too far from the reference"
    assert [line.plain for line in Prose(english).wrap(console, 20)] == [
        line.plain for line in super(Prose, Prose(english)).wrap(console, 20)
    ]
