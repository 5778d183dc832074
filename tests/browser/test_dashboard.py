"""The dashboard in a real browser: it lists, grows, zooms, compares and stays harmless whatever a log says."""

import json
import math
import socket
import threading

import pytest

import holter
from holter.dashboard import prepared
from holter.dashboard.fleet import Fleet
from tests.unit.dashboard.wire import curves, frames

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)><script>alert(2)</script>\u202e[a](javascript:alert(3))"
INK = """() => [...document.querySelectorAll('.strip canvas')].filter((c) => {
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  for (let i = 3; i < d.length; i += 4) if (d[i] > 40) return true;
  return false;
}).length"""


def write(folder, rows=60, first=1, names=("reward", "kl"), config=None):
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log.jsonl").open("a", encoding="utf-8") as stream:
        for s in range(first, first + rows):
            stream.write(
                json.dumps({"step": s, **{n: 0.01 * s + math.sin(s / 7 + i) for i, n in enumerate(names)}}) + "\n"
            )
    if config:
        (folder / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder / "log.jsonl"


class Served:
    """A dashboard over a folder that looks when it is told to, and where it is."""

    def __init__(self, root, port):
        import uvicorn

        from holter.dashboard.assets import assets
        from holter.dashboard.server import application

        self.root = root
        self.fleet = Fleet(root)
        self.fleet.look()
        self.socket = socket.create_server(("127.0.0.1", port), reuse_port=True)
        self.url = f"http://127.0.0.1:{port}/"
        app = application(self.fleet, assets(), hosts={"127.0.0.1"})
        self.server = uvicorn.Server(uvicorn.Config(app, log_level="error", timeout_graceful_shutdown=1))
        self.thread = threading.Thread(target=self.server.run, kwargs={"sockets": [self.socket]}, daemon=True)
        self.thread.start()

    def close(self):
        self.server.should_exit = True
        self.fleet.close()
        self.thread.join()
        self.socket.close()


@pytest.fixture
def served(tmp_path):
    """Serves the test's folder; where it is served again, at the same address."""
    opened = []
    with socket.socket() as held:
        # Nobody else on this machine gets the port while one server is gone and the next is still to come.
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        held.bind(("127.0.0.1", 0))

        def serve():
            opened.append(Served(tmp_path, held.getsockname()[1]))
            return opened[-1]

        yield serve
        for each in opened:
            each.close()


@pytest.fixture
def three(tmp_path, served):
    """Three runs of a sweep."""
    for name, rate in (("a", 1e-5), ("b", 1e-6), ("c", 3e-5)):
        with holter.init(tmp_path / name, config={"learning_rate": rate, "max_steps": 80}) as run:
            for s in range(1, 81):
                run.log({"reward": 0.01 * s + 0.1 * math.sin(s), "kl": 0.001 * s}, step=s)
    return served()


def opened(open_page, served, path="", **options):
    return open_page(served.url + path, **options)


def names(page):
    return page.locator(".run-rows .run-link").all_text_contents()


def counted(locator, n):
    from playwright.sync_api import expect

    expect(locator).to_have_count(n)


def kept(page, pattern):
    """The bodies of answers from here on; a browser does not keep those that are read as they come."""
    answers = []

    def keep(route):
        answer = route.fetch()
        answers.append(answer.body())
        route.fulfill(response=answer)

    page.route(pattern, keep)
    return answers


def chart(page, sign):
    box = page.locator(f'[data-strip^="{sign}/"] .u-over').first
    box.scroll_into_view_if_needed()
    return box.bounding_box()


def drag(page, sign, low, high):
    box = chart(page, sign)
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * low, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * high, y, steps=5)
    page.mouse.up()
    page.mouse.move(5, 5)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_list_and_run_fit_every_width_and_scheme(open_page, three, width, scheme):
    page = opened(open_page, three, width=width, scheme=scheme).page
    page.wait_for_selector(".run-rows .run-row")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(ground) > 384) == (scheme == "light")
    page.locator(".run-link").first.click()
    page.wait_for_selector(".strip canvas")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(INK) >= 1


def test_the_list_is_filtered_by_words_and_by_the_configuration(open_page, three):
    page = opened(open_page, three).page
    page.wait_for_selector(".run-rows .run-row")
    assert len(names(page)) == 3
    for said, left in (
        ("learning_rate=1e-5", ["a"]),
        ("learning_rate>5e-6", ["a", "c"]),
        ("learning_rate<=0.00001", ["a", "b"]),
        ("learning_rate>2e-6 c/", ["c"]),
        ("learning_rate!=1e-6", ["a", "c"]),
        ("nothing=1", []),
    ):
        page.get_by_role("searchbox").fill(said)
        assert [n[0] for n in sorted(names(page))] == left, said
    assert page.inner_text(".filters .count") == "0 of 3 runs"


def test_the_list_is_filtered_by_state_and_sorted_by_a_column(open_page, three):
    page = opened(open_page, three).page
    page.wait_for_selector(".run-rows .run-row")
    page.get_by_label("State").select_option("running")
    assert names(page) == []
    page.get_by_label("State").select_option("finished")
    page.get_by_role("button", name="run", exact=True).click()
    page.get_by_role("button", name="run").click()
    assert [n[0] for n in names(page)] == ["c", "b", "a"]
    assert page.locator("[aria-sort=descending]").count() == 1


def test_the_keyboard_goes_through_the_list(open_page, three):
    page = opened(open_page, three).page
    page.wait_for_selector(".run-rows .run-row")
    page.keyboard.press("/")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("x")
    assert page.locator(".run-row.chosen").count() == 2
    page.keyboard.press("Enter")
    page.wait_for_selector(".strip canvas")
    page.go_back()
    page.wait_for_selector(".run-rows .run-row")
    assert page.locator(".run-row.chosen").count() == 2


def test_a_new_run_and_a_verdict_appear_by_themselves(open_page, tmp_path, served):
    write(tmp_path / "a")
    here = served()
    page = opened(open_page, here).page
    page.wait_for_selector(".run-rows .run-row")
    write(tmp_path / "b")
    here.fleet.read()
    page.wait_for_selector(".run-rows .run-row >> nth=1")
    page.wait_for_selector(".badge.unjudged")
    assert here.fleet.judge_one()
    page.wait_for_selector(".badge.unjudged", state="detached")


def test_a_page_grows_and_keeps_zoom_scroll_and_what_is_open(open_page, tmp_path, served):
    log = tmp_path / "a"
    log.mkdir()
    rows = [{"step": s, "reward": 0.01 * s, "kl": 0.001 * 1.2 ** min(s, 60), "grad_norm": 1.0} for s in range(1, 81)]
    (log / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    here = served()
    page = opened(open_page, here, f"run/{here.fleet.entries()[0].id}").page
    page.wait_for_selector(".strip canvas")
    drag(page, "reward", 0.25, 0.75)
    zoomed = page.inner_text(".at")
    assert zoomed.startswith("steps 2")
    card = page.locator("details.finding").last
    card.locator("> summary").click()
    was_open = card.get_attribute("open") is not None
    page.evaluate("scrollTo(0, 300)")
    strip = page.locator('[data-strip^="reward/"]').first.element_handle()
    with (log / "log.jsonl").open("a", encoding="utf-8") as stream:
        stream.writelines(json.dumps({**rows[-1], "step": s}) + "\n" for s in range(81, 121))
    here.fleet.read()
    page.locator(".run-facts", has_text="120").wait_for()
    assert page.evaluate("scrollY") == 300
    assert page.inner_text(".at") == zoomed
    assert (page.locator("details.finding").last.get_attribute("open") is not None) == was_open
    assert strip.evaluate("(e) => e.isConnected"), "the strips were made anew"
    page.get_by_role("button", name="All steps").click()
    assert page.inner_text(".at") == "steps 1–120"


def test_zooming_fetches_every_value_of_the_range(open_page, tmp_path, served):
    write(tmp_path / "a", rows=20_000)
    here = served()
    out = opened(open_page, here, f"run/{here.fleet.entries()[0].id}")
    page = out.page
    page.wait_for_selector(".strip canvas")
    answers = kept(page, "**/api/curves?**")
    with page.expect_response("**/api/curves?**"):
        drag(page, "reward", 0.50, 0.52)
    shown = curves(answers[0])
    assert {c["key"] for c in shown} >= {"reward", "kl"}
    assert all(c["whole"] and 350 <= len(c["values"]) <= 450 for c in shown)
    # Each press goes to the next value that is drawn; those that were fetched are drawn some time after they came.
    page.wait_for_function(
        """() => {
          const plot = document.querySelector('[data-strip^="reward/"] .plot');
          const at = (key) => {
            plot.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
            return Number(document.querySelector('.at').innerText.replace('step ', '').replace('\u2009', ''));
          };
          const [first, ...next] = ['Home', 'ArrowRight', 'ArrowRight', 'ArrowRight'].map(at);
          return next[2] - first >= 2 && next[2] - first <= 4;
        }"""
    )


def test_zooming_along_what_was_consumed_fetches_every_value_of_the_range(open_page, tmp_path, served):
    for name, tokens in (("a", 300), ("b", 150)):
        rows = [{"step": s, "reward": 0.01 * (s % 7), "num_tokens": tokens * s} for s in range(1, 20_001)]
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    here = served()
    a, b = (e.id for e in here.fleet.entries())
    page = opened(open_page, here, f"overlay?run={a}&run={b}").page
    page.wait_for_selector(".strip canvas")
    page.get_by_label("Along").select_option("tokens")
    page.wait_for_selector(".strip canvas")
    answers = kept(page, "**/api/curves?**")
    with page.expect_response("**/api/curves?**"):
        drag(page, "reward", 0.30, 0.32)
    found = {c["run"]: c for c in curves(answers[0]) if c["key"] == "reward"}
    assert found.keys() == {a, b}
    # Up to 6 million tokens: a row is 300 in one run and 150 in the other.
    assert all(c["whole"] for c in found.values())
    assert 350 <= len(found[a]["values"]) <= 450
    assert 700 <= len(found[b]["values"]) <= 900
    assert all(c["steps"][0] > 1_500_000 and c["steps"][-1] < 2_200_000 for c in found.values())


def test_chosen_runs_lie_over_each_other_and_keep_their_colours(open_page, three):
    page = opened(open_page, three).page
    page.wait_for_selector(".run-rows .run-row")
    for name in ("a", "b", "c"):
        page.get_by_label(f"Choose {name}/", exact=False).check()
    page.get_by_label("Choose a/", exact=False).uncheck()
    colour = page.locator(".run-row.chosen .swatch").evaluate_all("(all) => all.map((e) => e.dataset.colour)")
    assert sorted(colour) == ["s2", "s3"]
    page.get_by_role("button", name="Show 2 chosen").click()
    page.wait_for_selector(".strip canvas")
    lines = page.locator('[data-strip^="reward/reward"]').first.locator(".lines li")
    assert lines.count() == 2
    shown = lines.locator(".swatch").evaluate_all("(all) => all.map((e) => e.dataset.colour)")
    assert sorted(shown) == ["s2", "s3"]
    assert page.locator(".overview tbody tr").count() == 2


def test_completions_are_looked_through_by_step_reward_and_text(open_page, tmp_path, served):
    with holter.init(tmp_path / "r") as run:
        for step in range(1, 21):
            run.log({"reward": 1.0, "kl": 0.1}, step=step)
            rows = [
                {"prompt": HOSTILE, "completion": f"c{step}-{i} {HOSTILE}", "reward": float(i), "group": 0}
                for i in range(3)
            ]
            run.log_samples(rows, step=step)
    here = served()
    page = opened(open_page, here, f"run/{here.fleet.entries()[0].id}").page
    browser = page.locator(".sample-browser")
    browser.locator("summary").first.click()
    browser.locator(".sample").first.wait_for()
    assert browser.locator(".sample").count() == 20
    browser.get_by_role("button", name="More").click()
    counted(browser.locator(".sample"), 40)
    browser.get_by_label("from step").fill("20")
    browser.get_by_label("least reward").fill("2")
    counted(browser.locator(".sample"), 1)
    assert "c20-2 <img" in browser.locator(".completion").inner_text()
    browser.get_by_label("text").fill("nobody wrote this")
    browser.get_by_text("No completion is like that.").wait_for()


def test_nothing_a_log_says_comes_alive(open_page, tmp_path, served):
    name = "<img src=x onerror=alert(1)>"
    with holter.init(tmp_path / name, config={"k": HOSTILE}) as run:
        for step in range(1, 40):
            run.log({"reward": 1.0, "kl": 0.1, HOSTILE: 1.0}, step=step)
    here = served()
    out = opened(open_page, here)
    page = out.page
    page.wait_for_selector(".run-rows .run-row")
    assert name in names(page)[0]
    page.locator(".run-link").first.click()
    page.wait_for_selector(".strip canvas")
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    assert page.locator("img, iframe, b, main script, a:not(.back)").count() == 0
    assert out.dialogs == []


def test_a_lost_connection_is_said_and_sought_again(new_context, three):
    page = new_context().new_page()
    with page.expect_response("**/api/events"):
        page.goto(three.url)
    page.wait_for_selector(".run-rows .run-row")
    three.fleet.close()
    page.wait_for_selector(".lost:not([hidden])")
    assert "is lost" in page.inner_text(".lost")


def test_a_server_that_starts_again_is_found_and_what_it_knows_now_is_shown(new_context, tmp_path, served):
    write(tmp_path / "a")
    here = served()
    page = new_context().new_page()
    page.goto(f"{here.url}run/{here.fleet.entries()[0].id}")
    page.locator(".run-facts", has_text="60 rows").wait_for()
    here.close()
    page.wait_for_selector(".lost:not([hidden])")
    write(tmp_path / "a", rows=20, first=61)
    served()
    page.wait_for_selector(".lost[hidden]", state="attached")
    page.locator(".run-facts", has_text="80 rows").wait_for()


def test_a_list_outlives_its_server_and_takes_nothing_for_what_it_was(new_context, tmp_path, served):
    for name in ("a", "b"):
        write(tmp_path / name)
    here = served()
    page = new_context().new_page()
    page.goto(here.url)
    page.wait_for_selector(".run-rows .run-row >> nth=1")
    here.close()
    (tmp_path / "a" / "log.jsonl").rename(tmp_path / "c.jsonl")
    write(tmp_path / "b", rows=7, first=61)
    served()
    page.locator(".run-rows", has_text="c.jsonl").wait_for()
    assert sorted(names(page)) == ["b/log.jsonl", "c.jsonl"]
    page.locator(".run-row", has_text="b/log.jsonl").locator(".step", has_text="67").wait_for()


def test_a_connection_that_died_without_a_word_is_sought_again(new_context, three):
    page = new_context().new_page()
    page.clock.install()
    page.goto(three.url)
    page.wait_for_selector(".run-rows .run-row")
    # From here on nothing of the old stream arrives any more, as when a cable was pulled.
    page.evaluate("EventSource.prototype.dispatchEvent = () => true")
    streams = []
    page.on("request", lambda r: "/api/events" in r.url and streams.append(r.url))
    with page.expect_request("**/api/events"):
        page.clock.run_for(41_000)
    assert streams


def test_a_page_of_which_runs_are_still_to_come_shows_those_that_are_there(open_page, three, monkeypatch):
    held, real = threading.Event(), prepared.prepare

    def slow(entry, most):
        if entry.name.startswith("c"):
            held.wait()
        return real(entry, most)

    monkeypatch.setattr(prepared, "prepare", slow)
    query = "&".join(f"run={e.id}" for e in three.fleet.entries())
    try:
        page = opened(open_page, three, f"overlay?{query}", wait="nav .run-now").page
        page.wait_for_selector(".strip canvas")
        assert page.locator(".overview tbody tr").count() == 3
        assert page.locator('[data-strip^="reward/"]').first.locator(".lines li").count() == 2
        assert page.locator(".run-view[aria-busy]").count() == 1
    finally:
        held.set()
    page.locator('[data-strip^="reward/"]').first.locator(".lines li >> nth=2").wait_for()
    page.wait_for_selector(".run-view:not([aria-busy])")


def test_a_run_that_vanishes_leaves_the_others_on_the_page(open_page, tmp_path, served):
    for name in ("a", "b", "c"):
        write(tmp_path / name)
    here = served()
    page = opened(open_page, here, "overlay?" + "&".join(f"run={e.id}" for e in here.fleet.entries())).page
    page.wait_for_selector(".overview tbody tr >> nth=2")
    (tmp_path / "b" / "log.jsonl").unlink()
    here.fleet.look()
    counted(page.locator(".overview tbody tr"), 2)
    assert page.locator('[data-strip^="reward/"]').first.locator(".lines li").count() == 2


def test_while_a_run_grows_only_what_is_new_is_sent(open_page, tmp_path, served):
    log = write(tmp_path / "a", rows=1900)
    here = served()
    page = opened(open_page, here, f"run/{here.fleet.entries()[0].id}").page
    page.wait_for_selector(".strip canvas")
    answers = kept(page, "**/api/page?**")
    write(tmp_path / "a", rows=3, first=1901)
    here.fleet.read()
    page.locator(".run-facts", has_text="1903").wait_for()
    (_, (said, numbers)) = frames(answers[0])
    assert said["base"]
    assert len(numbers) < 1000 < log.stat().st_size / 100
    reward = page.locator('[data-strip^="reward/"] .readout').first.inner_text()
    assert float(reward) == pytest.approx(0.01 * 1903 + math.sin(1903 / 7), abs=1e-4)


def test_the_language_is_the_browsers(new_context, three):
    page = new_context(locale="zh-CN").new_page()
    page.goto(three.url)
    page.wait_for_selector(".run-rows .run-row")
    assert page.get_attribute("html", "lang") == "zh-CN"
    assert page.get_by_label("状态").count() == 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_violation(open_page, three, axe, width, scheme):
    page = opened(open_page, three, width=width, scheme=scheme).page
    page.wait_for_selector(".run-rows .run-row")
    page.get_by_label("Choose a/", exact=False).check()
    for look in ("list", "run", "overlay"):
        if look == "run":
            page.locator(".run-link").first.click()
            page.wait_for_selector(".strip canvas")
        if look == "overlay":
            page.goto(three.url + "overlay?" + "&".join(f"run={e.id}" for e in three.fleet.entries()))
            page.wait_for_selector(".strip canvas")
        assert not (violations := axe(page)), look + "\n" + "\n".join(violations)
