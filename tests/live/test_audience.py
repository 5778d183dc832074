"""Who hears of alerts: nobody waits for anybody, and no secret is repeated."""

from __future__ import annotations

import contextvars
import json
import logging
import sys
import threading
import types
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from holter.alerts import Alert, Audience, Notice, to_trackio, to_wandb
from holter.alerts import audience as audiences
from holter.alerts.command import Command
from holter.alerts.services import FILE, URLS, services
from holter.errors import SettingsError
from tests.patience import PATIENCE

from .test_alerts import KL
from .test_monitor import noise

# apprise asks Python for a module that goes with 3.13.
pytestmark = pytest.mark.filterwarnings("ignore:'imghdr' is deprecated:DeprecationWarning")

ALERT = Alert(kind="opened", finding=KL, step=45, told=True, last_good_step=39, run="runs/mine")
SECRET = "T0KENxyz"


class Hearing:
    """A channel that remembers."""

    name = "hearing"

    def __init__(self, before=lambda: None, last=None):
        self.heard, self.before = [], before
        self.last, self.heard_the_last = last, threading.Event()

    def __call__(self, said):
        self.before()
        self.heard.append(said)
        if said == self.last:
            self.heard_the_last.set()


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    """The end of a run waits for everything that is sent: how long that takes on a busy machine is not what is tested."""
    monkeypatch.setattr(Audience.close, "__defaults__", (PATIENCE,))


def test_everybody_hears_and_one_that_raises_keeps_nobody_from_it(caplog):
    def broken(said):
        raise ValueError("a bug")

    direct, channel = [], Hearing()
    audience = Audience([broken, direct.append], [channel])
    audience("one")
    audience("two")
    assert audience.close(PATIENCE)
    assert direct == channel.heard == ["one", "two"]
    assert [r.getMessage() for r in caplog.records] == [
        "broken: an alert could not be sent (ValueError); training goes on (said once)"
    ]


def test_a_channel_that_hangs_holds_up_nobody_and_is_named_at_the_end(caplog):
    released = threading.Event()
    hanging, other = Hearing(released.wait), Hearing(last=499)
    hanging.name = "pager"
    audience = Audience(channels=[hanging, other])
    for number in range(500):
        audience(number)
    assert other.heard_the_last.wait(PATIENCE)
    assert not audience.close(0.05)
    released.set()
    assert audience.close(PATIENCE)
    assert hanging.heard[-1] == 499
    assert len(hanging.heard) <= audiences.WAITING + 1, "the newest are kept, and not more"
    said = [r.getMessage() for r in caplog.records]
    assert "pager: does not answer, and older alerts are dropped; training goes on (said once)" in said
    assert any(s.startswith("pager: ") and s.endswith("not sent: it does not answer") for s in said)


def test_what_a_channel_raises_is_not_repeated(caplog):
    def raises():
        raise ConnectionError(f"https://hooks.example.com/{SECRET}")

    audience = Audience(channels=[Hearing(raises)])
    audience("one")
    audience("two")
    assert audience.close(PATIENCE)
    assert [r.getMessage() for r in caplog.records] == [
        "hearing: an alert could not be sent (ConnectionError); training goes on (said once)"
    ]


def test_a_channel_is_called_in_the_context_of_whoever_began():
    known = contextvars.ContextVar("known", default="nobody")
    known.set("the run")
    seen = []
    audience = Audience(channels=[Hearing(lambda: seen.append(known.get()))])
    known.set("somebody else")
    audience("one")
    assert audience.close(PATIENCE)
    assert seen == ["the run"]


def test_silence_is_silence(monkeypatch):
    monkeypatch.setenv(URLS, "json://localhost:1/x")
    assert not Audience.of(None, among=[to_wandb])


# Services.


@pytest.fixture
def received():
    """A web server on this machine, and what it received: path and body of each request."""
    got: list[tuple[str, dict]] = []
    here = threading.Event()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, json.loads(body)))
            self.send_response(200)
            self.end_headers()
            here.set()

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield types.SimpleNamespace(port=server.server_port, got=got, here=here)
    server.shutdown()
    server.server_close()


def apprise():
    return pytest.importorskip("apprise")


def test_an_alert_arrives_at_a_real_server(begin, received, monkeypatch):
    apprise()
    monkeypatch.setenv(URLS, f"json://127.0.0.1:{received.port}/{SECRET}")
    run = begin(monitor=True)
    for step in range(1, 31):
        run.log({"loss": 0.1 if step < 25 else float("nan"), "kl": 0.01, "reward": noise(step)}, step=step)
    run.finish()
    bodies = [body for path, body in received.got if path == f"/{SECRET}"]
    (body,) = [b for b in bodies if "not-finite" in b["title"]]
    assert body["title"] == "mine: not-finite is critical"
    assert body["type"] == "failure"
    assert body["message"].startswith("not-finite critical since step 25")
    assert "Last good step: 24." in body["message"].splitlines()[0]
    assert body["message"].splitlines()[1].startswith("- "), "what to do about it"


def test_no_address_is_printed_logged_or_stored(begin, received, monkeypatch, caplog, capfd, tmp_path):
    apprise()
    caplog.set_level(logging.DEBUG)
    refused = f"json://127.0.0.1:1/{SECRET}"
    monkeypatch.setenv(
        URLS, f"json://127.0.0.1:{received.port}/{SECRET} {refused} slack://{SECRET}A/{SECRET}B/{SECRET}C"
    )
    monkeypatch.setattr("apprise.plugins.slack.NotifySlack.send", lambda *a, **k: 1 / 0)
    run = begin(monitor=True, tell=[repr, print], config={"argument": 1})
    for step in range(1, 11):
        run.log({"loss": float("nan"), "kl": 0.01}, step=step)
    run.alert("judge", text="timed out")
    run.finish()
    assert received.got
    out, err = capfd.readouterr()
    everything = out + err + caplog.text + repr(services())
    everything += "".join(p.read_text() for p in tmp_path.rglob("*") if p.is_file())
    assert SECRET not in everything
    assert "NotSentError" in caplog.text, "that it did not arrive is said"


@pytest.mark.parametrize(
    "text",
    [f"slak://{SECRET}", f"json://localhost/a slak://{SECRET}", f"{SECRET}"],
)
def test_an_address_that_is_none_is_said_before_training_without_repeating_it(begin, monkeypatch, text, capfd, caplog):
    apprise()
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(URLS, text)
    with pytest.raises(SettingsError, match=f"{URLS}: address . of .") as error:
        begin()
    assert SECRET not in str(error.value) + "".join(capfd.readouterr()) + caplog.text
    assert error.value.__cause__ is None


def test_addresses_may_stand_in_a_file(tmp_path):
    apprise()
    plain, yaml, wrong = tmp_path / "a.txt", tmp_path / "a.yaml", tmp_path / "w.txt"
    plain.write_text("# pagers\n\njson://localhost/a\nnight, day = json://localhost/b\n")
    yaml.write_text("urls:\n  - json://localhost/c\n")
    wrong.write_text(f"json://localhost/a\nslak://{SECRET}\n")
    assert [s.name for s in services({FILE: str(plain)}, file=yaml)] == ["JSON 1", "JSON 2", "JSON 3"]
    with pytest.raises(SettingsError, match=r"w\.txt:2: the address is none that apprise knows") as error:
        services({FILE: str(wrong)})
    assert SECRET not in str(error.value)
    with pytest.raises(SettingsError, match="No such file"):
        services({FILE: str(tmp_path / "gone.txt")})
    (tmp_path / "empty.txt").write_text("# nobody\n")
    with pytest.raises(SettingsError, match="holds no address"):
        services({FILE: str(tmp_path / "empty.txt")})


def test_without_apprise_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr("holter.alerts.services.find_spec", lambda name: None)
    assert services({}) == []
    with pytest.raises(
        SettingsError, match=r"HOLTER_NOTIFY: sending alerts needs apprise: pip install 'holter\[notify\]'"
    ):
        services({URLS: "json://localhost"})


def test_a_service_that_hangs_costs_training_nothing(begin, monkeypatch, caplog):
    apprise()
    released = threading.Event()
    monkeypatch.setenv(URLS, "json://localhost/a")
    monkeypatch.setattr("apprise.plugins.custom_json.NotifyJSON.send", lambda *a, **k: released.wait())
    monkeypatch.setattr(Audience.close, "__defaults__", (0.05,))
    run = begin(monitor=True, stop_on="critical")
    for step in range(1, 11):
        run.log({"loss": float("nan"), "kl": 0.01}, step=step)
        assert run.monitor.settle(PATIENCE), "the detectors go on looking"
    assert run.should_stop
    run.finish()
    assert "JSON 1: " in caplog.text
    released.set()
    assert run._audience.close(PATIENCE), "what waits is not sent while another test runs"


# Trackers' own alerts.


def test_a_run_of_wandb_that_holter_began_hears_of_alerts(begin, monkeypatch):
    sent = []

    class Run:
        config = types.SimpleNamespace(update=lambda *a, **k: None)

        def define_metric(self, *a, **k): ...
        def log(self, row): ...
        def finish(self): ...
        def alert(self, title, text, level):
            sent.append((title, text, level))

    fake = types.SimpleNamespace(run=None, init=lambda **k: Run())
    fake.__spec__ = types.SimpleNamespace()
    monkeypatch.setitem(sys.modules, "wandb", fake)
    monkeypatch.setattr("holter.sinks.base.find_spec", lambda name: True)
    run = begin(monitor=True, report_to=["wandb"])
    for step in range(1, 11):
        run.log({"loss": float("nan"), "kl": 0.01}, step=step)
    run.finish()
    (first, *_) = sent
    assert first[0] == "not-finite critical"
    assert first[1].startswith("not-finite critical since step 1")
    assert first[2] == "ERROR"


def test_a_run_that_somebody_else_began_hears_of_alerts(monkeypatch):
    sent = []
    tracker = types.SimpleNamespace(run=types.SimpleNamespace(alert=lambda **k: sent.append(k)))
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    to_wandb(ALERT)
    assert sent == [{"title": "kl-runaway warning", "text": str(ALERT), "level": "WARN"}]
    tracker.run = None
    with pytest.raises(RuntimeError, match=r"wandb.init\(\) was not called"):
        to_wandb(ALERT)


def test_an_alert_of_the_loop_itself_keeps_its_title_text_and_level(begin, monkeypatch):
    sent = []
    tracker = types.SimpleNamespace(run=types.SimpleNamespace(alert=lambda **k: sent.append(k)))
    monkeypatch.setitem(sys.modules, "wandb", tracker)
    run = begin(tell=[to_wandb])
    run.alert("judge", "timed out 40 times", level="WARNING")
    run.finish()
    to_wandb(Notice(title="t" * 100, level="ERROR"))
    assert sent[0] == {"title": "judge", "text": "timed out 40 times", "level": "WARN"}
    assert sent[1] == {"title": "t" * 63, "text": "t" * 100, "level": "ERROR"}


def test_the_run_that_trackio_knows_by_context_hears_of_alerts():
    trackio = pytest.importorskip("trackio")
    sent = []
    run = types.SimpleNamespace(alert=lambda **k: sent.append(k))
    token = trackio.context_vars.current_run.set(run)
    audience = Audience(channels=[to_trackio])
    trackio.context_vars.current_run.reset(token)
    audience(ALERT)
    assert audience.close(PATIENCE), "in a thread, which has no run of its own"
    (alert,) = sent
    assert (alert["title"], alert["text"], alert["level"].value) == ("kl-runaway warning", str(ALERT), "warn")


# Commands.


def script(tmp_path, text):
    path = tmp_path / "program.py"
    path.write_text(text)
    return f"{sys.executable} {path}"


def test_a_command_gets_the_finding_as_json_and_the_log_reaches_no_argument(tmp_path):
    title = "'; rm -rf /; $(boom) `boom`"
    words = script(
        tmp_path,
        "import json, os, sys\n"
        f"open({str(tmp_path / 'heard')!r}, 'w').write(json.dumps([sys.argv[1:], json.load(sys.stdin), dict(os.environ)]))",
    )
    told = []
    Command(f"{words} 'a b' $HOME", told.append)(replace(ALERT, finding=replace(KL, title=title)))
    arguments, record, environment = json.loads((tmp_path / "heard").read_text())
    assert arguments == ["a b", "$HOME"], "no shell"
    assert record["finding"]["title"] == title
    assert (record["run"], record["kind"], record["step"]) == ("runs/mine", "opened", 45)
    assert title not in " ".join(environment.values())
    assert told == []


def test_a_command_that_fails_hangs_or_vanishes_is_told_of(tmp_path):
    told = []
    Command(script(tmp_path, "import sys; sys.exit('no such channel \\x1b[31m')"), told.append)(ALERT)
    assert told.pop().endswith("failed with exit code 1: no such channel \\x1b[31m")
    Command(script(tmp_path, "import time; time.sleep(600)"), told.append, timeout=0.5)(ALERT)
    assert told.pop().endswith("took longer than 0.5 s and was ended")
    program = tmp_path / "gone.sh"
    program.write_text("#!/nowhere\n")
    program.chmod(0o755)
    Command(str(program), told.append)(ALERT)
    assert told.pop() == "gone.sh could not be run: No such file or directory"


def test_a_child_that_a_command_left_behind_holds_up_nobody(tmp_path):
    told = []
    leaves = "import os, time; os.fork(); time.sleep(600)"
    Command(script(tmp_path, leaves), told.append, timeout=0.5)(ALERT)
    assert told.pop().endswith("took longer than 0.5 s and was ended")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ("", "names no program"),
        ("no-such-program -x", "no program 'no-such-program'"),
        ("a 'b", "No closing quotation"),
    ],
)
def test_a_command_that_is_none_is_said_before_watching(words, why):
    with pytest.raises(SettingsError, match=why):
        Command(words, print)
