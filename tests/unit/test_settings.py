"""Settings: what is accepted, what is refused, and how it is said."""

from pathlib import Path

import pytest

from holter.detectors.chosen import choose
from holter.detectors.registry import all_detectors
from holter.errors import SettingsError, UnknownNameError
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Finding, Severity
from holter.runs.canonical import canonical
from holter.settings import AlertSettings, Settings, find_settings, read_settings, settings_of_run

from .runs.logs import log_of


def write(folder: Path, text: str, name: str = "holter.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_run_everything(tmp_path):
    assert [type(d).name for d in choose(find_settings(tmp_path)).detectors] == list(all_detectors())


def test_a_folder_that_cannot_be_looked_into_holds_no_settings(tmp_path):
    too_long = tmp_path / ("y" * 5000)
    assert find_settings(too_long) == Settings()
    assert settings_of_run(Settings(), too_long / "log.jsonl") == Settings()


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


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('select = ["kl-runawy"]', "Unknown detector 'kl-runawy'. Did you mean kl-runaway"),
        ('[ignore]\n"kl-runawy" = "why"', "Unknown detector 'kl-runawy'"),
        ("[detectors.kl-runawy]\nz = 9", "Unknown detector 'kl-runawy'"),
        ("[detectors.reward-hacking]\nagree = 2.7", "reward-hacking: agree = 2.7 must be a whole number"),
    ],
)
def test_what_a_file_asks_of_a_detector_in_vain_is_refused_with_the_files_name(tmp_path: Path, text, says):
    path = write(tmp_path, text)
    with pytest.raises((UnknownNameError, SettingsError)) as error:
        choose(read_settings(path))
    assert str(error.value).startswith(f"{path}:")
    assert says in str(error.value)


def test_a_detector_that_was_typed_wrongly_is_not_blamed_on_a_file():
    with pytest.raises(UnknownNameError, match=r"^Unknown detector 'kl-runawy'"):
        choose(Settings(select=("kl-runawy",)))


def test_a_whole_number_with_a_point_is_one():
    (found,) = choose(Settings(select=("reward-hacking",), limits={"reward-hacking": {"agree": 3.0}})).detectors
    assert found.agree == 3
    assert isinstance(found.agree, int)


def test_a_rule_is_lowered_with_the_reason_in_the_finding(tmp_path: Path):
    path = tmp_path / "holter.toml"
    path.write_text('[severity]\n"kl-nonzero-*" = { level = "info", reason = "the reference is a teacher" }\n')
    found = _at_start(read_settings(path))
    assert found.severity is Severity.INFO
    assert found.title.endswith("[lowered from critical to info by the settings: the reference is a teacher]")


def test_a_rule_is_raised_while_it_holds(tmp_path: Path):
    path = tmp_path / "holter.toml"
    path.write_text('[severity]\nkl-nonzero-at-start = { level = "critical", reason = "references must agree" }\n')
    assert _at_start(read_settings(path), kl=0.5).severity is Severity.CRITICAL
    assert _at_start(Settings(), kl=0.5).severity is Severity.WARNING


@pytest.mark.parametrize(
    "said",
    ['kl-spike = "info"', 'kl-spike = { level = "info" }', 'kl-spike = { level = "low", reason = "why" }'],
)
def test_a_changed_severity_needs_a_level_and_a_reason(tmp_path: Path, said: str):
    path = tmp_path / "holter.toml"
    path.write_text(f"[severity]\n{said}\n")
    with pytest.raises(SettingsError, match=r"a level .* and a reason"):
        read_settings(path)


def test_a_file_in_the_folder_of_a_run_adds_to_the_settings_of_the_project(tmp_path: Path):
    project = Settings(ignore={"kl-spike": "known"}, limits={"kl-runaway": {"z": 9.0}})
    (tmp_path / "holter.toml").write_text(
        '[ignore]\nno-learning = "a smoke test"\n\n[detectors.kl-runaway]\nratio = 2.0\n'
    )
    both = settings_of_run(project, tmp_path)
    assert both.ignore == {"kl-spike": "known", "no-learning": "a smoke test"}
    assert both.limits == {"kl-runaway": {"z": 9.0, "ratio": 2.0}}
    assert settings_of_run(project, tmp_path / "elsewhere" / "log.jsonl") == project


def _at_start(settings: Settings, kl: float = 9.0) -> Finding:
    rows = [{"step": 1, "kl": kl, "reward": 0.1}]
    run = canonical(log_of(rows), speaks="holter")[0]
    return next(f for f in diagnose(run, settings).findings if f.detector == "kl-nonzero-at-start")


def test_settings_say_what_people_hear_of(tmp_path):
    (tmp_path / "holter.toml").write_text('[alerts]\nfloor = "critical"\ncool-down = 3600\nquiet-rows = 0\n')
    assert find_settings(tmp_path).alerts == AlertSettings("critical", 3600.0, 0)
    assert AlertSettings() == Settings().alerts


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('alerts = "all"', "must be a table"),
        ('[alerts]\nflor = "info"', "no setting 'flor'"),
        ('[alerts]\nfloor = "never"', "floor is 'never'"),
        ("[alerts]\ncool-down = -1", "cool-down must be a number of seconds"),
        ("[alerts]\ncool-down = nan", "cool-down must be a number of seconds"),
        ("[alerts]\nquiet-rows = 1.5", "quiet-rows must be a number of rows"),
        ("[alerts]\nquiet-rows = true", "quiet-rows must be a number of rows"),
    ],
)
def test_a_wrong_setting_of_alerts_is_named_with_its_file(tmp_path, text, why):
    (tmp_path / "holter.toml").write_text(text)
    with pytest.raises(SettingsError, match=why) as error:
        find_settings(tmp_path)
    assert "holter.toml" in str(error.value)
