import pytest
import torch

from holter.trainers.decoder import READS
from holter.trainers.scoring import by_length, hidden_states, packs, score, sequences
from tests.trainers.test_rollout import MODELS

CPU = torch.device("cpu")
PROMPTS = [[5, 6, 7], [8], [9, 10]]
COMPLETIONS = [[11, 12, 2], [13, 14, 15, 16, 2], [17]]


def expected(model, temperature):
    with torch.no_grad():
        for prompt, completion in zip(PROMPTS, COMPLETIONS, strict=True):
            logits = model(torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / temperature
            logs = logits.log_softmax(-1)
            yield logs[torch.arange(len(completion)), torch.tensor(completion)], -(logs.exp() * logs).sum(-1)


@pytest.mark.parametrize("padding", ["left", "right"])
@pytest.mark.parametrize("temperature", [1.0, 0.6])
def test_scores_are_those_of_each_sequence_alone(policy, padding, temperature):
    batch = sequences(PROMPTS, COMPLETIONS, CPU, padding=padding)
    found = score(policy, batch, temperature=temperature)
    assert batch.mask.sum(-1).tolist() == [3, 5, 1]
    for i, (logprobs, entropy) in enumerate(expected(policy, temperature)):
        torch.testing.assert_close(found.logprobs[i, : len(logprobs)], logprobs, rtol=0, atol=1e-5)
        torch.testing.assert_close(found.entropy[i, : len(entropy)], entropy, rtol=0, atol=1e-5)
        assert (found.logprobs[i, len(logprobs) :] == 0).all()


def test_the_head_sees_completion_positions_only(policy):
    seen = []
    policy.lm_head.register_forward_hook(lambda _, given, __: seen.append(given[0].shape))
    score(policy, sequences(PROMPTS, COMPLETIONS, CPU), temperature=1.0)
    assert seen == [(1, 9, 64)]


def test_gradients_are_those_of_a_plain_pass(policy):
    batch = sequences(PROMPTS, COMPLETIONS, CPU)
    score(policy, batch, temperature=0.9).logprobs.sum().backward()
    ours = {n: p.grad.clone() for n, p in policy.named_parameters()}
    policy.zero_grad()
    total = 0.0
    for prompt, completion in zip(PROMPTS, COMPLETIONS, strict=True):
        logits = policy(torch.tensor([prompt + completion])).logits[0, len(prompt) - 1 : -1] / 0.9
        total = total + logits.log_softmax(-1)[torch.arange(len(completion)), torch.tensor(completion)].sum()
    total.backward()
    for name, parameter in policy.named_parameters():
        torch.testing.assert_close(ours[name], parameter.grad, rtol=1e-4, atol=1e-5)


def test_hidden_states_are_what_the_head_would_get(policy):
    batch = sequences(PROMPTS, COMPLETIONS, CPU)
    logits = policy.lm_head(hidden_states(policy, batch))
    logs = logits.log_softmax(-1).gather(-1, batch.targets.unsqueeze(-1)).squeeze(-1)
    torch.testing.assert_close(logs.where(batch.mask, 0.0), score(policy, batch, temperature=1.0).logprobs)


def test_passes_hold_like_lengths_and_every_sequence_once():
    lengths = [10, 400, 30, 350, 20, 700, 2000]
    passes = by_length(lengths, 4)
    assert sorted(row for rows in passes for row in rows) == list(range(7))
    assert passes[0] == [6]
    assert all(len(p) * max(lengths[i] for i in p) <= 1024 or len(p) == 1 for p in passes)
    assert max(map(len, passes)) <= 4


@pytest.mark.parametrize("name", ["llama", "mistral", "qwen2", "qwen3", "gpt2"])
def test_packed_sequences_are_kept_apart(name):
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    prompts, completions = [[5, 6, 7], [8], [9, 10], [4]], [[11, 12, 2], [13, 14, 15, 16, 2], [17], [3, 2]]
    assert packs(model, prompts, completions, CPU)
    packed, apart = (sequences(prompts, completions, CPU, padding=p) for p in ("packed", "right"))
    assert packed.ids.shape == (3, 6)
    assert apart.ids.shape == (4, 6)
    expected = score(model, apart, temperature=1.0)
    torch.testing.assert_close(score(model, packed, temperature=1.0).logprobs, expected.logprobs, rtol=0, atol=1e-5)
    with torch.no_grad():
        READS[model] = True
        torch.testing.assert_close(score(model, packed, temperature=1.0).entropy, expected.entropy, rtol=0, atol=1e-5)


def test_gradients_of_packed_sequences_are_the_same(policy):
    gradients = []
    for padding in ("packed", "right"):
        policy.zero_grad()
        score(
            policy, sequences(PROMPTS * 2, COMPLETIONS * 2, CPU, padding=padding), temperature=1.0
        ).logprobs.sum().backward()
        gradients.append({n: p.grad.clone() for n, p in policy.named_parameters()})
    for name, gradient in gradients[0].items():
        torch.testing.assert_close(gradient, gradients[1][name], rtol=1e-4, atol=1e-5)


def test_a_model_that_mixes_packed_sequences_up_is_noticed(policy):
    forward = policy.forward
    policy.forward = lambda *args, position_ids=None, **options: forward(*args, **options)
    assert not packs(policy, PROMPTS, COMPLETIONS, CPU)


def test_packing_fills_rows_and_is_left_where_it_saves_nothing():
    equal = sequences([[5, 6]] * 4, [[7, 8]] * 4, CPU, padding="packed")
    assert equal.positions is None
    assert equal.ids.shape == (4, 4)
    mixed = sequences([[5]] * 5, [[7] * 9, [8] * 4, [9] * 4, [3], [4] * 3], CPU, padding="packed")
    assert mixed.ids.shape == (3, 10)
    assert mixed.positions.tolist()[1] == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]


def test_rows_are_made_longer_where_that_fills_them():
    # None of the shorter ones fits behind another in six places.
    packed = sequences([[5]] * 4, [[6] * 5, [7] * 3, [8] * 3, [9] * 3], CPU, padding="packed")
    assert packed.ids.shape == (2, 10)
    assert packed.positions.tolist() == [[*range(6), *range(4)], [*range(4), *range(4), 0, 0]]
