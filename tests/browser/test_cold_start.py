"""A folder that the dashboard never saw: what is known is shown, and nothing else, and five hundred runs are no burden."""

import pytest

from tests.browser.test_dashboard import names, opened, served, write  # noqa: F401 - a fixture

pytestmark = pytest.mark.slow


def test_a_run_is_listed_opened_drawn_and_judged_in_the_order_in_which_it_becomes_known(open_page, tmp_path, served):  # noqa: F811 - the fixture
    here = served()
    page = opened(open_page, here).page
    write(tmp_path / "a")
    write(tmp_path / "b", rows=400)
    here.fleet.find()
    page.wait_for_selector(".run-rows .run-row >> nth=1")
    page.locator(".run-row", has_text="b/log.jsonl").locator(".step", has_text="400").wait_for()
    assert page.locator(".run-rows .badge").all_text_contents() == ["…checking"] * 2
    assert page.inner_text(".count") == "2 runs · 2 being checked"
    page.locator(".run-link", has_text="b/").click()
    page.locator(".run-now", has_text="step 400").wait_for()
    assert page.inner_text(".loading") == "Reading …"
    here.fleet.read()
    page.wait_for_selector(".strip canvas")
    assert page.inner_text(".verdict .badge").split() == ["…", "checking"]
    assert page.inner_text(".findings .nothing") == "The detectors are still at work."
    assert page.locator(".healthy").count() == 0
    assert here.fleet.judge_one()
    page.wait_for_selector(".verdict:not(.unjudged)")
    page.go_back()
    page.wait_for_selector(".run-rows .run-row >> nth=1")
    assert page.locator(".run-row", has_text="b/log.jsonl").locator(".badge.unjudged").count() == 0
    assert page.locator(".run-row", has_text="a/log.jsonl").locator(".badge.unjudged").count() == 1


def test_five_hundred_runs_are_listed_and_answer_at_once(open_page, tmp_path, served):  # noqa: F811 - the fixture
    for i in range(500):
        write(tmp_path / f"run-{i:03d}", rows=5)
    here = served()
    page = opened(open_page, here).page
    page.wait_for_selector(".run-rows .run-row >> nth=499", state="attached")
    page.get_by_role("searchbox").fill("run-499")
    assert names(page) == ["run-499/log.jsonl"]


def test_of_five_hundred_runs_only_the_row_of_one_that_grew_is_touched(open_page, tmp_path, served):  # noqa: F811 - the fixture
    for i in range(500):
        write(tmp_path / f"run-{i:03d}", rows=5)
    here = served()
    page = opened(open_page, here).page
    page.wait_for_selector(".run-rows .run-row >> nth=499", state="attached")
    page.evaluate("document.querySelectorAll('.run-rows .name').forEach((e) => { e.kept = true; })")
    write(tmp_path / "run-321", rows=2, first=6)
    here.fleet.read()
    page.locator(".run-row", has_text="run-321").locator(".step", has_text="7").wait_for()
    link = "e.querySelector('.run-link').textContent"
    anew = f"[...document.querySelectorAll('.run-rows .name')].filter((e) => !e.kept).map((e) => {link})"
    assert page.evaluate(anew) == ["run-321/log.jsonl"]
    page.evaluate("scrollTo(0, document.body.scrollHeight)")
    assert page.locator(".run-rows .run-row").last.evaluate("(e) => e.getBoundingClientRect().top < innerHeight")
