"""Without a mouse: Tab walks report, comparison and dashboard from end to end, and every stop can be seen, named and left."""

import pytest

from holter.reports.html.compare_page import page as comparison_of
from holter.reports.html.page import page as html_of
from tests.browser.test_dashboard import opened, served, three  # noqa: F401 - fixtures
from tests.unit.reports.comparisons import sweep
from tests.unit.reports.diagnoses import healthy, sick

pytestmark = pytest.mark.slow

CONTROLS = "a[href], button, input, select, textarea, summary, [tabindex='0']"
MARK = f"""() => {{
  const all = [...document.querySelectorAll({CONTROLS!r})].filter((e) => e.checkVisibility() && !e.disabled);
  all.forEach((e, i) => {{ e.dataset.stop = i; }});
  return all.map((e) => e.outerHTML.slice(0, 120));
}}"""
STOP = """() => {
  const e = document.activeElement;
  if (!e || e === document.body) return null;
  const box = e.getBoundingClientRect();
  const x = Math.min(Math.max(box.left + Math.min(box.width / 2, 12), 0), innerWidth - 1);
  const y = Math.min(Math.max(box.top + Math.min(box.height / 2, 12), 0), innerHeight - 1);
  const over = document.elementFromPoint(x, y);
  const style = getComputedStyle(e);
  return {
    stop: e.dataset.stop === undefined ? null : Number(e.dataset.stop),
    html: e.outerHTML.slice(0, 160),
    ringed: e.matches(':focus-visible') && style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2,
    seen: Boolean(over) && (e.contains(over) || over.contains(e) || over.closest('label')?.contains(e) === true),
  };
}"""
START = """() => {
  const { body } = document;
  body.tabIndex = -1;
  body.focus();
  body.removeAttribute('tabindex');
  scrollTo(0, 0);
}"""
MOST = 400


def walk(page, key="Tab"):
    """The stops from the page's beginning to its end, or back."""
    stops = []
    for _ in range(MOST):
        page.keyboard.press(key)
        stop = page.evaluate(STOP)
        # From the last one it goes out of the page, or, where there is nothing else to go to, to the first one again.
        if stop is None or (stops and stop["stop"] == stops[0]["stop"]):
            return stops
        stops.append(stop)
    raise AssertionError("the walk never ends: " + stops[-1]["html"])


def unnamed(page):
    """Controls without a name for a screen reader."""
    session = page.context.new_cdp_session(page)
    tree = session.send("Accessibility.getFullAXTree")["nodes"]
    kinds = {
        "button",
        "link",
        "textbox",
        "searchbox",
        "combobox",
        "checkbox",
        "slider",
        "DisclosureTriangle",
        "spinbutton",
    }
    return [
        node["role"]["value"]
        for node in tree
        if not node["ignored"] and node["role"]["value"] in kinds and not node.get("name", {}).get("value", "").strip()
    ]


def check(page):
    """All of the page's controls are reached in their order, each ringed and in sight, there and back."""
    known = page.evaluate(MARK)
    page.evaluate(START)
    for key, order in (("Tab", 1), ("Shift+Tab", -1)):
        stops = walk(page, key)
        assert [s["html"] for s in stops if not s["ringed"]] == []
        assert [s["html"] for s in stops if not s["seen"]] == []
        reached = [s["stop"] for s in stops if s["stop"] is not None]
        assert [known[i] for i in sorted(set(range(len(known))) - set(reached))] == []
        assert reached == sorted(reached)[::order]
    assert unnamed(page) == []
    assert page.locator("[tabindex]:not([tabindex='0']):not([tabindex='-1'])").count() == 0


@pytest.mark.parametrize("width", [360, 1280])
@pytest.mark.parametrize("runs", [1, 3])
def test_tab_walks_the_whole_report(open_page, tmp_path, width, runs):
    file = tmp_path / "report.html"
    file.write_text(html_of([sick(), healthy(), sick()][:runs]), encoding="utf-8")
    page = open_page(file, width=width).page
    page.wait_for_selector(".strip canvas")
    check(page)


@pytest.mark.parametrize("width", [360, 1280])
def test_tab_walks_the_whole_comparison(open_page, tmp_path, width):
    file = tmp_path / "comparison.html"
    file.write_text(comparison_of(sweep()), encoding="utf-8")
    page = open_page(file, width=width).page
    page.locator(".strip").first.scroll_into_view_if_needed()
    page.wait_for_selector(".strip canvas")
    check(page)


@pytest.mark.parametrize("width", [360, 1280])
def test_tab_walks_the_whole_dashboard(open_page, three, width):  # noqa: F811 - the fixture
    page = opened(open_page, three, width=width).page
    page.wait_for_selector(".run-rows .run-row")
    page.get_by_label("Choose a/", exact=False).check()
    check(page)
    page.locator(".run-link").first.click()
    page.wait_for_selector(".strip canvas")
    check(page)
    page.goto(three.url + "overlay?" + "&".join(f"run={e.id}" for e in three.fleet.entries()))
    page.wait_for_selector(".strip canvas")
    page.wait_for_selector(".run-view:not([aria-busy])")
    check(page)


def test_what_is_known_of_a_metric_is_opened_and_left_by_the_keyboard(open_page, tmp_path):
    file = tmp_path / "report.html"
    file.write_text(html_of([sick()]), encoding="utf-8")
    page = open_page(file).page
    page.wait_for_selector(".strip canvas")
    ask = page.locator(".strip .ask").first
    ask.focus()
    page.keyboard.press("Enter")
    page.locator(".explain").wait_for()
    assert page.evaluate("document.activeElement.closest('.explain') !== null")
    page.keyboard.press("Escape")
    assert page.locator(".explain").is_hidden()
    assert ask.evaluate("(e) => e === document.activeElement")
