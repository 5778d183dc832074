"""The page of `holter watch`: what it shows, how it answers to keys, and that the terminal gets back what it had."""

from __future__ import annotations

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from dataclasses import replace
from pathlib import Path

import pytest

from holter.findings.diagnosis import diagnose
from holter.reports.full_screen import ENTER, LEAVE, named
from holter.reports.live_screen import LiveScreen
from holter.runs.load import load
from tests.patience import PATIENCE

from .test_watch import append

EXAMPLES = Path(__file__).parents[2] / "examples" / "runs"
SICK, HEALTHY = EXAMPLES / "hacked-ppo", EXAMPLES / "healthy-grpo"


def shown(screen: LiveScreen, columns=80, rows=24) -> list[str]:
    """The page without its colours."""
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in screen.lines((columns, rows))]


def screen_of(*paths, news=(), lifeless=None) -> LiveScreen:
    screen = LiveScreen((80, 24))
    found = [diagnose(run) for run in load(paths).runs]
    screen.show(found, ["3 rows a minute"] * len(found), [lifeless] * len(found), news, "")
    return screen


@pytest.mark.parametrize("size", [(80, 24), (80, 8), (20, 5), (200, 50), (1, 1)])
def test_the_page_fits_every_terminal(size):
    lines = shown(screen_of(SICK, HEALTHY, news=["12:00:01 something changed"]), *size)
    assert len(lines) == size[1]
    assert max(map(len, lines)) <= size[0]


def test_eighty_columns_hold_what_is_wrong_what_changed_and_the_vital_signs():
    lines = shown(screen_of(SICK, news=[f"12:00:0{n} change {n}" for n in range(9)]))
    assert lines[0].startswith("✗ CRITICAL")
    assert "120 rows, steps 1-120 · last good step 5" in lines[1]
    assert lines[2].strip() == "3 rows a minute"
    headings = [lines.index(h) for h in ("Wrong now", "Changed", "Vital signs")]
    assert headings == sorted(headings)
    assert any(line.startswith("✗ reward-hacking since step 6:") for line in lines)
    changed = [line.strip() for line in lines if "12:00:0" in line]
    assert changed == [f"12:00:0{n} change {n}" for n in (8, 7, 6)], "the newest first"
    assert any(line.strip().startswith("objective/kl") for line in lines)
    assert lines[-1].startswith("q leave")


def test_a_long_path_leaves_room_for_what_was_found():
    (run,) = load([SICK]).runs
    screen = LiveScreen((80, 24))
    long = replace(run, name="/a/way/that/never/ends" * 9 + "/hacked-ppo/log.jsonl")
    screen.show([diagnose(long)], ["3 rows a minute"], [None], (), "")
    assert shown(screen)[0].startswith("✗ CRITICAL  …")
    assert "hacked-ppo/log.jsonl  From step 6: the policy" in shown(screen)[0]


def test_all_that_a_finding_brought_is_named_and_what_is_over_is_said_to_be():
    found = diagnose(load([SICK]).runs[0])
    story = max(found.stories, key=lambda s: len(s.consequences))
    over = replace(story, root=replace(story.root, active=False))
    assert over.active, "a consequence holds on"
    screen = LiveScreen((80, 60))
    screen.show([replace(found, stories=(over,))], [""], [None], (), "")
    page = " ".join(" ".join(shown(screen, rows=60)).split())
    assert f"{over.root.detector} steps 6-120, over: " in page
    names = ", ".join(dict.fromkeys(c.detector for c in over.consequences))
    assert f"└ then {names}" in page


def test_a_healthy_run_is_said_to_be_so_with_its_limits():
    assert "Nothing is wrong now, as far as this log shows." in shown(screen_of(HEALTHY))


def test_keys_scroll_and_stop_at_both_ends():
    screen = screen_of(SICK)
    first = shown(screen, 80, 12)
    screen.press("down")
    second = shown(screen, 80, 12)
    assert second[4:-2] == first[5:-1]
    for _ in range(100):
        assert screen.press("j")
    bottom = shown(screen, 80, 12)
    assert "below" not in bottom[-1]
    screen.press("k")
    assert shown(screen, 80, 12) != bottom
    screen.press("G")
    assert shown(screen, 80, 12) == bottom
    screen.press("g")
    assert shown(screen, 80, 12) == first
    screen.press("b")
    assert shown(screen, 80, 12) == first


def test_help_lies_over_the_page_and_goes_again():
    screen = screen_of(SICK)
    before = shown(screen)
    screen.press("?")
    assert "Keys" in shown(screen)
    screen.press("?")
    assert shown(screen) == before


def test_tab_shows_the_next_run_and_the_gravest_comes_first():
    screen = screen_of(HEALTHY, SICK)
    assert any("reward-hacking" in line for line in shown(screen))
    screen.press("tab")
    assert "Nothing is wrong now, as far as this log shows." in shown(screen)
    screen.press("tab")
    assert any("reward-hacking" in line for line in shown(screen))


def test_q_leaves_and_nothing_else_does():
    screen = screen_of(SICK)
    assert not screen.press("q")
    assert all(screen.press(key) for key in ("?", "escape", "x", "up", "tab", "Q", " "))


def test_what_cannot_be_read_is_said_above_what_was_read():
    screen = screen_of(SICK)
    screen.show((), (), (), (), "log.jsonl: it is empty.")
    lines = shown(screen)
    assert lines[0] == "log.jsonl: it is empty."
    assert any("reward-hacking" in line for line in lines)


def test_text_of_a_log_cannot_move_the_cursor():
    (run,) = load([SICK]).runs
    screen = LiveScreen((80, 24))
    screen.show([diagnose(replace(run, name="\x1b[2J\x1b]0;owned\x07run"))], ["\x1b[H"], [None], ["\x1b[31mred"], "")
    text = "".join(screen.lines((80, 24)))
    assert set(re.findall(r"\x1b(.)", text)) == {"["}
    assert not re.search(r"\x1b\[[0-9;]*[^0-9;m]", text)


def test_keys_are_told_apart_even_when_many_come_at_once():
    assert list(named("jk\x1b[A\x1bOB\x1b[5~\x1b[99;5u?\tq")) == ["j", "k", "up", "down", "page-up", "?", "tab", "q"]
    assert list(named("\x1b")) == ["escape"]


class Terminal:
    """A pseudo-terminal in which `holter watch` runs, and what an emulator of a terminal makes of what it writes."""

    def __init__(self, *arguments: str, columns=80, rows=24):
        pyte = pytest.importorskip("pyte")
        self.screen = pyte.Screen(columns, rows)
        self.stream = pyte.ByteStream(self.screen)
        self.written = b""
        self.ours, self.theirs = os.openpty()
        self.resize(columns, rows)
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holter", "watch", *arguments],
            stdin=self.theirs,
            stdout=self.theirs,
            stderr=self.theirs,
            env={k: v for k, v in os.environ.items() if k not in ("COLUMNS", "LINES")} | {"TERM": "xterm-256color"},
            start_new_session=True,
        )

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.screen.resize(rows, columns)

    @property
    def text(self) -> str:
        """What it shows, wherever its lines are broken."""
        return " ".join(" ".join(self.screen.display).split())

    def until(self, *texts: str) -> None:
        """Take what it writes until all of the texts stand on the screen."""
        end = time.monotonic() + PATIENCE
        while not all(text in self.text for text in texts):
            assert time.monotonic() < end, f"{texts} did not come; the terminal shows {self.text}"
            self.take(f"{texts} did not come")

    def take(self, why: str) -> None:
        ready, _, _ = select.select([self.ours], [], [], PATIENCE)
        assert ready, f"{why}; the terminal shows {self.text}"
        data = os.read(self.ours, 65536)
        self.written += data
        # The emulator does not know synchronised output.
        self.stream.feed(re.sub(rb"\x1b\[\?2026[hl]", b"", data))

    def press(self, keys: str) -> None:
        os.write(self.ours, keys.encode())

    def ended(self) -> int:
        """Its exit code, once it has left."""
        while LEAVE.encode() not in self.written:
            self.take("it does not leave")
        return self.process.wait(PATIENCE)

    def close(self) -> None:
        self.process.kill()
        self.process.wait(PATIENCE)
        os.close(self.ours)
        os.close(self.theirs)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    append(path, range(1, 31))
    return path


@pytest.fixture
def watch():
    made = []

    def begin(*arguments, **options):
        made.append(Terminal(*map(str, arguments), **options))
        return made[-1]

    yield begin
    for terminal in made:
        terminal.close()


def test_the_page_follows_a_growing_log_and_q_gives_the_terminal_back(watch, log):
    terminal = watch("--every", "0.1", log)
    terminal.until("30 rows, steps 1-30", "Vital signs")
    assert ENTER.encode() in terminal.written
    append(log, range(31, 34), loss=float("nan"))
    terminal.until("33 rows, steps 1-33", "Changed", "not-finite critical since step 31")
    assert not termios.tcgetattr(terminal.theirs)[3] & termios.ICANON, "keys come without Enter"
    terminal.press("q")
    assert terminal.ended() == 0
    assert termios.tcgetattr(terminal.theirs) == terminal.before
    assert terminal.written.rstrip().endswith(LEAVE.encode())


@pytest.mark.slow
def test_nothing_is_written_where_nothing_changed(watch, log):
    os.utime(log, (0, 0))
    terminal = watch("--every", "0.1", log)
    terminal.until("30 rows, steps 1-30")
    terminal.press("?")
    terminal.until("Keys")
    written = len(terminal.written)
    terminal.press("?")
    terminal.until("Vital signs")
    # Of a page of two thousand characters only lines that differ are written, and never the whole screen is cleared.
    assert terminal.written[written:].count(b"\x1b[2J") == 0
    assert b"30 rows, steps 1-30" not in terminal.written[written:]


@pytest.mark.slow
def test_a_terminal_that_changes_its_size_is_filled_again(watch, log):
    terminal = watch("--every", "0.1", log)
    terminal.until("Vital signs", "q leave")
    terminal.resize(120, 40)
    os.killpg(terminal.process.pid, signal.SIGWINCH)
    while not terminal.screen.display[39].startswith("q leave"):
        terminal.take("the page does not fill the terminal")
    terminal.press("q")
    assert terminal.ended() == 0


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_cleanly(watch, log, number):
    terminal = watch("--every", "0.1", log)
    terminal.until("30 rows, steps 1-30")
    os.killpg(terminal.process.pid, number)
    assert terminal.ended() == 0
    assert termios.tcgetattr(terminal.theirs) == terminal.before


@pytest.mark.slow
def test_settings_that_are_wrong_are_said_on_the_terminal_that_was_given_back(watch, log, tmp_path):
    (tmp_path / "strict.toml").write_text("[detectors.kl-runawy]\nz = 8.0\n")
    # As wide as any path: a terminal breaks a line in the middle of a word.
    terminal = watch("--config", tmp_path / "strict.toml", log, columns=1000)
    assert terminal.ended() == 2
    terminal.until("Unknown detector 'kl-runawy'. Did you mean kl-runaway")
    assert termios.tcgetattr(terminal.theirs) == terminal.before


@pytest.mark.slow
def test_a_log_that_is_rotated_and_one_that_begins_anew_are_followed(watch, log):
    terminal = watch("--every", "0.1", log)
    terminal.until("30 rows, steps 1-30")
    log.rename(log.with_suffix(".1"))
    terminal.until("there is no such file")
    assert "30 rows, steps 1-30" in terminal.text, "what was read still stands"
    append(log, range(31, 34))
    terminal.until("33 rows, steps 1-33")
    assert "there is no such file" not in terminal.text
    log.write_text("")
    append(log, range(1, 4))
    terminal.until("3 rows, steps 1-3 ")


@pytest.mark.slow
def test_a_command_that_is_run_gets_the_finding(watch, log, tmp_path):
    script = tmp_path / "hear.py"
    script.write_text(
        "import sys, pathlib\npathlib.Path(sys.argv[1]).write_text(sys.stdin.read())\nprint('no', file=sys.stderr)\nsys.exit(3)\n"
    )
    terminal = watch(
        "--every", "0.1", "--exec", f"{sys.executable} {script} {tmp_path / 'heard.json'}", log, columns=160
    )
    terminal.until("30 rows, steps 1-30")
    append(log, range(31, 34), loss=float("nan"))
    terminal.until("failed with exit code 3: no")
    heard = json.loads((tmp_path / "heard.json").read_text())
    assert (heard["kind"], heard["finding"]["detector"], heard["finding"]["first_step"]) == ("opened", "not-finite", 31)
