"""What the trainer rides on: adapters, checkpointing, precision, callbacks, datasets of all kinds."""

import copy
import math

import pytest
import tiny_world
import torch
from transformers import TrainerCallback

from holter import GRPOTrainer
from holter.errors import SettingsError
from holter.trainers.models import frozen_copy, without_dropout


def test_trainers_are_offered_by_name_and_nothing_else_is():
    import holter

    assert {"GRPOConfig", "GRPOTrainer"} <= set(dir(holter))
    with pytest.raises(AttributeError, match="no attribute 'GRPO'"):
        holter.GRPO  # noqa: B018


def test_without_torch_the_way_to_get_it_is_said(monkeypatch):
    import holter

    def missing(name):
        raise ModuleNotFoundError("No module named 'torch'", name="torch")

    monkeypatch.setattr("importlib.import_module", missing)
    with pytest.raises(ImportError, match=r"holter.GRPOTrainer needs torch: pip install 'holter\[train\]'"):
        holter.GRPOTrainer  # noqa: B018


def test_the_reference_is_the_policy_as_it_was_and_stays_so(grpo, trained, taught):
    trainer = grpo(beta=0.04, learning_rate=1e-2)
    rows = trained(trainer)
    assert rows[0]["kl"] < 1e-9
    assert rows[1]["kl"] > 1e-4
    for name, value in trainer.reference.state_dict().items():
        assert torch.equal(value, taught.state_dict()[name])
    assert not any(p.requires_grad for p in trainer.reference.parameters())


def test_an_adapters_reference_is_the_model_without_it(grpo, trained, taught):
    peft = pytest.importorskip("peft")
    adapter = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], init_lora_weights=True, task_type="CAUSAL_LM")
    trainer = grpo(beta=0.04, learning_rate=5e-2, peft_config=adapter, max_steps=3)
    rows = trained(trainer)
    assert trainer.reference is None
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-9)
    assert rows[2]["kl"] > 1e-4
    changed = [n for n, p in trainer.model.named_parameters() if p.requires_grad]
    assert changed
    assert all("lora_" in n for n in changed)
    base = trainer.model.get_base_model().state_dict()
    assert torch.equal(base["model.embed_tokens.weight"], taught.state_dict()["model.embed_tokens.weight"])
    assert rows[2]["sampling/sampling_logp_difference/max"] < 1e-4


def test_the_reference_of_a_trained_adapter_is_a_frozen_copy_of_it(grpo, trained, policy):
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=4, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
    model = peft.get_peft_model(policy, config)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "lora_B" in name:
                parameter.normal_(std=0.5)
    before = {n: p.clone() for n, p in model.named_parameters() if "lora_" in n}
    trainer = grpo(model=model, beta=0.04, learning_rate=5e-2, max_steps=3)
    rows = trained(trainer)
    assert rows[0]["kl"] == pytest.approx(0, abs=1e-9)
    assert rows[2]["kl"] > 1e-4
    after = dict(trainer.policy.named_parameters())
    for name, was in before.items():
        assert not torch.equal(after[name], was) or "lora_A" in name
        copied = after[name.replace(".default.", ".ref.")]
        assert torch.equal(copied, was)
        assert not copied.requires_grad
    assert trainer.policy.active_adapter == "default"


def test_two_adapters_are_one_too_many(grpo, policy):
    peft = pytest.importorskip("peft")
    config = peft.LoraConfig(r=4, target_modules=["q_proj"], task_type="CAUSAL_LM")
    with pytest.raises(SettingsError, match="has one already"):
        grpo(model=peft.get_peft_model(policy, config), peft_config=config)


@pytest.mark.parametrize("extra", [{"gradient_checkpointing": True}, {"torch_compile": False, "optim": "sgd"}])
def test_gradients_do_not_depend_on_how_they_are_stored(grpo, trained, taught, extra):
    torch.manual_seed(0)
    plain = trained(grpo(model=copy.deepcopy(taught), beta=0.04, max_steps=1))
    torch.manual_seed(0)
    other = trained(grpo(model=copy.deepcopy(taught), beta=0.04, max_steps=1, **extra))
    assert other[0]["grad_norm"] == pytest.approx(plain[0]["grad_norm"], rel=1e-4)
    assert other[0]["reward"] == plain[0]["reward"]


def test_mixed_precision_trains_and_measures_its_own_noise(grpo, trained):
    trainer = grpo(beta=0.04, bf16=True, num_iterations=2, max_steps=4, learning_rate=1e-3)
    rows = trained(trainer)
    assert trainer._packs
    assert all(math.isfinite(v) for r in rows for v in r.values())
    assert 0 < rows[0]["sampling/sampling_logp_difference/mean"] < 0.1
    assert 0.5 < rows[1]["val/ratio"] < 1.5


def test_callbacks_and_a_given_optimizer_are_used(grpo, trained, policy):
    seen = []

    class Watch(TrainerCallback):
        def on_step_end(self, args, state, control, **_):
            seen.append(state.global_step)

        def on_log(self, args, state, control, logs=None, **_):
            seen.append(sorted(logs)[:1])

    optimizer = torch.optim.SGD(policy.parameters(), lr=0.123)
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    rows = trained(grpo(model=policy, callbacks=[Watch()], optimizers=(optimizer, scheduler)))
    assert [s for s in seen if isinstance(s, int)] == [1, 2]
    assert rows[0]["learning_rate"] == 0.123


def test_learning_rates_of_several_groups_are_all_logged(grpo, trained, policy):
    parameters = list(policy.parameters())
    optimizer = torch.optim.SGD([{"params": parameters[:3], "lr": 0.1}, {"params": parameters[3:], "lr": 0.2}])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda _: 1.0)
    row = trained(grpo(model=policy, optimizers=(optimizer, scheduler)))[0]
    assert (row["learning_rate"], row["learning_rate/0"], row["learning_rate/1"]) == (0.1, 0.1, 0.2)


def test_a_model_can_be_given_by_path_and_its_tokenizer_is_found(grpo, trained, taught, tokenizer, tmp_path):
    from datasets import Dataset

    from holter import GRPOConfig

    taught.save_pretrained(tmp_path / "policy")
    tokenizer.save_pretrained(tmp_path / "policy")
    args = GRPOConfig(
        str(tmp_path / "out"),
        use_cpu=True,
        report_to="none",
        max_steps=1,
        save_strategy="no",
        max_completion_length=8,
        disable_tqdm=True,
        model_init_kwargs={"dtype": "float32"},
    )
    data = Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(8)])
    rows = trained(GRPOTrainer(str(tmp_path / "policy"), tiny_world.cheerfulness, args, data))
    assert rows[0]["completions/max_length"] <= 8
    with pytest.raises(SettingsError, match="is for a model given by name"):
        GRPOTrainer(copy.deepcopy(taught), tiny_world.cheerfulness, args, data, processing_class=tokenizer)


def test_streamed_prompts_train_too(grpo, trained, policy, tokenizer):
    from datasets import Dataset

    trainer = grpo()
    trainer.train_dataset = Dataset.from_list([{"prompt": p} for p in tiny_world.prompts(8)]).to_iterable_dataset()
    assert len(trained(trainer)) == 2


def test_conversations_train_too(grpo, trained, tokenizer):
    tokenizer.chat_template = (
        "{% for m in messages %}{{ 'about the ' + m['content'] + ' ' if m['role'] == 'user' else m['content'] }}{% endfor %}"
        "{% if add_generation_prompt %}:{% endif %}"
    )
    seen = []

    def reward(prompts, completions, **_):
        seen.append((prompts[0], completions[0]))
        return [float(len(c[0]["content"])) for c in completions]

    try:
        rows = [{"prompt": [{"role": "user", "content": noun}]} for noun in tiny_world.NOUNS]
        trained(grpo([reward], rows=rows))
    finally:
        tokenizer.chat_template = None
    prompt, completion = seen[0]
    assert prompt[0]["role"] == "user"
    assert completion[0]["role"] == "assistant"


def test_a_dataset_without_prompts_is_refused(grpo, trained):
    with pytest.raises(SettingsError, match="no column 'prompt', only question"):
        trained(grpo(rows=[{"question": "a"}] * 8))


def test_a_prompt_that_is_none_is_refused(grpo, trained):
    with pytest.raises(SettingsError, match="a prompt is a text or a list of messages, not None"):
        trained(grpo(rows=[{"prompt": None}] * 8))


def test_a_trainer_without_a_policy_or_with_settings_of_another_kind_is_refused(policy):
    from transformers import TrainingArguments

    from holter import PPOConfig, PPOTrainer

    with pytest.raises(SettingsError, match="there must be a policy to train"):
        GRPOTrainer(None, len, train_dataset=[{"prompt": "a"}])
    for trainer, wanted, given in (
        (GRPOTrainer, "GRPOConfig", PPOConfig("out", use_cpu=True)),
        (GRPOTrainer, "GRPOConfig", TrainingArguments("out", use_cpu=True)),
        (PPOTrainer, "PPOConfig", {"beta": 0.1}),
    ):
        said = f"{trainer.__name__}: args must be a {wanted}, not a {type(given).__name__}"
        with pytest.raises(SettingsError, match=said):
            trainer(model=policy, reward_funcs=len, args=given, train_dataset=[{"prompt": "a"}])


def test_only_prompts_reach_reward_functions_where_columns_are_dropped(grpo, trained):
    seen = []

    def reward(completions, **columns):
        seen.append(set(columns))
        return [0.0] * len(completions)

    rows = [{"prompt": p, "answer": 1} for p in tiny_world.prompts(8)]
    trained(grpo([reward], rows=rows, max_steps=1))
    trained(grpo([reward], rows=rows, max_steps=1, remove_unused_columns=True))
    assert "answer" in seen[0]
    assert "answer" not in seen[1]


def test_liger_without_the_package_is_refused_with_the_way_out(grpo, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "liger_kernel", None)
    with pytest.raises(SettingsError, match="pip install liger-kernel"):
        grpo(use_liger_loss=True)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"loss_type": "grpo", "num_iterations": 3, "gradient_accumulation_steps": 2, "temperature": 0.7, "delta": 1.5},
        {"loss_type": "dr_grpo", "beta": 0.0, "num_iterations": 2, "epsilon_high": 0.28},
        {"loss_type": "bnpo", "mask_truncated_completions": True, "max_completion_length": 13},
        {"importance_sampling_level": "sequence", "num_iterations": 2, "use_bias_correction_kl": False},
    ],
)
def test_ligers_loss_is_ours(grpo, trained, taught, settings):
    pytest.importorskip("liger_kernel.chunked_loss.grpo_loss")
    shared = {"beta": 0.04, "max_steps": 3, "learning_rate": 3e-3, **settings}
    ours = trained(grpo(model=copy.deepcopy(taught), **shared))
    theirs = trained(grpo(model=copy.deepcopy(taught), use_liger_loss=True, **shared))
    for row, other in zip(ours, theirs, strict=True):
        assert not {"clip_ratio/region_mean", "entropy"} & set(other)
        if shared.get("importance_sampling_level") != "sequence":
            assert other["clip_ratio"] == pytest.approx(row["clip_ratio/region_mean"], abs=1e-6)
        for key in ("loss", "grad_norm", *(["kl"] if shared["beta"] else [])):
            assert other[key] == pytest.approx(row[key], rel=1e-4, abs=1e-6)
    if "num_iterations" in settings:
        assert any(row["clip_ratio"] > 0 for row in theirs)


def test_a_frozen_copy_shares_nothing(policy):
    copied = frozen_copy(policy)
    with torch.no_grad():
        policy.lm_head.weight.add_(1.0)
    assert not torch.equal(copied.lm_head.weight, policy.lm_head.weight)


def test_decoding_in_parts_gives_completions_for_all(grpo, trained):
    row = trained(grpo(decode_batch_size=3, max_steps=1))[0]
    assert row["sampling/sampling_logp_difference/max"] < 1e-4


def test_dropout_is_switched_off_in_layers_and_in_functions():
    from transformers import OPTConfig, OPTForCausalLM

    sizes = {"hidden_size": 32, "word_embed_proj_dim": 32, "ffn_dim": 64, "num_attention_heads": 2}
    model = OPTForCausalLM(OPTConfig(vocab_size=50, num_hidden_layers=2, dropout=0.5, attention_dropout=0.5, **sizes))
    model.train()
    ids = torch.arange(5, 15).unsqueeze(0)
    without_dropout(model)
    assert torch.equal(model(ids).logits, model(ids).logits)
