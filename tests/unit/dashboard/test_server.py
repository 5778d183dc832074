"""The dashboard's answers, and whom it refuses."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

import holter
from holter.dashboard.entry import State
from holter.dashboard.fleet import Fleet
from holter.dashboard.safety import POLICY, is_local
from holter.dashboard.server import application
from holter.findings.diagnosis import diagnose_in_place
from holter.runs.folder import logs_in
from holter.runs.load import logs_of
from tests.patience import PATIENCE
from tests.unit.dashboard.wire import curves

ASSETS = {"index.html": ("text/html", b"<!doctype html>"), "page.js": ("text/javascript", b"1")}


def write(folder, rows=60, spike=None):
    folder.mkdir(parents=True, exist_ok=True)
    lines = [{"step": s, "reward": 0.01 * s, "kl": 0.001 * s} for s in range(1, rows + 1)]
    if spike is not None:
        lines[spike]["kl"] = 99.0
    (folder / "log.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return folder / "log.jsonl"


@pytest.fixture
def root(tmp_path):
    write(tmp_path / "runs" / "a")
    write(tmp_path / "runs" / "b", rows=1500, spike=1210)
    (tmp_path / "secret.txt").write_text("outside", encoding="utf-8")
    return tmp_path / "runs"


@pytest.fixture
def fleet(root):
    fleet = Fleet(root)
    fleet.look()
    return fleet


def client(fleet, **options):
    app = application(fleet, ASSETS, **{"hosts": ["testserver"], **options})
    return TestClient(app, follow_redirects=False)


def test_the_list_holds_every_run_with_its_verdict(fleet):
    answer = client(fleet).get("/api/runs").json()
    assert [r["name"] for r in answer["runs"]] == ["a/log.jsonl", "b/log.jsonl"]
    assert all(r["status"] for r in answer["runs"])
    assert answer["runs"][1]["last_step"] == 1500


def test_a_thinned_curve_keeps_its_spike(fleet):
    run = next(e for e in fleet.entries() if e.name.startswith("b"))
    query = {"run": run.id, "key": "kl", "points": 100}
    [curve] = curves(client(fleet).get("/api/curves", params=query).content)
    values, steps = curve["values"], curve["steps"]
    assert len(values) < 210
    assert not curve["whole"]
    assert values.max() == pytest.approx(99)
    assert steps[values.argmax()] == 1211


def test_a_zoomed_range_is_whole_and_reaches_just_beyond_its_ends(fleet):
    run = next(e for e in fleet.entries() if e.name.startswith("b"))
    query = {"run": run.id, "key": "reward", "from": 100, "to": 200}
    [curve] = curves(client(fleet).get("/api/curves", params=query).content)
    assert curve["whole"]
    assert curve["steps"].tolist() == list(range(99, 202))


@pytest.mark.parametrize("query", ["", "run=nothing", "run=x&from=abc", "run=x&from=nan"])
def test_a_request_that_makes_no_sense_gets_a_sentence(fleet, query):
    answer = client(fleet).get(f"/api/curves?{query}")
    assert answer.status_code in (400, 404)
    assert answer.text.endswith(".")


def test_a_range_of_what_was_consumed_is_whole_wherever_it_is_counted(tmp_path):
    rows = [
        {"step": s, "reward": 0.01 * s} | ({"num_tokens": 50 * s * s} if s % 10 == 0 else {}) for s in range(1, 301)
    ]
    (tmp_path / "log.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    write(tmp_path / "counts-nothing")
    fleet = Fleet(tmp_path)
    fleet.look()
    ids = [e.id for e in fleet.entries()]
    # From step 20 on to step 30, between which every step is 2500 tokens.
    query = {"run": ids, "key": "reward", "along": "tokens", "from": 20_000, "to": 45_000}
    [curve] = curves(client(fleet).get("/api/curves", params=query).content)
    assert curve["whole"]
    assert curve["values"] == pytest.approx([0.01 * s for s in range(19, 32)])
    assert curve["steps"] == pytest.approx([18_500, *range(20_000, 45_001, 2500), 48_500])
    early = {**query, "from": -100_000, "to": 5_000}
    [curve] = curves(client(fleet).get("/api/curves", params=early).content)
    assert curve["steps"][0] == pytest.approx(5_000 - 9 * 1_500)


def test_an_unknown_run_is_not_found(fleet):
    assert client(fleet).get("/api/runs/000000000000").status_code == 404


@pytest.mark.parametrize(
    "path",
    ["/assets/../secret.txt", "/assets/..%2f..%2fsecret.txt", "/assets/%2e%2e/secret.txt", "/assets/%2fetc%2fpasswd"],
)
def test_nothing_outside_the_package_is_served(fleet, path):
    answer = client(fleet).get(path)
    assert answer.status_code == 404
    assert "outside" not in answer.text


def test_a_link_out_of_the_folder_leads_nowhere_that_is_no_log(fleet, root, tmp_path):
    (root / "linked").symlink_to(tmp_path / "secret.txt")
    (root / "loop").symlink_to(root)
    fleet.look()
    answer = client(fleet).get("/api/runs").json()
    assert len(answer["runs"]) == 2
    assert "outside" not in json.dumps(answer)


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "", "testserver.evil.example", "[::2]"])
def test_a_rebound_name_is_refused(fleet, host):
    assert client(fleet).get("/api/runs", headers={"host": host}).status_code == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8765", "localhost:1", "[::1]:8765", "LOCALHOST"])
def test_the_names_it_was_given_are_answered(fleet, host):
    known = client(fleet, hosts=["127.0.0.1", "localhost", "::1"])
    assert known.get("/api/runs", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_but_reading_is_answered(fleet, method):
    assert client(fleet).request(method, "/api/runs").status_code == 405


def test_every_answer_carries_the_policy_refusals_too(fleet):
    for path, headers in (("/", {}), ("/api/runs", {}), ("/nothing", {}), ("/", {"host": "evil.example"})):
        answer = client(fleet).get(path, headers=headers)
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"


def test_a_token_is_asked_for_and_taken_out_of_the_address(fleet):
    guarded = client(fleet, token="s3cret")
    assert guarded.get("/api/runs").status_code == 401
    assert guarded.get("/api/runs?token=wrong").status_code == 401
    answer = guarded.get("/?token=s3cret&x=1")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/?x=1"
    assert "httponly" in answer.headers["set-cookie"].lower()
    assert guarded.get("/api/runs").status_code == 200  # by the cookie
    guarded.cookies.clear()
    guarded.cookies.set("holter_token", "wrong")
    assert guarded.get("/api/runs").status_code == 401


def test_the_redirect_never_leaves_the_dashboard(fleet):
    answer = client(fleet, token="s3cret").get("http://testserver//evil.example/x?token=s3cret")
    assert answer.headers["location"].startswith("/evil.example")


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("::1", True), ("0.0.0.0", False), ("::", False), ("gpu7", False)],
)
def test_which_addresses_need_no_token(host, local):
    assert is_local(host) is local


def test_a_run_that_grows_and_one_that_vanishes(fleet, root):
    before = fleet.version
    write(root / "a", rows=61)
    fleet.look()
    assert fleet.version > before
    assert len(next(e for e in fleet.entries() if e.name.startswith("a")).run) == 61
    (root / "b" / "log.jsonl").unlink()
    fleet.look()
    assert [e.name for e in fleet.entries()] == ["a/log.jsonl"]


def test_a_run_keeps_its_address_while_it_grows(fleet, root):
    ids = [e.id for e in fleet.entries()]
    write(root / "a", rows=70)
    fleet.look()
    assert [e.id for e in fleet.entries()] == ids


def test_a_log_that_breaks_is_told_and_the_others_stay(fleet, root):
    (root / "c").mkdir()
    (root / "c" / "trainer_state.json").write_text("{", encoding="utf-8")
    fleet.look()
    answer = client(fleet).get("/api/runs").json()
    assert len(answer["runs"]) == 2
    assert any("trainer_state.json" in r["file"] for r in answer["refused"])


def broken(*_, **__):
    raise IndexError("a {bug}")


def test_a_run_that_the_detectors_trip_over_says_so_once_and_the_others_are_judged(root, monkeypatch, caplog):
    def judge(run, settings):
        return broken() if "a" in run.path.split("/") else diagnose_in_place(run, settings)

    monkeypatch.setattr("holter.dashboard.work.diagnose_in_place", judge)
    fleet = Fleet(root)
    fleet.look()
    write(root / "a", rows=61)
    fleet._logs[next(k for k in fleet._logs if "/a/" in k)].diagnosis_due = 0.0
    fleet.look()
    first, second = client(fleet).get("/api/runs").json()["runs"]
    assert (first["last_step"], first["status"]) == (61, "cannot-tell")
    assert first["title"] == "Not judged: IndexError: a {bug}"
    assert second["status"] != "cannot-tell"
    assert [r.getMessage() for r in caplog.records] == ["a/log.jsonl: IndexError: a {bug}"]


def test_a_run_that_a_reader_trips_over_is_told_and_the_others_stay(root, monkeypatch, caplog):
    def read_a_log(source, read):
        return broken() if "a" in source.name.split("/") else logs_of(source, read)

    monkeypatch.setattr("holter.dashboard.work.logs_of", read_a_log)
    fleet = Fleet(root)
    fleet.look()
    answer = client(fleet).get("/api/runs").json()
    assert [r["name"] for r in answer["runs"]] == ["b/log.jsonl"]
    [refused] = answer["refused"]
    assert refused["why"] == "IndexError: a {bug}"
    assert refused["file"].endswith("a/log.jsonl")
    assert len(caplog.records) == 1


def test_a_look_that_breaks_off_is_logged_once_and_the_next_one_finds_the_runs(root, monkeypatch, caplog):
    looks = []

    def look(folder):
        looks.append(folder)
        return broken() if len(looks) < 3 else logs_in(folder)

    monkeypatch.setattr("holter.dashboard.fleet.LOOK", 0.0)
    monkeypatch.setattr("holter.dashboard.fleet.logs_in", look)
    fleet, judged = Fleet(root), threading.Event()
    fleet.listen(lambda: judged.set() if all(e.diagnosis for e in fleet.entries()) and fleet.looked else None)
    fleet.start()
    assert judged.wait(PATIENCE)
    fleet.close()
    assert len(fleet.entries()) == 2
    assert [r.getMessage() for r in caplog.records] == [f"{root}: IndexError: a {{bug}}"]


def test_states_follow_the_files(tmp_path):
    with holter.init(tmp_path / "done", config={"max_steps": 3}) as run:
        for step in range(1, 4):
            run.log({"reward": 0.1 * step, "kl": 0.01}, step=step)
    log = write(tmp_path / "old")
    now = log.stat().st_mtime + 10_000
    fleet = Fleet(tmp_path, clock=lambda: now)
    fleet.look()
    states = {e.name.split("/")[0]: e.state for e in fleet.entries()}
    assert states == {"done": State.FINISHED, "old": State.DEAD}


def test_completions_are_filtered_and_paged(tmp_path):
    with holter.init(tmp_path / "r") as run:
        for step in (1, 2):
            run.log({"reward": 1.0}, step=step)
            run.log_samples(
                [
                    {
                        "prompt": f"p{step}{i}",
                        "completion": "<b>x</b>" if i else "y",
                        "reward": float(i),
                        "group": i % 2,
                    }
                    for i in range(4)
                ],
                step=step,
            )
    fleet = Fleet(tmp_path)
    fleet.look()
    ask = client(fleet)
    address = f"/api/runs/{fleet.entries()[0].id}/samples"
    assert [r["prompt"] for r in ask.get(address, params={"from": 2, "to": 2}).json()["rows"]] == [
        "p20",
        "p21",
        "p22",
        "p23",
    ]
    assert [r["numbers"]["reward"] for r in ask.get(address, params={"least": 2}).json()["rows"]] == [
        2.0,
        3.0,
        2.0,
        3.0,
    ]
    assert {r["numbers"]["group"] for r in ask.get(address, params={"group": 1}).json()["rows"]} == {1}
    assert len(ask.get(address, params={"text": "<B>"}).json()["rows"]) == 6
    first = ask.get(address, params={"size": 3}).json()
    rest = ask.get(address, params={"size": 50, "begin": first["next"]}).json()
    assert len(first["rows"]) + len(rest["rows"]) == 8
    assert rest["next"] is None


def test_a_stream_tells_the_version_and_ends_with_the_fleet(fleet):
    fleet.close()
    import asyncio

    from starlette.requests import Request

    from holter.dashboard.server import _events

    async def first() -> bytes:
        async def receive():
            return {"type": "http.request"}

        request = Request({"type": "http", "headers": [], "method": "GET", "path": "/"}, receive)
        stream = _events(fleet, request)
        out = await anext(stream)
        await stream.aclose()
        return out

    # In a thread of its own: this one may have a loop already, as the browser tests leave one.
    with ThreadPoolExecutor(1) as pool:
        said = pool.submit(asyncio.run, first()).result()
    assert said == f"event: version\ndata: {fleet.mark}.{fleet.version}\n\n".encode()
