"""What can be policy, reference, reward model, value model and data set."""

import copy

import pytest
import tiny_world
import torch
from transformers import AutoModelForSequenceClassification, DataCollatorWithPadding

from holter.errors import SettingsError


@pytest.fixture
def reward_model(policy):
    """Pays for happy words at the end, more or less: random weights on a taught trunk."""
    return scored(policy, seed=1)


def scored(policy, *, seed):
    config = copy.deepcopy(policy.config)
    config.num_labels = 1
    torch.manual_seed(seed)
    model = AutoModelForSequenceClassification.from_config(config)
    model.model.load_state_dict(policy.model.state_dict())
    return model.eval()


def test_the_snippets_of_trl_run(policy, tokenizer, reward_model, tmp_path, trained):
    """Arguments and columns as its documentation has them."""
    from datasets import Dataset

    from holter import PPOConfig, PPOTrainer

    rows = Dataset.from_dict({"input_ids": [tokenizer(p)["input_ids"] for p in tiny_world.prompts(32)]})
    value_model = scored(policy, seed=2)
    trainer = PPOTrainer(
        args=PPOConfig(
            output_dir=str(tmp_path / "out"),
            report_to="tensorboard",
            logging_dir=str(tmp_path / "events"),
            total_episodes=32,
            per_device_train_batch_size=4,
            gradient_accumulation_steps=2,
            num_ppo_epochs=1,
            num_mini_batches=1,
            stop_token="eos",
            missing_eos_penalty=1.0,
            response_length=20,
            use_cpu=True,
            save_strategy="no",
            disable_tqdm=True,
            dataloader_pin_memory=False,
        ),
        processing_class=tokenizer,
        model=policy,
        ref_model=copy.deepcopy(policy),
        reward_model=reward_model,
        value_model=value_model,
        train_dataset=rows,
        eval_dataset=rows.select(range(4)),
        data_collator=DataCollatorWithPadding(tokenizer),
    )
    rows = trained(trainer)
    assert [row["episode"] for row in rows] == [8, 16, 24, 32]
    assert list((tmp_path / "events").iterdir())
    found = trainer.evaluate()
    assert "eval_reward" in found


def test_a_reward_model_reads_the_end_token_and_no_padding(ppo, trained, reward_model, tokenizer):
    trainer = ppo((), reward_model=reward_model, max_steps=1)
    model = trainer.rewards.functions[0]
    prompts = ["about the dog :", "about a cat :"]
    words = [[*map(tiny_world.IDS.get, ["a", "dog", "is", "good", "."]), tiny_world.EOS], [tiny_world.IDS["the"]]]
    found = model(prompts=prompts, completion_ids=words)
    for prompt, completion, score in zip(prompts, words, found, strict=True):
        alone = torch.tensor([tokenizer(prompt)["input_ids"] + completion])
        with torch.no_grad():
            expected = reward_model.score(reward_model.model(alone).last_hidden_state)[0, -1, 0]
        torch.testing.assert_close(score, expected, rtol=1e-5, atol=1e-5)


def test_a_reward_model_of_another_tokenizer_is_refused(ppo, policy):
    config = copy.deepcopy(policy.config)
    config.num_labels, config.vocab_size = 1, 20
    with pytest.raises(SettingsError, match="pass it in reward_funcs"):
        ppo((), reward_model=AutoModelForSequenceClassification.from_config(config))


def test_reward_model_and_functions_add_up(ppo, trained, reward_model):
    trainer = ppo([tiny_world.on_topic], reward_model=reward_model, reward_weights=[0.5, 2.0], max_steps=1)
    row = trained(trainer)[0]
    name = trainer.rewards.names[0]
    expected = 0.5 * row[f"rewards/{name}/mean"] + 2 * row["rewards/on_topic/mean"]
    assert row["objective/scores"] == pytest.approx(expected, rel=1e-4)


def test_another_reference_has_a_kl_at_once(ppo, trained, policy):
    other = copy.deepcopy(policy)
    with torch.no_grad():
        other.lm_head.weight.add_(0.1 * torch.randn_like(other.lm_head.weight))
    assert abs(trained(ppo(ref_model=other, max_steps=1))[0]["objective/kl"]) > 0.01


@pytest.mark.parametrize("shared", [False, True])
def test_an_adapter_is_trained_and_the_reference_is_the_model_without(ppo, trained, policy, shared):
    peft = pytest.importorskip("peft")
    plain = {n: p.clone() for n, p in policy.named_parameters()}
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    trainer = ppo(peft_config=config, share_value_trunk=shared, learning_rate=1e-2, max_steps=3)
    rows = trained(trainer)
    assert rows[0]["objective/kl"] == pytest.approx(0, abs=1e-4)
    assert abs(rows[-1]["objective/kl"]) > 1e-3
    base = {n.replace(".base_layer", ""): p for n, p in trainer.policy.get_base_model().named_parameters()}
    for name, parameter in plain.items():
        assert torch.equal(base[name], parameter), name


def test_a_value_model_made_from_the_policy_expects_nothing_at_first(ppo, trained):
    trainer = ppo(max_steps=2)
    rows = trained(trainer)
    assert rows[0]["value/mean"] == 0
    assert rows[1]["value/mean"] != 0


def test_a_value_model_with_two_outputs_is_refused(ppo, policy):
    config = copy.deepcopy(policy.config)
    config.num_labels = 2
    with pytest.raises(SettingsError, match="num_labels=1"):
        ppo(value_model=AutoModelForSequenceClassification.from_config(config))


def test_a_causal_model_is_no_value_model(ppo, policy):
    with pytest.raises(SettingsError, match="no sequence classification model"):
        ppo(value_model=copy.deepcopy(policy))


def test_prompts_that_come_as_tokens_stay_those_tokens(ppo, trained, tokenizer):
    seen = []

    def heard(prompts, **_):
        seen.extend(prompts)
        return [0.0] * len(prompts)

    # The end token is no text, and would be lost on the way to text and back.
    ids = [[tiny_world.EOS, *tokenizer(p)["input_ids"], 0] for p in tiny_world.prompts(32)]
    mask = [[1] * (len(row) - 1) + [0] for row in ids]
    rows = [{"input_ids": row, "attention_mask": m} for row, m in zip(ids, mask, strict=True)]
    trainer = ppo([heard], rows=rows, max_steps=1)
    row = trained(trainer)[0]
    assert row["prompt_length/mean"] == 5
    assert all(trainer.tokens([p])[0] == [tiny_world.EOS, *tokenizer(str(p))["input_ids"]] for p in seen)


def test_a_stream_of_prompts_will_do(ppo, trained):
    from datasets import Dataset

    trainer = ppo(max_steps=3)
    trainer.train_dataset = Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(64)]).to_iterable_dataset()
    assert len(trained(trainer)) == 3


@pytest.mark.parametrize("which", ["value_model", "ref_model"])
def test_nothing_is_packed_where_one_of_the_models_would_mix_it_up(ppo, policy, reward_model, which):
    import copy

    model = copy.deepcopy(policy if which == "ref_model" else reward_model)
    inner = model.model
    forward = inner.forward
    inner.forward = lambda *args, position_ids=None, **options: forward(*args, **options)
    tokens = [[5, 6, 7], [8]], [[11, 12, 2], [13, 14, 15, 16, 2]]
    assert ppo().layout(*tokens) == "packed"
    assert ppo(**{which: model}).layout(*tokens) == "right"
