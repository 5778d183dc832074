"""The Chinese README says to type what the English one says, chapter by chapter; its prose, its comments and what commands print
are its own."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"(?:^|\s+)#.*$")


def chapters(name: str) -> tuple[list[int], list[list[tuple[str, list[str]]]]]:
    """Levels of the headings, and the blocks of each chapter without comments and without what commands print."""
    text = (ROOT / name).read_text(encoding="utf-8")
    bare = BLOCK.sub(lambda m: "\n" * m[0].count("\n"), text).splitlines()
    starts = [n for n, line in enumerate(bare) if re.match(r"#+ ", line)]
    levels = [len(bare[n].split()[0]) for n in starts]
    blocks: list[list[tuple[str, list[str]]]] = [[] for _ in starts]
    for each in BLOCK.finditer(text):
        line = text.count("\n", 0, each.start())
        typed = code(each["body"])
        if each["language"] == "console":
            typed = [line for line in typed if line.startswith("$ ")]
        blocks[sum(start <= line for start in starts) - 1].append((each["language"], typed))
    return levels, blocks


def code(body: str) -> list[str]:
    """The lines of a block, less its comments."""
    return [line for line in (COMMENT.sub("", each).rstrip() for each in body.splitlines()) if line]


def test_code_and_chapters_are_those_of_the_english_readme():
    assert chapters("README.zh.md") == chapters("README.md")


def test_only_comments_are_left_out_of_a_block():
    assert code('a = 1  # one\n\n# two\nx["#"] = "b#c"\n') == ["a = 1", 'x["#"] = "b#c"']
