import functools
import math

import pytest
import torch
from transformers import LlamaConfig, LlamaForSequenceClassification

from holter import GRPOConfig
from holter.errors import SettingsError
from holter.trainers.prompts import PromptTokenizer
from holter.trainers.rewards import RewardError, Rewards, Texts

CPU = torch.device("cpu")
TEXTS = Texts(["p"] * 3, ["a", "bb", "ccc"], [[1], [1, 2], [1, 2, 3]], {"answer": ["x", "y", "z"]})


def rewards(functions, tokenizer, **settings):
    args = GRPOConfig("out", use_cpu=True, report_to="none", **settings)
    return Rewards(functions, args, PromptTokenizer(tokenizer, None, {}), settings.pop("tokenizers", None))


def length(prompts, completions, completion_ids, answer, **_):
    assert answer == ["x", "y", "z"]
    assert [len(i) for i in completion_ids] == [1, 2, 3]
    return [float(len(c)) for c in completions]


def sometimes(completions, **_):
    return [None, 1.0, float("nan")]


async def later(completions, **_):
    return torch.tensor([1.0, 2.0, 3.0])


class Judge:
    def __call__(self, completions, **_):
        return [0, 1, True]


def test_functions_of_all_kinds_are_called_and_named_as_trl_names_them(tokenizer):
    made = rewards([length, later, Judge(), functools.partial(sometimes, extra=1)], tokenizer)
    assert made.names == ["length", "later", "Judge", "sometimes"]
    scores = made(TEXTS, CPU)
    assert scores[:, :3].tolist() == [[1, 1, 0], [2, 2, 1], [3, 3, 1]]
    assert scores[:, 3].isnan().tolist() == [True, False, True]


def test_rewards_that_a_model_computed_carry_no_gradient(tokenizer):
    def learned(completions, **_):
        return torch.ones(3, requires_grad=True) * 2

    assert not rewards([learned], tokenizer)(TEXTS, CPU).requires_grad


def test_two_functions_of_one_name_have_columns_of_their_own(tokenizer):
    assert rewards([length, length], tokenizer).names == ["length", "length_2"]


def test_what_nobody_scored_is_nan_and_a_missing_part_counts_nothing(tokenizer):
    made = rewards([length, sometimes], tokenizer, reward_weights=[0.0, 2.0])
    total = made.total(made(TEXTS, CPU))
    assert math.isnan(total[0])
    assert total[1] == 2.0
    both = rewards([length, sometimes], tokenizer, reward_weights=[1.0, 2.0])
    assert both.total(both(TEXTS, CPU)).tolist() == [1.0, 4.0, 3.0]


def test_async_functions_run_together_and_inside_a_running_loop(tokenizer):
    import asyncio

    together = []

    async def waits(completions, **_):
        together.append("in")
        await asyncio.sleep(0)
        together.append("out")
        return [0.0] * len(completions)

    made = rewards([waits, functools.partial(waits)], tokenizer)

    async def notebook():
        return made(TEXTS, CPU)

    assert asyncio.run(notebook()).shape == (3, 2)
    assert together == ["in", "in", "out", "out"]


def test_what_a_function_raises_by_itself_is_not_explained_away(tokenizer):
    def broken(completions, **_):
        return len(3)

    with pytest.raises(TypeError, match="has no len"):
        rewards([broken], tokenizer)(TEXTS, CPU)


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (lambda completions, **_: [1.0], "returned 1 rewards for 3 completions"),
        (lambda completions: [1.0] * 3, "is given prompts, completions, completion_ids, .* let it take \\*\\*kwargs"),
        (lambda completions, **_: torch.ones(2), "returned 2 rewards for 3 completions"),
        (lambda completions, **_: "abc", "must return a list of numbers or None"),
        (lambda completions, **_: None, "must return a list of numbers or None"),
        (lambda completions, **_: [[1.0], [2.0], [3.0]], "must return a list of numbers or None"),
    ],
)
def test_results_that_are_no_rewards_are_refused_by_the_functions_name(tokenizer, function, said):
    function.__name__ = "oops"
    with pytest.raises(RewardError, match=f"'oops' {said}"):
        rewards([function], tokenizer)(TEXTS, CPU)


@pytest.mark.parametrize(
    ("functions", "settings", "said"),
    [
        ([], {}, "at least one reward function"),
        (None, {}, "at least one reward function"),
        ([length], {"reward_weights": [1.0, 2.0]}, "2 weights for 1 reward functions"),
        ([3], {}, "neither callable nor a model"),
    ],
)
def test_contradictions_are_refused(tokenizer, functions, settings, said):
    with pytest.raises(SettingsError, match=said):
        rewards(functions, tokenizer, **settings)


def test_reward_models_score_prompt_and_completion_by_path_or_object(tokenizer, tmp_path):
    torch.manual_seed(0)
    model = LlamaForSequenceClassification(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=16,
            intermediate_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            num_labels=1,
            pad_token_id=0,
        )
    )
    model.save_pretrained(tmp_path / "my-judge")
    tokenizer.save_pretrained(tmp_path / "my-judge")
    by_path = rewards([str(tmp_path / "my-judge"), length], tokenizer)
    assert by_path.names == ["my-judge", "length"]
    texts = Texts(
        ["about the dog :"] * 3, [" a dog .", " my cat sees the dog .", ""], TEXTS.completion_ids, TEXTS.columns
    )
    scores = by_path(texts, CPU)[:, 0]
    for i, completion in enumerate(texts.completions):
        ids = tokenizer("about the dog :" + completion, return_tensors="pt")["input_ids"]
        torch.testing.assert_close(scores[i], model.eval()(ids).logits[0, 0])


def test_a_reward_model_with_several_outputs_is_refused(tokenizer):
    config = LlamaConfig(vocab_size=8, hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1)
    config.num_labels = 2
    with pytest.raises(SettingsError, match="has 2 outputs; a reward is one number"):
        rewards([LlamaForSequenceClassification(config)], tokenizer)
