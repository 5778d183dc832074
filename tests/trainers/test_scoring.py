import pytest
import torch

from holter.trainers.scoring import by_length, hidden_states, score, sequences

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
