import copy

import pytest
import tiny_world
import torch
from transformers import (
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from holter.trainers import rollout
from holter.trainers.decoder import READS, STEPS, Decoder
from holter.trainers.rollout import Sampling, SamplingError, sample
from holter.trainers.scoring import score, sequences

CPU = torch.device("cpu")
PROMPTS = [[5, 6, 7], [5, 6, 7], [8, 9], [10, 11, 12, 13]]
SMALL = {
    "vocab_size": 64,
    "hidden_size": 32,
    "intermediate_size": 48,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 64,
}
MODELS = {
    "llama": lambda: LlamaForCausalLM(LlamaConfig(**SMALL)),
    "llama, every head its own keys": lambda: LlamaForCausalLM(LlamaConfig(**{**SMALL, "num_key_value_heads": 4})),
    "llama with biases": lambda: LlamaForCausalLM(LlamaConfig(**SMALL, attention_bias=True, mlp_bias=True)),
    "mistral": lambda: MistralForCausalLM(MistralConfig(**SMALL, sliding_window=None)),
    "mistral, short window": lambda: MistralForCausalLM(MistralConfig(**SMALL, sliding_window=8)),
    "qwen2": lambda: Qwen2ForCausalLM(Qwen2Config(**SMALL)),
    "qwen3": lambda: Qwen3ForCausalLM(Qwen3Config(**SMALL, head_dim=16)),
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=64, n_embd=32, n_layer=2, n_head=4, n_positions=64)),
}
SERVED = {"llama", "llama, every head its own keys", "llama with biases", "mistral", "qwen2", "qwen3"}


def taught_forcing(model, prompt, completion, temperature=1.0):
    """Log-probabilities of a completion by one pass over all of it."""
    with torch.no_grad():
        logits = model(torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / temperature
    return logits.log_softmax(-1)[torch.arange(len(completion)), torch.tensor(completion)]


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_tokens_come_with_the_logprobs_that_the_model_gives_them(name, temperature):
    torch.manual_seed(0)
    model = MODELS[name]().train()
    found = sample(model, PROMPTS, Sampling(20, ends=(2,), temperature=temperature), CPU)
    assert model.training
    model.eval()
    for prompt, completion, logprobs in zip(PROMPTS, found.tokens, found.logprobs, strict=True):
        expected = taught_forcing(model, prompt, completion, temperature)
        torch.testing.assert_close(logprobs[: len(completion)], expected, rtol=0, atol=2e-5)
        assert (logprobs[len(completion) :] == 0).all()


@pytest.mark.parametrize("name", MODELS)
def test_the_written_out_passes_serve_the_architectures_they_name_and_no_other(name):
    torch.manual_seed(0)
    model = MODELS[name]()
    sample(model, PROMPTS, Sampling(12, ends=(2,)), CPU)
    assert (READS.get(model), STEPS.get(model)) == ((True, True) if name in SERVED else (None, None))


@pytest.mark.parametrize("name", sorted(SERVED))
@pytest.mark.parametrize("padding", ["left", "right"])
def test_written_out_scores_are_those_of_the_model(name, padding):
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    batch = sequences(PROMPTS, [[3, 4, 2], [5], [6, 7, 8, 9, 2], [2]], CPU, padding=padding)
    with torch.no_grad():
        first = score(model, batch, temperature=1.0)
        assert READS[model] is True
        again = score(model, batch, temperature=1.0)
    torch.testing.assert_close(again.logprobs, first.logprobs, rtol=0, atol=1e-5)


@pytest.mark.parametrize("broken", ["model.layers.0.mlp", "model.layers.1.self_attn"])
def test_a_model_that_the_written_out_passes_get_wrong_goes_on_by_itself(broken):
    torch.manual_seed(0)
    model = MODELS["llama"]()
    changed = (lambda _, __, out: (2 * out[0], *out[1:])) if "attn" in broken else (lambda _, __, out: 2 * out)
    model.get_submodule(broken).register_forward_hook(changed)
    found = sample(model, PROMPTS, Sampling(20, ends=(2,)), CPU)
    assert READS[model] is False
    for prompt, completion, logprobs in zip(PROMPTS, found.tokens, found.logprobs, strict=True):
        torch.testing.assert_close(
            logprobs[: len(completion)], taught_forcing(model.eval(), prompt, completion), rtol=0, atol=2e-5
        )


def test_a_decoding_step_that_goes_wrong_is_noticed_too(monkeypatch):
    torch.manual_seed(0)
    model = MODELS["llama"]()
    step = Decoder.__call__
    monkeypatch.setattr(Decoder, "__call__", lambda self, *args: step(self, *args) + 1.0)
    found = sample(model, PROMPTS, Sampling(20, ends=(2,)), CPU)
    assert (READS[model], STEPS[model]) == (True, False)
    for prompt, completion, logprobs in zip(PROMPTS, found.tokens, found.logprobs, strict=True):
        torch.testing.assert_close(
            logprobs[: len(completion)], taught_forcing(model.eval(), prompt, completion), rtol=0, atol=2e-5
        )


def test_completions_end_with_the_first_end_token_or_at_the_limit(policy):
    torch.manual_seed(0)
    prompts = [[tiny_world.IDS[w] for w in p.split()] for p in tiny_world.prompts(64)]
    found = sample(policy, prompts, Sampling(5, ends=(tiny_world.EOS, tiny_world.IDS["."])), CPU)
    assert any(found.ended)
    assert not all(found.ended)
    for tokens, ended in zip(found.tokens, found.ended, strict=True):
        ends = [t in (tiny_world.EOS, tiny_world.IDS["."]) for t in tokens]
        assert ended == ends[-1]
        assert not any(ends[:-1])
        assert ended or len(tokens) == 5


def test_a_completion_is_the_same_whoever_else_is_in_the_batch(policy):
    """With one token to choose from there is no chance in it, so leaving the batch early must change nothing."""
    prompts = [[tiny_world.IDS[w] for w in p.split()] for p in tiny_world.prompts(24)]
    prompts = [p if i % 2 else p[-3:] for i, p in enumerate(prompts)]
    greedy = Sampling(24, ends=(tiny_world.EOS,), top_k=1)
    together = sample(policy, prompts, greedy, CPU)
    alone = [sample(policy, [p], greedy, CPU) for p in prompts]
    assert together.tokens == [a.tokens[0] for a in alone]
    assert len({len(t) for t in together.tokens}) > 1


def test_tokens_are_drawn_with_the_probabilities_of_the_policy():
    torch.manual_seed(0)
    model = MODELS["llama"]()
    with torch.no_grad():
        model.lm_head.weight.mul_(20)
    found = sample(model, [[5, 6]] * 20000, Sampling(1, ends=(2,), temperature=1.3), CPU)
    drawn = torch.bincount(torch.tensor([t[0] for t in found.tokens]), minlength=64) / 20000
    with torch.no_grad():
        expected = (model.eval()(torch.tensor([[5, 6]])).logits[0, -1] / 1.3).softmax(-1)
    assert (drawn - expected).abs().max() < 5 * (0.25 / 20000) ** 0.5


@pytest.mark.parametrize(
    ("options", "allowed"),
    [
        ({"top_k": 2}, {0, 1}),
        ({"top_p": 0.6}, {0, 1}),
        ({"top_p": 0.4}, {0}),
        ({"min_p": 0.5}, {0, 1}),
        ({"top_k": 3, "min_p": 0.5}, {0, 1}),
        ({}, {0, 1, 2, 3}),
    ],
)
def test_filters_keep_the_tokens_they_should(options, allowed):
    torch.manual_seed(0)
    logits = torch.tensor([[0.5, 0.3, 0.14, 0.06]]).log().expand(500, -1)
    token, logprob = rollout._next(logits, Sampling(1, ends=(9,), **options), None)
    assert set(token.tolist()) == allowed
    torch.testing.assert_close(logprob, logits.gather(-1, token.unsqueeze(-1)).squeeze(-1))


def test_a_repetition_penalty_takes_from_what_was_said():
    logits = torch.tensor([[2.0, -1.0, 0.5]])
    seen = torch.tensor([[0, 1]])
    probabilities = rollout._allowed(logits, Sampling(1, ends=(9,), repetition_penalty=2.0), seen)
    torch.testing.assert_close(probabilities, torch.tensor([[1.0, -2.0, 0.5]]).softmax(-1))


def test_broken_weights_are_said_to_be_broken(policy):
    with torch.no_grad():
        policy.lm_head.weight[3] = float("nan")
    with pytest.raises(SamplingError, match="its weights are broken"):
        sample(policy, [[5, 6]], Sampling(4, ends=(2,)), CPU)


def test_sampling_leaves_no_gradient_and_no_change(policy):
    before = copy.deepcopy(policy.state_dict())
    sample(policy, [[5, 6]], Sampling(4, ends=(2,)), CPU)
    assert all(p.grad is None for p in policy.parameters())
    assert all((before[name] == value).all() for name, value in policy.state_dict().items())
