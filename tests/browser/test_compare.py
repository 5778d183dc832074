"""A comparison in a real browser: it draws, its tables and charts answer each other, and a hostile log stays text."""

from pathlib import Path

import pytest

from holter.reports.html.compare_page import page as html_of
from tests.unit.reports.comparisons import hostile, same_setting_twice, seeds_only, sweep, two_settings

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script><b>x</b>\u202e[a](javascript:alert(3))"
PLANTED = {
    "two": two_settings,
    "tokens": lambda: two_settings(axis="tokens"),
    "same": same_setting_twice,
    "seeds": seeds_only,
    "sweep": sweep,
    "hostile": lambda: hostile(HOSTILE),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("comparisons")

    def write(name: str) -> Path:
        file = folder / f"{name}.html"
        if not file.exists():
            file.write_text(html_of(PLANTED[name]()), encoding="utf-8")
        return file

    return write


def reward(page):
    return page.locator('[data-strip="compare/reward"]')


def painted(page, colour: str) -> int:
    """Pixels of the reward's chart in a colour of the palette, however faint."""
    return page.evaluate(
        """(name) => {
          const tone = getComputedStyle(document.documentElement).getPropertyValue(name).trim();
          const [r, g, b] = tone.match(/[0-9a-f]{2}/g).map((x) => parseInt(x, 16));
          const drawn = document.querySelector('[data-strip="compare/reward"] canvas');
          const copy = new OffscreenCanvas(drawn.width, drawn.height).getContext('2d');
          copy.drawImage(drawn, 0, 0);
          const d = copy.getImageData(0, 0, drawn.width, drawn.height).data;
          let n = 0;
          for (let i = 0; i < d.length; i += 4)
            if (d[i + 3] > 20 && Math.abs(d[i] - r) + Math.abs(d[i + 1] - g) + Math.abs(d[i + 2] - b) < 40) n++;
          return n;
        }""",
        colour,
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 2560])
@pytest.mark.parametrize("name", ["two", "sweep"])
def test_it_draws_in_every_width_and_scheme_without_scrolling_sideways(open_page, written, name, width, scheme):
    page = open_page(written(name), width=width, scheme=scheme).page
    reward(page).scroll_into_view_if_needed()
    reward(page).locator("canvas").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(ground) > 384) == (scheme == "light")
    assert painted(page, "--s1") > 100


def test_what_is_worse_stands_beside_the_headline(open_page, written):
    page = open_page(written("two")).page
    assert page.inner_text("h1") == "bad is worse than baseline in 2 ways"
    assert page.locator(".worse li").count() == 2
    assert "reward ends at" in page.inner_text(".worse")
    assert page.locator(".settings tbody tr").count() == 2
    assert "baseline" in page.inner_text(".settings tbody tr:first-child")


def test_a_difference_leads_to_its_strip_and_to_where_the_curves_part(open_page, written):
    page = open_page(written("two"), height=500).page
    row = page.locator(".difference.worse[data-signal='reward']")
    assert "[" in row.locator(".interval").inner_text()
    row.get_by_role("button", name="reward").click()
    assert page.evaluate("document.activeElement.closest('.strip').dataset.strip") == "compare/reward"
    assert page.inner_text(".at").startswith("step 4")
    assert "▼" in reward(page).locator(".strip-note").inner_text()


def test_single_runs_can_be_switched_off_and_leave_mean_and_band(open_page, written):
    page = open_page(written("two")).page
    reward(page).locator("canvas").wait_for()
    assert reward(page).locator(".lines li").count() == 2
    with_runs = painted(page, "--s1")
    page.get_by_label("single runs").uncheck()
    reward(page).locator("canvas").wait_for()
    assert 100 < painted(page, "--s1") < with_runs
    assert page.evaluate("document.activeElement.classList.contains('members')")


def test_a_setting_can_be_left_out_of_the_charts(open_page, written):
    page = open_page(written("two")).page
    page.get_by_label("Draw baseline").uncheck()
    assert reward(page).locator(".lines li").count() == 1
    assert page.locator(".difference.worse").count() >= 1


def test_hovering_a_strip_moves_the_crosshair_of_all(open_page, written):
    page = open_page(written("two"), height=1200).page
    page.locator('[data-strip="compare/kl"] canvas').wait_for()
    box = reward(page).locator(".u-over").bounding_box()
    page.mouse.move(box["x"] + box["width"] * 0.8, box["y"] + box["height"] / 2)
    there = page.evaluate(
        "[...document.querySelectorAll('.u-cursor-x')].map((e) => Math.round(new DOMMatrix(getComputedStyle(e).transform).e))"
    )
    assert len(there) >= 2
    assert max(there) - min(there) <= 1
    values = reward(page).locator(".readout").all_inner_texts()
    assert 0.4 < float(values[0]) < 0.6
    assert 0.1 < float(values[1]) < 0.3


def test_what_cannot_be_told_apart_is_said_and_shown_with_its_interval(open_page, written):
    page = open_page(written("same")).page
    assert "are not distinguishable with these seeds" in page.inner_text("h1")
    assert "No signal differs beyond the noise." in page.inner_text(".side")
    assert page.locator(".difference.same[data-signal='reward'] .forest .reach").count() == 1
    assert reward(page).locator(".strip-note").inner_text() == "= not distinguishable"


def test_seeds_of_one_setting_have_a_band_and_no_pair(open_page, written):
    page = open_page(written("seeds")).page
    assert page.inner_text("h1") == "3 seeds of one setting"
    assert page.locator(".side").count() == 0
    assert "±" in page.inner_text(".settings tbody")


def test_another_axis_is_named_wherever_a_place_is(open_page, written):
    page = open_page(written("tokens")).page
    assert page.inner_text(".at").endswith("tokens")
    assert page.locator(".difference.worse[data-signal='reward'] .when").inner_text().endswith("tokens")


def test_choosing_a_setting_of_a_sweep_holds_it_against_the_first(open_page, written):
    page = open_page(written("sweep")).page
    page.locator(".settings").get_by_role("button").nth(4).click()
    name = page.locator(".settings").get_by_role("button").nth(4).inner_text()
    assert page.locator(".settings").get_by_role("button").nth(4).get_attribute("aria-pressed") == "true"
    assert page.inner_text(".pair h2").startswith(name)
    assert page.evaluate("document.activeElement.textContent") == name


def test_the_parallel_picture_lights_a_run_by_hover_and_by_keys(open_page, written):
    page = open_page(written("sweep")).page
    picture = page.get_by_role("listbox", name="Runs of the sweep")
    picture.scroll_into_view_if_needed()
    assert picture.get_by_role("option").count() == 9
    picture.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    lit = picture.locator(".run.lit")
    assert lit.count() == 1
    assert lit.get_attribute("id") == picture.get_attribute("aria-activedescendant")
    assert page.inner_text(".parallel-said") == lit.get_attribute("aria-label")
    assert "learning_rate" in page.inner_text(".parallel-said")
    page.keyboard.press("Escape")
    assert picture.locator(".run.lit").count() == 0
    dot = picture.locator(".run circle").first.bounding_box()
    page.mouse.move(dot["x"] + 40, dot["y"] + dot["height"] / 2)
    page.mouse.move(dot["x"] + dot["width"] / 2, dot["y"] + dot["height"] / 2)
    assert picture.locator(".run.lit").count() == 1


def test_a_brush_on_an_axis_keeps_the_runs_within(open_page, written):
    page = open_page(written("sweep")).page
    picture = page.get_by_role("listbox", name="Runs of the sweep")
    picture.scroll_into_view_if_needed()
    axis = picture.locator(".axis > line").first.bounding_box()
    page.mouse.move(axis["x"], axis["y"])
    page.mouse.down()
    page.mouse.move(axis["x"], axis["y"] + axis["height"] * 0.3, steps=4)
    page.mouse.up()
    assert page.inner_text(".parallel-said") == "3 of 9 runs"
    assert picture.locator(".run.out").count() == 6
    page.keyboard.press("Escape")
    assert page.inner_text(".parallel-said") == "9 runs"


def test_runs_are_kept_by_typing_what_a_brush_draws(open_page, written):
    page = open_page(written("sweep")).page
    page.locator(".keeping summary").focus()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "learning_rate from"
    page.keyboard.type("3e-6")
    assert page.inner_text(".parallel-said") == "6 of 9 runs"
    page.get_by_label("beta to").fill("0.01")
    assert page.inner_text(".parallel-said") == "2 of 9 runs"
    page.get_by_role("button", name="All runs").click()
    assert page.inner_text(".parallel-said") == "9 runs"
    assert page.get_by_label("beta to").input_value() == ""


def test_the_sweep_says_what_moved_and_shows_every_correlation(open_page, written):
    page = open_page(written("sweep")).page
    assert "a larger learning_rate raises kl" in page.inner_text(".influences")
    assert page.locator(".correlations td.stands").first.is_visible()
    assert page.locator(".correlations tbody tr").count() == 3


def test_the_language_changes_in_the_page(open_page, written):
    page = open_page(written("two")).page
    page.get_by_label("Language").select_option("zh")
    assert page.inner_text(".worse h2") == "比 baseline 差之处"
    assert "reward 末段为" in page.inner_text(".worse")
    assert page.get_attribute("html", "lang") == "zh-CN"


@pytest.mark.parametrize("name", ["two", "sweep", "same", "seeds"])
def test_in_chinese_no_english_sentence_is_left(open_page, written, name):
    page = open_page(written(name)).page
    page.get_by_label("Language").select_option("zh")
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    said = page.evaluate("document.querySelector('main').innerText")
    for english in ("Settings", "Worse", "against", "distinguishable", "swept", "Aligned", "Grouped", "apart"):
        assert english not in said, english


def test_nothing_a_log_says_comes_alive(open_page, written):
    page = open_page(written("hostile")).page
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    assert page.locator("img, a, b, iframe, main script").count() == 0
    said = page.evaluate("document.querySelector('main').innerText")
    assert "<img src=x onerror=alert(1)>" in said
    assert "\u202e" not in said


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("two", 360), ("two", 1280), ("sweep", 360), ("sweep", 1280)])
def test_axe_finds_no_violation(open_page, written, axe, name, width, scheme):
    page = open_page(written(name), width=width, scheme=scheme).page
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    assert not (violations := axe(page)), "\n".join(violations)


def test_it_prints_in_light_colours(open_page, written):
    page = open_page(written("two"), scheme="dark").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".toolbar").is_hidden()
    page.evaluate("dispatchEvent(new Event('afterprint'))")


@pytest.mark.parametrize("name", ["two", "sweep"])
def test_on_paper_the_table_of_settings_is_no_wider_than_the_paper(open_page, written, name):
    page = open_page(written(name)).page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    paper = page.locator(".page").bounding_box()
    tables = [t.bounding_box() for t in page.locator(".overview table").all()]
    assert [t for t in tables if t["x"] + t["width"] > paper["x"] + paper["width"] + 1] == []
    page.evaluate("dispatchEvent(new Event('afterprint'))")
