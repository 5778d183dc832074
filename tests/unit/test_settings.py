"""Settings: what is accepted, what is refused, and how it is said."""

from pathlib import Path

import pytest

from holter.detectors.chosen import choose
from holter.detectors.registry import all_detectors
from holter.errors import SettingsError, UnknownNameError
from holter.settings import Settings, find_settings, read_settings


def write(folder: Path, text: str, name: str = "holter.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_run_everything(tmp_path):
    assert [type(d).name for d in choose(find_settings(tmp_path)).detectors] == list(all_detectors())


def test_nearest_file_wins(tmp_path):
    write(tmp_path, '[tool.holter]\nfail-on = "info"\n', "pyproject.toml")
    inner = tmp_path / "inner"
    inner.mkdir()
    assert find_settings(inner).fail_on == "info"
    write(inner, 'fail-on = "never"\n')
    assert find_settings(inner).fail_on == "never"


def test_a_pyproject_without_our_table_is_passed_over(tmp_path):
    write(tmp_path, 'fail-on = "warning"\n')
    inner = tmp_path / "inner"
    inner.mkdir()
    write(inner, '[project]\nname = "x"\n', "pyproject.toml")
    assert find_settings(inner).fail_on == "warning"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("fail-on = 'often'", "often"),
        ("fail_on = 'info'", "fail_on"),
        ("select = 'kl-*'", "list"),
        ("[ignore]\nkl-spike = ''", "reason"),
        ("detectors = 3", "table"),
        ("[detectors.kl-runaway]\nz = 'high'", "number"),
        ("[detectors.kl-runaway]\nz = true", "number"),
        ("eval-size = 0", "above 0"),
        ("this is not toml", "TOML"),
    ],
)
def test_what_is_wrong_is_said_with_the_file(tmp_path, text, says):
    path = write(tmp_path, text)
    with pytest.raises(SettingsError, match=says) as error:
        read_settings(path)
    assert str(path) in str(error.value)


def test_patterns_and_codes_select():
    assert {type(d).name for d in choose(Settings(select=("kl-*",))).detectors} == {
        n for n in all_detectors() if n.startswith("kl-")
    }
    assert [type(d).name for d in choose(Settings(select=("HLT201",))).detectors] == ["kl-runaway"]


def test_ignored_detectors_do_not_run_and_are_named():
    chosen = choose(Settings(ignore={"kl-runaway": "expected"}))
    assert "kl-runaway" not in {type(d).name for d in chosen.detectors}
    assert chosen.ignored == {"kl-runaway": "expected"}


def test_limits_reach_the_detector():
    (found,) = choose(Settings(select=("kl-runaway",), limits={"kl-runaway": {"z": 9.0}})).detectors
    assert found.z == 9.0


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        (Settings(select=("kl-runawy",)), UnknownNameError),
        (Settings(ignore={"no-such": "why"}), UnknownNameError),
        (Settings(limits={"kl-runawy": {"z": 1.0}}), UnknownNameError),
        (Settings(limits={"kl-runaway": {"zz": 1.0}}), SettingsError),
        (Settings(limits={"kl-runaway": {"ratio": 0.5}}), SettingsError),
    ],
)
def test_names_and_limits_that_do_not_exist_are_refused(settings, error):
    with pytest.raises(error):
        choose(settings)
