"""That `holter train --help` says every setting in every language: Holter's own, and those of transformers as they are pinned."""

import dataclasses
import re
from pathlib import Path

import pytest
from click.testing import CliRunner

from holter import language
from holter.cli import holter
from tests.unit.catalogues import messages, written

transformers = pytest.importorskip("transformers")
OTHERS = [code for code in language.LANGUAGES if code != language.SOURCE]
PINNED = re.search(
    r"^transformers==(\S+)$", (Path(__file__).parents[2] / "constraints.txt").read_text(encoding="utf-8"), re.MULTILINE
)
ENGLISH = re.compile(r"(?<![\w/.`'=-])[A-Za-z][a-z]+(?: [a-z]{2,}){2,}")
as_pinned = pytest.mark.skipif(
    PINNED is None or PINNED[1] != transformers.__version__, reason="the catalogue is that of the pinned transformers"
)


def settings():
    """Help texts of all settings, as the command shows them."""
    from holter import GRPOConfig, PPOConfig

    fields = [f for config in (GRPOConfig, PPOConfig) for f in dataclasses.fields(config) if f.init]
    return {" ".join(str(f.metadata.get("help", "")).replace("%%", "%").split()): f.name for f in fields}


@as_pinned
@pytest.mark.parametrize("code", OTHERS)
def test_every_setting_of_the_pinned_transformers_is_translated_and_nothing_is_left_over(code):
    wanted = settings()
    missing = {name: text for text, name in wanted.items() if text not in written(code)}
    assert not missing
    left = messages(code, "transformers").keys() - wanted.keys()
    assert not left


@as_pinned
@pytest.mark.parametrize("algorithm", ["grpo", "ppo"])
def test_the_help_of_a_trainer_has_no_english_sentence_left(algorithm):
    shown = CliRunner().invoke(
        holter, ["train", algorithm, "--help"], env={"HOLTER_LANG": "zh"}, catch_exceptions=False
    )
    assert shown.exit_code == 0
    assert len(shown.output.splitlines()) > 100
    assert not ENGLISH.findall(re.sub(r"`[^`]*`|holter train \w+", " ", shown.output))


def test_a_setting_that_no_catalogue_knows_stays_in_english(monkeypatch):
    monkeypatch.setattr(language, "_catalogue", lambda _: language.gettext.NullTranslations())
    shown = CliRunner().invoke(holter, ["train", "grpo", "--help"], env={"HOLTER_LANG": "zh"}, catch_exceptions=False)
    assert shown.exit_code == 0
    assert "Peak learning rate." in shown.output
