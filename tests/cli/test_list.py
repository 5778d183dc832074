"""``holter list``, as a user types it."""

import json
import subprocess
import sys

import pytest
from click.testing import CliRunner

from holter.cli import holter
from holter.cli.list_ import aligned
from holter.detectors.registry import all_detectors
from holter.dialects.registry import all_dialects
from holter.readers.registry import all_readers
from holter.signals.catalog import catalog
from tests.patience import PATIENCE

REGISTRIES = {"signals": catalog, "detectors": all_detectors, "readers": all_readers, "dialects": all_dialects}


def listed(*arguments):
    said = CliRunner().invoke(holter, ["list", *arguments])
    assert said.exit_code == 0, said.output
    return said.output


@pytest.mark.parametrize("kind", REGISTRIES)
def test_every_member_has_one_line_with_its_title(kind):
    lines = listed(kind).splitlines()
    assert len(lines) == len(REGISTRIES[kind]())
    for line, name in zip(lines, REGISTRIES[kind](), strict=True):
        assert name in line
        assert len(line.split(name, 1)[1].strip()) > 2, "a name without words"


@pytest.mark.parametrize("kind", REGISTRIES)
def test_columns_are_aligned(kind):
    names = list(REGISTRIES[kind]())
    lines = listed(kind).splitlines()
    ends = [line.index(name) + len(name) for line, name in zip(lines, names, strict=True)]
    starts = {end + len(line[end:]) - len(line[end:].lstrip()) for line, end in zip(lines, ends, strict=True)}
    assert len(starts) == 1


@pytest.mark.parametrize("kind", REGISTRIES)
def test_the_singular_is_as_good(kind):
    assert listed(kind.removesuffix("s")) == listed(kind)


def test_detectors_come_with_their_codes_in_order():
    codes = [line.split()[0] for line in listed("detectors").splitlines()]
    assert codes == sorted(d.code for d in all_detectors().values())


def test_signals_come_with_their_units():
    line = next(text for text in listed("signals").splitlines() if text.startswith("objective/kl "))
    assert line.endswith("KL to the reference policy per sequence (nats/sequence)")


@pytest.mark.parametrize("kind", REGISTRIES)
def test_json_has_the_same_members(kind):
    said = json.loads(listed(kind, "--format", "json"))
    assert said["schema"] == "holter.list/1"
    assert said["kind"] == kind
    assert [m["name"] for m in said["members"]] == list(REGISTRIES[kind]())
    assert all(m["title"] for m in said["members"])


@pytest.mark.parametrize("arguments", [["metrics"], ["signalss"], [""], []])
def test_a_wrong_kind_is_a_clear_error(arguments):
    said = CliRunner().invoke(holter, ["list", *arguments])
    assert said.exit_code == 2
    assert "signals" in said.output
    assert "dialects" in said.output


def test_a_narrow_terminal_breaks_long_lines_and_loses_nothing():
    rows = [
        ("sampling/importance_sampling_ratio/mean", "Importance ratio of trainer to sampler, in many words"),
        ("kl", "KL [x] (y)"),
    ]
    text = aligned(rows, 80)
    assert max(map(len, text.splitlines())) <= 80
    assert " ".join(text.split()) == " ".join(word for row in rows for word in " ".join(row).split())


def test_nothing_to_list_is_nothing():
    assert aligned([], 80) == ""


def test_help_imports_nothing_heavy():
    code = (
        "import sys; sys.argv = ['holter', '--help']\n"
        "from holter.cli import main\n"
        "try: main()\nexcept SystemExit: pass\n"
        "heavy = {'numpy', 'rich', 'orjson', 'holter.signals', 'holter.detectors.registry'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=PATIENCE, capture_output=True)
