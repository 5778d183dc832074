"""The report in a real browser: it draws, it answers, it reaches everybody, and a hostile log cannot make it do anything."""

import math
from pathlib import Path

import pytest

from holter.findings.diagnosis import diagnose
from holter.reports.html.page import page as html_of
from holter.runs.build import run_of
from tests.unit.reports.diagnoses import healthy, sick

pytestmark = pytest.mark.slow

HOSTILE = "<img src=x onerror=alert(1)></script><script>alert(2)</script><b>x</b>\u202e[a](javascript:alert(3)) https://x.example"
INK = """() => [...document.querySelectorAll('.strip canvas')].filter((c) => {
  const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
  for (let i = 3; i < d.length; i += 4) if (d[i] > 40) return true;
  return false;
}).length"""


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")

    def write(name: str, diagnoses) -> Path:
        file = folder / f"{name}.html"
        if not file.exists():
            file.write_text(html_of(diagnoses), encoding="utf-8")
        return file

    return write


def long_run():
    rows = 400
    reward = [0.01 * i + math.sin(i / 3) for i in range(rows)]
    reward[200] = 90.0
    reward[300] = math.nan
    return diagnose(
        run_of(
            [float(i) for i in range(1, rows + 1)],
            {"reward": reward, "kl": [0.001 * i for i in range(rows)], "grad_norm": [1.0] * rows},
        )
    )


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 2560])
def test_it_draws_in_every_width_and_scheme_without_scrolling_sideways(open_page, written, width, scheme):
    page = open_page(written("sick", [sick()]), width=width, scheme=scheme).page
    page.wait_for_selector(".strip canvas")
    assert page.inner_text("h1") == "From step 60: the policy runs away (very likely)"
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert page.evaluate(INK) >= 1
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")
    assert (sum(ground) > 384) == (scheme == "light")


def test_the_theme_can_be_chosen_against_the_system(open_page, written):
    page = open_page(written("sick", [sick()]), scheme="dark").page
    page.get_by_label("Theme").select_option("light")
    assert sum(page.evaluate("getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)")) > 384


def test_hovering_one_strip_moves_the_crosshair_and_the_values_of_all(open_page, written):
    page = open_page(written("sick", [sick()])).page
    page.wait_for_selector('[data-strip^="kl/"] canvas')
    over = page.locator('[data-strip^="reward/reward"] .u-over')
    box = over.bounding_box()
    page.mouse.move(box["x"] + box["width"] * 6 / 11, box["y"] + box["height"] / 2)
    assert page.inner_text(".at") in {"step 70", "step 70.0"} or page.inner_text(".at").startswith(
        ("step 69.", "step 70.")
    )
    assert page.inner_text('[data-strip^="kl/"] .readout') == "1"
    assert page.inner_text('[data-strip^="reward/reward"] .readout') == "0.6"
    there = page.evaluate(
        "[...document.querySelectorAll('.u-cursor-x')].map((e) => Math.round(new DOMMatrix(getComputedStyle(e).transform).e))"
    )
    assert len(there) >= 2
    assert max(there) - min(there) <= 1


def test_dragging_zooms_every_strip_and_a_button_brings_all_steps_back(open_page, written):
    page = open_page(written("sick", [sick()])).page
    page.wait_for_selector('[data-strip^="kl/"] canvas')
    box = page.locator('[data-strip^="reward/reward"] .u-over').bounding_box()
    y = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.5, y)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.9, y, steps=5)
    page.mouse.up()
    page.mouse.move(5, 5)
    reset = page.get_by_role("button", name="All steps")
    reset.wait_for()
    assert page.inner_text(".at").startswith("steps 65")
    reset.click()
    assert page.inner_text(".at") == "steps 10–120"
    assert reset.is_hidden()


def test_the_keyboard_moves_the_crosshair_and_zooms(open_page, written):
    page = open_page(written("sick", [sick()])).page
    page.wait_for_selector('[data-strip^="kl/"] canvas')
    chart = page.locator('[data-strip^="kl/"] .plot')
    chart.focus()
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".at") == "step 110"
    assert "kl 16" in chart.get_attribute("aria-valuetext")
    page.keyboard.press("+")
    assert page.get_by_role("button", name="All steps").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_role("button", name="All steps").is_hidden()


def test_a_flag_on_a_strip_opens_its_finding(open_page, written):
    page = open_page(written("sick", [sick()]), width=900).page
    flag = page.get_by_role("button", name="reward-decline, steps 90–110")
    flag.scroll_into_view_if_needed()
    flag.click()
    card = page.locator("details.finding[data-finding='1']")
    assert card.get_attribute("open") is not None
    assert "is no number" in card.inner_text()
    assert page.evaluate("document.activeElement.closest('details').dataset.finding") == "1"


def test_a_click_on_the_ground_of_a_finding_opens_it(open_page, written):
    page = open_page(written("sick", [sick()]), width=900).page
    page.wait_for_selector('[data-strip^="kl/"] canvas')
    card = page.locator("details.finding[data-finding='0']")
    assert card.get_attribute("open") is None
    over = page.locator('[data-strip^="kl/"] .u-over')
    over.scroll_into_view_if_needed()
    box = over.bounding_box()
    over.click(position={"x": box["width"] * 0.2, "y": box["height"] / 2})
    assert card.get_attribute("open") is None
    over.click(position={"x": box["width"] * 0.8, "y": box["height"] / 2})
    assert card.get_attribute("open") is not None


def test_a_finding_shows_evidence_rule_alternatives_and_advice(open_page, written):
    page = open_page(written("sick", [sick()])).page
    card = page.locator("details.finding[data-finding='0']")
    card.locator(".rule summary").click()
    said = card.inner_text()
    for part in (
        "doubles",
        "the reward still rises",
        "the reference was swapped",
        "compare its hash",
        "Raise beta.",
        "began between 50 and 60",
    ):
        assert part in said
    assert "When it is wrong" in said


def test_smoothing_can_be_switched_off_and_never_hides_a_spike(open_page, written):
    page = open_page(written("long", [long_run()])).page
    page.wait_for_selector('[data-strip^="reward/reward"] canvas')
    top = """() => { const c = document.querySelector('[data-strip^="reward/reward"] canvas');
      const h = Math.round(c.height * 0.45), d = c.getContext('2d').getImageData(c.width * 0.4, 0, c.width * 0.2, h).data;
      let n = 0; for (let i = 0; i < d.length; i += 4) if (d[i + 3] > 60 && d[i + 2] > d[i] + 25) n++; return n; }"""
    spikes = {}
    for level in ("strong", "light", "off"):
        page.get_by_label("Smoothing").select_option(level)
        spikes[level] = page.evaluate(top)
    assert min(spikes.values()) > 0


def test_a_value_that_is_no_number_is_said_and_marked(open_page, written):
    page = open_page(written("long", [long_run()])).page
    chart = page.locator('[data-strip^="reward/reward"] .plot')
    assert "1 NaN" in chart.get_attribute("aria-label")
    chart.focus()
    page.keyboard.press("Home")
    for _ in range(14):
        page.keyboard.press("PageUp")
    for _ in range(19):
        page.keyboard.press("ArrowRight")
    assert page.inner_text(".at") == "step 300"
    page.keyboard.press("ArrowRight")
    assert page.inner_text('[data-strip^="reward/reward"] .readout') == "NaN"


def test_a_metric_is_explained_beside_it(open_page, written):
    page = open_page(written("sick", [sick()])).page
    page.locator('[data-strip^="kl/"] .metric').click()
    said = page.locator(".explain").inner_text()
    assert "nats/token" in said
    assert "In a healthy run" in said
    assert "greatest" in said


def test_the_language_changes_in_the_page(open_page, written):
    page = open_page(written("sick", [sick()])).page
    page.get_by_label("Language").select_option("zh")
    assert page.inner_text(".findings > h2") == "发现"
    assert page.get_attribute("html", "lang") == "zh-CN"


def test_runs_lie_over_each_other_under_a_table_of_verdicts(open_page, written):
    page = open_page(written("two", [healthy("runs/a"), sick("runs/b")])).page
    rows = page.locator(".overview tbody tr")
    assert rows.count() == 2
    assert page.inner_text(".overview tr.chosen .run") == "b"
    assert page.locator('[data-strip^="reward/reward"]').first.locator(".lines li").count() == 2
    page.locator(".overview").get_by_role("button", name="a", exact=True).click()
    assert page.inner_text("h1") == "Healthy, as far as this log shows"
    page.get_by_label("Draw runs/b").uncheck()
    assert page.locator('[data-strip^="reward/reward"]').first.locator(".lines li").count() == 1


def test_nothing_a_log_says_comes_alive(open_page, written):
    out = open_page(written("hostile", [sick(HOSTILE, HOSTILE)]))
    page = out.page
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    assert page.locator("img, a, b, iframe, main script").count() == 0
    shown = page.inner_text(".run-name")
    assert "<img src=x onerror=alert(1)>" in shown
    assert "\u202e" not in page.evaluate("document.body.querySelector('main').innerText")
    assert out.dialogs == []


def test_the_policy_stops_what_would_leave_the_page(new_context, written):
    page = new_context().new_page()
    page.goto(written("sick", [sick()]).as_uri())
    blocked = page.evaluate(
        """async () => {
          const seen = [];
          const all = new Promise((done) => document.addEventListener('securitypolicyviolation', (e) => {
            if (seen.push(e.effectiveDirective) === 3) done();
          }));
          await fetch('https://x.example/').catch(() => {});
          document.body.append(Object.assign(new Image(), { src: 'https://x.example/p.png' }));
          document.body.append(Object.assign(document.createElement('script'), { textContent: 'window.alive = 1' }));
          await all;
          return [seen.map((d) => d.split('-').slice(0, 2).join('-')).sort(), window.alive];
        }"""
    )
    assert blocked == [["connect-src", "img-src", "script-src"], None]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280])
def test_axe_finds_no_violation(open_page, written, axe, width, scheme):
    page = open_page(written("two-axe", [sick("runs/b"), healthy("runs/a")]), width=width, scheme=scheme).page
    page.locator("details").evaluate_all("(all) => all.forEach((d) => { d.open = true; })")
    assert not (violations := axe(page)), "\n".join(violations)


def test_it_prints_in_light_colours(open_page, written):
    page = open_page(written("sick", [sick()]), scheme="dark").page
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.locator(".toolbar").is_hidden()
    assert page.evaluate(INK) == page.locator(".board > section .strip").count()
    page.evaluate("dispatchEvent(new Event('afterprint'))")


WIDEST = """() => Math.max(...[...document.querySelectorAll('.board .strip')].map(
  (s) => s.querySelector('canvas').getBoundingClientRect().right - s.getBoundingClientRect().right))"""


def test_on_paper_charts_are_as_wide_as_the_paper_and_the_screen_gets_its_own_back(open_page, written):
    page = open_page(written("sick", [sick()]), width=2560).page
    page.wait_for_selector(".strip canvas")
    on_screen = page.locator(".strip canvas").first.bounding_box()["width"]
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    millimetre = 96 / 25.4
    assert page.locator(".page").bounding_box()["width"] == pytest.approx(182 * millimetre, abs=1)
    assert page.evaluate(WIDEST) < 1
    assert page.locator(".strip canvas").first.bounding_box()["width"] < 182 * millimetre
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    page.wait_for_function(
        "(w) => document.querySelector('.strip canvas').getBoundingClientRect().width === w", arg=on_screen
    )


def consumed(name, tokens, flip=99):
    """Forty steps of some tokens each; the KL runs away from the step `flip` on."""
    rows = range(1, 41)
    kl = [0.01 * s if s < flip else 0.4 * 1.5 ** (s - flip) for s in rows]
    columns = {"reward": [0.01 * s for s in rows], "kl": kl, "num_tokens": [float(tokens * s) for s in rows]}
    return diagnose(run_of([float(s) for s in rows], columns, name=name))


def test_several_runs_lie_along_what_they_consumed(open_page, written, tmp_path):
    two = [consumed("runs/a", 100), consumed("runs/b", 300, flip=21)]
    file = tmp_path / "along.html"
    file.write_text(html_of(two, axis="tokens"), encoding="utf-8")
    page = open_page(file).page
    page.wait_for_selector(".strip canvas")
    assert page.inner_text(".at") == "100–12\u2009000 tokens"
    page.locator('[data-strip^="reward/"] .plot').first.focus()
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".at") == "200 tokens"
    # The second run began its trouble at step 21, which is three times as many tokens as the first had by then.
    flag = page.locator(".flag", has_text="kl-runaway").first.bounding_box()
    over = page.locator('[data-strip^="kl/"] .u-over').first.bounding_box()
    assert (flag["x"] - over["x"]) / over["width"] == pytest.approx((300 * 21 - 100) / 11_900, abs=0.06)
    page.get_by_label("Along").select_option("step")
    assert page.inner_text(".at") == "steps 1–40"
    assert [o.inner_text() for o in page.locator("select[aria-label=Along] option").all()] == ["steps", "tokens"]


def test_many_runs_are_told_apart_and_the_outermost_are_named(open_page, tmp_path):
    file = tmp_path / "many.html"
    file.write_text(html_of([consumed(f"runs/r{i:02d}", 100 + i) for i in range(20)]), encoding="utf-8")
    page = open_page(file).page
    page.wait_for_selector(".strip canvas")
    looks = page.locator(".overview .swatch").evaluate_all(
        "(all) => all.map((e) => [e.dataset.colour, e.dataset.stroke ?? ''].join())"
    )
    assert len(set(looks)) == 20
    named = page.locator('[data-strip^="reward/"]').first.locator(".lines li")
    assert named.count() == 3
    assert [r.split()[0] for r in named.locator(".rank").all_inner_texts()] == ["max", "mid", "min"]


ENDS = """() => [...document.querySelectorAll('.strip .metric')].filter((m) => m.checkVisibility()).map((m) => {
  const [room, end] = [m.getBoundingClientRect(), m.querySelector('.metric-end').getBoundingClientRect()];
  return [m.querySelector('.metric-end').textContent, end.left >= room.left - 1 && end.right <= room.right + 1];
})"""


@pytest.mark.parametrize("width", [360, 1280])
def test_of_a_name_that_is_too_long_the_end_is_seen(open_page, tmp_path, width):
    names = ["rewards/relevance/mean", "rewards/positivity/mean", "rewards/wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww/mean"]
    columns = {name: [0.01 * (i + s) for s in range(40)] for i, name in enumerate(["reward", *names])}
    file = tmp_path / "names.html"
    file.write_text(html_of([diagnose(run_of([float(s) for s in range(1, 41)], columns))]), encoding="utf-8")
    page = open_page(file, width=width).page
    page.wait_for_selector(".strip canvas")
    on_screen = page.evaluate(ENDS)
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    for ends in (on_screen, page.evaluate(ENDS)):
        assert [end for end, whole in ends if not whole] == []
        assert {"reward", "/relevance/mean", "/positivity/mean", "wwwww/mean"} == {end for end, _ in ends}


def test_on_paper_the_table_of_runs_is_as_wide_as_the_paper_and_names_stay_whole(open_page, tmp_path):
    file = tmp_path / "three.html"
    three = [consumed(f"runs/grpo-seed{i}", 100, flip=flip) for i, flip in enumerate((99, 21, 25))]
    file.write_text(html_of(three), encoding="utf-8")
    page = open_page(file).page
    page.wait_for_selector(".strip canvas")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    table = page.locator(".overview table").bounding_box()
    paper = page.locator(".page").bounding_box()
    assert table["x"] + table["width"] <= paper["x"] + paper["width"] + 1
    assert max(b["height"] for b in (r.bounding_box() for r in page.locator(".overview .run").all())) < 40


def test_a_strip_of_held_out_data_says_so(open_page, tmp_path):
    columns = {
        name: [0.01 * s for s in range(40)] for name in ("reward", "reward_std", "eval/reward_std", "eval/reward")
    }
    file = tmp_path / "held_out.html"
    two = [diagnose(run_of([float(s) for s in range(1, 41)], columns, name=name)) for name in ("runs/a", "runs/b")]
    file.write_text(html_of(two), encoding="utf-8")
    page = open_page(file).page
    page.wait_for_selector(".strip canvas")
    assert page.locator(".strip h4").all_inner_texts() == [
        "Reward",
        "Reward on held-out prompts",
        "Reward spread",
        "Reward spread · held out",
    ]
