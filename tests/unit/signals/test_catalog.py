"""The catalog of signals is held to what a reference book must be: complete, consistent, findable."""

import re

import pytest

from holter.signals.base import Reduction, Unit
from holter.signals.catalog import catalog, concepts, find, signal

SIGNALS = list(catalog().values())
EVERY = pytest.mark.parametrize("each", SIGNALS, ids=lambda s: s.key)

TRL_PPO = [
    "eps",
    "objective/kl",
    "objective/entropy",
    "objective/non_score_reward",
    "objective/rlhf_reward",
    "objective/scores",
    "policy/approxkl_avg",
    "policy/clipfrac_avg",
    "loss/policy_avg",
    "loss/value_avg",
    "val/clipfrac_avg",
    "policy/entropy_avg",
    "val/ratio",
    "val/ratio_var",
    "val/num_eos_tokens",
    "lr",
    "episode",
]
TRL_GRPO = [
    "num_tokens",
    "completions/mean_length",
    "completions/min_length",
    "completions/max_length",
    "completions/clipped_ratio",
    "completions/mean_terminated_length",
    "completions/min_terminated_length",
    "completions/max_terminated_length",
    "rewards/{name}/mean",
    "rewards/{name}/std",
    "reward",
    "reward_std",
    "kl",
    "entropy",
    "clip_ratio",
    "clip_ratio/low_mean",
    "clip_ratio/low_min",
    "clip_ratio/high_mean",
    "clip_ratio/high_max",
    "clip_ratio/region_mean",
    "frac_reward_zero_std",
    "step_time",
]


def filled(key, value):
    return re.sub(r"\{\w+\}", value, key)


@EVERY
def test_says_what_it_is_what_is_healthy_and_who_says_so(each):
    assert each.title
    assert each.what
    assert each.formula
    assert each.sign
    assert each.healthy
    assert each.sources
    assert all(each.sources)


@EVERY
def test_prose_is_whole_sentences(each):
    for text in (each.what, each.healthy, each.differs):
        assert text == text.strip()
        assert not text or text.endswith("."), text
        assert "  " not in text


@EVERY
def test_title_is_words_in_sentence_case(each):
    assert each.title[0].isupper()
    assert not re.search(r"[/_{}.]", each.title)
    later = each.title.split()[1:]
    assert all(w.islower() or w.isupper() or w in {"Liger"} for w in later), each.title


def test_titles_are_unique():
    titles = [s.title for s in SIGNALS]
    assert len(set(titles)) == len(titles)


def test_phrase_keeps_acronyms_and_lowers_words():
    assert signal("kl").phrase == "KL to the reference policy"
    assert signal("loss/value_avg").phrase == "value loss"
    assert signal("objective/kl").phrase == "KL to the reference policy per sequence"


@EVERY
def test_moves_with_other_signals_that_exist(each):
    assert each.moves_with
    assert set(each.moves_with) <= set(catalog())
    assert each.key not in each.moves_with
    assert len(set(each.moves_with)) == len(each.moves_with)


@EVERY
def test_range_fits_the_unit(each):
    assert each.low < each.high
    if each.unit in (Unit.FRACTION, Unit.PROBABILITY):
        assert (each.low, each.high) == (0.0, 1.0)
    counted = {
        Unit.TOKENS, Unit.COUNT, Unit.SECONDS, Unit.STEPS, Unit.EPISODES, Unit.TURNS, Unit.SAMPLES, Unit.GIGABYTES,
        Unit.REWARD_SQUARED, Unit.TOKENS_PER_SECOND, Unit.EPISODES_PER_SECOND, Unit.SAMPLES_PER_SECOND,
    }  # fmt: skip
    if each.unit in counted or each.reduction is Reduction.STD:
        assert each.low == 0.0


@pytest.mark.parametrize("key", [*TRL_PPO, *TRL_GRPO])
def test_trl_documented_metric_is_there_with_documentation_and_code_compared(key):
    each = catalog()[key]
    assert "ocument" in each.differs
    assert any("TRL" in s for s in each.sources)


@pytest.mark.parametrize("key", [k for k in [*TRL_PPO, *TRL_GRPO] if k not in {"episode", "num_tokens", "step_time"}])
def test_trl_documented_metric_has_numbers_of_healthy_runs(key):
    assert re.search(r"\d", catalog()[key].healthy)


@EVERY
def test_concept_lists_its_signals_in_one_order(each):
    listed = concepts()[each.concept]
    assert each in listed
    assert [(s.rank, s.key) for s in listed] == sorted((s.rank, s.key) for s in listed)


@EVERY
def test_signals_of_one_concept_differ_in_more_than_the_name(each):
    if each.concept == "axis":
        return
    kin = [s for s in concepts()[each.concept] if s is not each]
    assert all(s.rank != each.rank for s in kin), "detectors could not tell which to ask first"


LABELLED = [s for s in SIGNALS if s.labels]


@pytest.mark.parametrize("label", ["brevity", "x", "gsm8k/main", "rm v2.1", "(a|b)", "mean", "std_0"])
@pytest.mark.parametrize("each", LABELLED, ids=lambda s: s.key)
def test_labelled_key_is_found_with_its_labels(each, label):
    found = find(filled(each.key, label))
    assert found is not None
    assert found[0] is each
    assert found[1] == dict.fromkeys(each.labels, label)


@EVERY
def test_every_key_finds_itself(each):
    assert find(each.key) == (each, {})


def test_filled_keys_never_collide():
    keys = [filled(s.key, "zz") for s in SIGNALS]
    assert len(set(keys)) == len(keys)
    assert [find(k)[0] for k in keys] == SIGNALS


@pytest.mark.parametrize("each", [s for s in SIGNALS if s.key.startswith("eval/")], ids=lambda s: s.key)
def test_any_evaluation_score_is_the_last_resort(each):
    assert find(filled(each.key, "7"))[0] is each


def test_standard_error_belongs_to_any_evaluation_score():
    for score in ("gsm8k", "reward", "alignment/safety", "math/pass_at_8"):
        found, labels = find(f"eval/{score}/standard_error")
        assert found.concept == "eval_standard_error"
        assert labels == {"name": score}


def test_an_unknown_evaluation_score_is_a_score_and_an_unknown_key_is_nothing():
    assert find("eval/mmlu")[0].key == "eval/{name}"
    assert find("mmlu") is None
    assert find("eval/") is None


@pytest.mark.parametrize(
    ("key", "concept"),
    [
        ("reward/nan_fraction", "reward_nan_fraction"),
        ("eval/alignment/{name}", "eval_alignment"),
        ("eval/preference_accuracy", "eval_preference_accuracy"),
        ("eval/preference_margin", "eval_preference_margin"),
        ("advantages/abs_max", "advantage_abs_max"),
        ("value/mean_error", "value_bias"),
    ],
)
def test_what_trl_does_not_log_has_a_signal_too(key, concept):
    assert catalog()[key].concept == concept
