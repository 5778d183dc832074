"""The Markdown report: held to a golden file, and dead to whatever a log says."""

import os
import re
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from holter.reports.markdown import code, escaped, markdown
from tests.unit.reports.diagnoses import REFUSED, healthy, sick

GOLDEN = Path(__file__).parent / "golden" / "report.md"
RENDER = MarkdownIt("gfm-like", {"html": True, "linkify": False})

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "[click](javascript:alert(1))",
    "![x](https://evil.example/p.png)",
    "`</code><b>x</b>`",
    "``` `x",
    "a | b | <i>c</i>",
    "@someone please",
    "https://evil.example/?q=1",
    "www.evil.example",
    "a_b_c *bold* ~~gone~~ __x__",
    "# heading",
    "- item",
    "1. item",
    "line\n\n# another\n> quote",
    "<!-- hidden",
    "&lt;b&gt;",
    "\\<b>",
    "a\u202eb\x1b[31m",
]


def test_the_report_is_the_golden_one():
    said = markdown([sick(), healthy()], REFUSED)
    if os.environ.get("HOLTER_UPDATE_GOLDEN"):
        GOLDEN.write_text(said, encoding="utf-8")
    assert said == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("quoted", [escaped, code])
def test_text_of_a_log_is_shown_and_does_nothing(text, quoted):
    html = RENDER.render(f"| run | what |\n|---|---|\n| x | {quoted(text)} |\n")
    assert html.count("<td>") == 2
    assert not re.search(r"<(script|img|a|b|i|em|strong|s|del|h1|blockquote|li)\b", html)
    assert "<!--" not in html
    alone = RENDER.render(f"{quoted(text)}\n")
    assert not re.search(r"<(script|img|a|b|i|em|strong|s|h1|blockquote|ul|ol)\b", alone)


@pytest.mark.parametrize("text", ["https://evil.example", "www.evil.example", "@someone", "mailto:a@b.example"])
def test_no_address_or_mention_is_left_for_a_forge_to_link(text):
    source = escaped(f"see {text} now")
    assert not re.search(r"https?:|www\.|mailto:|@", source)


def test_a_hostile_run_gives_the_same_structure_as_a_tame_one():
    def tags(diagnosis):
        return re.findall(r"<(/?\w+)", RENDER.render(markdown([diagnosis])))

    for text in HOSTILE:
        assert tags(sick(name=text, metric=text)) == tags(sick(name="tame", metric="tame"))


def test_a_mention_is_shown_and_mentions_nobody():
    assert escaped("@team #7") == "&#64;team \\#7"
