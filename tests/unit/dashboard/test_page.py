"""A page's data: a run a frame, each made once, and of what grew only the end."""

import json
import math

import numpy as np
import pytest

from holter.dashboard import prepared
from holter.dashboard.fleet import Fleet
from holter.dashboard.frames import changed, whole
from holter.dashboard.prepared import Shelf
from tests.unit.dashboard.test_server import client
from tests.unit.dashboard.wire import Browser, frames


def grow(folder, rows, nan=()):
    """Rows of a run up to one, each the same whenever it is written."""
    folder.mkdir(exist_ok=True)
    lines = []
    for s in range(1, rows + 1):
        kl = math.nan if s in nan else 0.001 * s + 0.05 * math.sin(s * 1.7)
        lines.append(json.dumps({"step": s, "reward": 0.01 * s + math.cos(s * 2.3), "kl": kl}) + "\n")
    (folder / "log.jsonl").write_text("".join(lines), encoding="utf-8")


@pytest.fixture
def fleet(tmp_path):
    grow(tmp_path / "a", 300)
    grow(tmp_path / "b", 900, nan=(850,))
    fleet = Fleet(tmp_path)
    fleet.look()
    return fleet


def ask(fleet, browser, points=600, app=None):
    """Ask for all runs as a browser does that has some; the bytes of numbers it was sent, and of how many runs."""
    query = {"run": [e.id for e in fleet.entries()], "points": points, "have": browser.have}
    return browser.take((app or client(fleet)).get("/api/page", params=query).content)


def test_the_first_frame_says_which_runs_there_are_and_one_a_run_follows(fleet):
    query = {"run": [e.id for e in fleet.entries()]}
    first, *runs = frames(client(fleet).get("/api/page", params=query).content)
    assert [s["name"] for s in first[0]["summaries"]] == ["a/log.jsonl", "b/log.jsonl"]
    assert first[0]["version"] == f"{fleet.mark}.{fleet.version}"
    assert {said["id"] for said, _ in runs} == set(query["run"])
    assert {len(said["run"]["series"]) for said, _ in runs} == {len(runs[0][0]["run"]["series"])}


def test_a_browser_that_has_everything_is_sent_nothing(fleet):
    app, browser = client(fleet), Browser()
    assert ask(fleet, browser, app=app)[1] == 2
    assert ask(fleet, browser, app=app) == (0, 0)


@pytest.mark.parametrize(("before", "after"), [(300, 310), (900, 905), (590, 640), (900, 2500), (900, 40)])
def test_a_page_that_followed_holds_what_a_new_one_is_sent(tmp_path, before, after):
    grow(tmp_path / "r", before, nan=(20, 601))
    fleet = Fleet(tmp_path)
    fleet.look()
    app, followed = client(fleet), Browser()
    ask(fleet, followed, app=app)
    grow(tmp_path / "r", after, nan=(20, 601))
    fleet.look()
    ask(fleet, followed, app=app)
    new = Browser()
    ask(fleet, new, app=app)
    [id] = [e.id for e in fleet.entries()]
    assert followed.held[id]["run"] == new.held[id]["run"]
    for one, other in zip(followed.held[id]["columns"], new.held[id]["columns"], strict=True):
        assert np.allclose(one, other, rtol=1e-6, atol=0, equal_nan=True)  # four bytes or eight
    steps, _ = new.curve(id, "kl")
    assert steps[-1] == after


def test_of_a_run_that_grew_only_the_end_is_sent(tmp_path):
    grow(tmp_path / "r", 900)
    fleet = Fleet(tmp_path)
    fleet.read()
    app, browser = client(fleet), Browser()
    first, _ = ask(fleet, browser, points=600, app=app)
    grow(tmp_path / "r", 904)
    fleet.read()
    more, runs = ask(fleet, browser, points=600, app=app)
    assert runs == 1
    assert more < first / 20


def test_a_version_of_another_process_is_not_taken_for_one_of_this(fleet):
    browser = Browser()
    app = client(fleet)
    ask(fleet, browser, app=app)
    for each in browser.held.values():
        each["version"] = "another." + each["version"].split(".")[1]
    query = {"run": [e.id for e in fleet.entries()], "points": 600, "have": browser.have}
    _, *runs = frames(app.get("/api/page", params=query).content)
    assert [said["base"] for said, _ in runs] == [None, None]
    answer = app.get("/api/runs", params={"since": "another.999"}).json()
    assert len(answer["runs"]) == 2
    assert app.get("/api/runs", params={"since": answer["version"]}).json()["runs"] == []


def test_a_run_is_made_once_however_often_it_is_asked_for(fleet, monkeypatch):
    made = []
    real = prepared.prepare
    monkeypatch.setattr(prepared, "prepare", lambda entry, most: made.append(entry.id) or real(entry, most))
    app = client(fleet)
    for _ in range(3):
        ask(fleet, Browser(), app=app)
    assert sorted(made) == sorted(e.id for e in fleet.entries())


def test_old_versions_are_forgotten_and_their_runs_not_kept_alive(tmp_path):
    grow(tmp_path / "r", 10)
    fleet, shelf = Fleet(tmp_path), Shelf()
    versions = []
    for rows in range(10, 10 + prepared.VERSIONS + 2):
        grow(tmp_path / "r", rows)
        fleet.read()
        [entry] = fleet.entries()
        versions.append(shelf.newest(entry, 600))
    kept = [v for v in versions if shelf.older(entry.id, 600, v.version)]
    assert kept == versions[-prepared.VERSIONS :]
    assert [v.source[0]() is None for v in versions] == [True] * (len(versions) - 1) + [False]


def test_a_change_says_what_changed_and_no_more(tmp_path):
    grow(tmp_path / "r", 50)
    fleet, shelf = Fleet(tmp_path), Shelf()
    fleet.look()
    old = shelf.newest(fleet.entries()[0], 600)
    grow(tmp_path / "r", 51)
    fleet.read()
    new = shelf.newest(fleet.entries()[0], 600)
    [(said, _)] = frames(changed(new, old))
    assert set(said["run"]) == {"rows", "last_step"}
    assert all(set(s) <= {"facts"} for s in said["series"])
    [(everything, _)] = frames(whole(new))
    assert len(json.dumps(said)) < len(json.dumps(everything)) / 2


def test_a_folder_that_is_read_for_the_first_time_says_so(tmp_path):
    grow(tmp_path / "r", 10)
    fleet = Fleet(tmp_path)
    app = client(fleet)
    assert app.get("/api/page", params={"run": "0" * 12}).status_code == 503
    assert app.get("/api/runs").json()["looked"] is False
    fleet.read()
    assert app.get("/api/page", params={"run": "0" * 12}).status_code == 404
    assert app.get("/api/runs").json()["looked"] is True


def test_runs_that_are_not_there_are_left_out_of_a_page_of_several(fleet):
    ids = [e.id for e in fleet.entries()]
    first, *runs = frames(client(fleet).get("/api/page", params={"run": [*ids, "0" * 12]}).content)
    assert len(first[0]["summaries"]) == len(runs) == 2
