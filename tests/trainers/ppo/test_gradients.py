"""The gradient of an update is that of the loss as papers write it, sequence by sequence, however it is cut."""

import copy

import pytest
import torch

from ..test_gradients import Gradients, assert_gradients, plain_logprobs, remembering


def plain_loss(both, rollout, args):
    """Clipped surrogate and clipped value loss, both as means over all trained tokens."""
    policy, value, tokens = [], [], 0
    for i, (prompt, completion) in enumerate(zip(rollout.prompts, rollout.completions, strict=True)):
        if not rollout.trained[i]:
            continue
        n = len(completion)
        tokens += n
        old, before, returns, advantages = (
            rollout.columns[c][i, :n] for c in ("logprobs", "values", "returns", "advantages")
        )
        logprobs, _ = plain_logprobs(both.policy, prompt, completion, args.temperature)
        ids = torch.tensor([[*prompt, *completion]])
        if both.value_model is None:
            hidden = both.policy.model(input_ids=ids).last_hidden_state
            values = both.value_head(hidden)[0, len(prompt) - 1 : -1, 0]
        else:
            hidden = both.value_model.model(input_ids=ids).last_hidden_state
            values = both.value_model.score(hidden)[0, len(prompt) - 1 : -1, 0]
        ratio = (logprobs - old).exp()
        bounded = ratio.clamp(1 - args.cliprange, 1 + args.cliprange)
        policy.append(-torch.minimum(ratio * advantages, bounded * advantages).sum())
        near = before + (values - before).clamp(-args.cliprange_value, args.cliprange_value)
        value.append(0.5 * torch.maximum((values - returns) ** 2, (near - returns) ** 2).sum())
    return (sum(policy) + args.vf_coef * sum(value)) / tokens


def sometimes_nan(completions, **_):
    return [None if i % 5 == 3 else float(len(c) % 7) for i, c in enumerate(completions)]


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("cut", [(16, 1), (4, 4)], ids=str)
def test_the_last_steps_gradient_is_that_of_the_plain_loss(ppo, trained, taught, cut, shared):
    watch = Gradients()
    trainer = ppo(
        [sometimes_nan],
        model=copy.deepcopy(taught),
        callbacks=[watch],
        max_steps=1,
        per_device_train_batch_size=cut[0],
        gradient_accumulation_steps=cut[1],
        num_ppo_epochs=3,
        cliprange=0.02,
        cliprange_value=0.05,
        vf_coef=0.3,
        temperature=0.8,
        max_grad_norm=1e9,
        share_value_trunk=shared,
    )
    both = copy.deepcopy(trainer.both).eval()
    (kept, _) = remembering(trainer), trained(trainer)
    ((rollout,), ((weights, found),)) = kept, watch.steps
    assert 0 < rollout.trained.sum() < len(rollout.trained)
    assert_gradients(both, weights, found, lambda m: plain_loss(m, rollout, trainer.args))
