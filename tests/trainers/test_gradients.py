"""The gradient of an optimizer step is that of the loss as papers write it, sequence by sequence, however it is cut."""

import copy

import pytest
import torch
from transformers import TrainerCallback

LIMIT = 12


class Gradients(TrainerCallback):
    """Weights and gradients of every optimizer step of Trainer."""

    def __init__(self):
        self.steps = []

    def on_pre_optimizer_step(self, args, state, control, model=None, **_):
        named = dict(model.named_parameters())
        self.steps.append(
            (copy.deepcopy(model.state_dict()), {n: p.grad.clone() for n, p in named.items() if p.grad is not None})
        )


def remembering(trainer):
    """The rollouts of this trainer, as they are collected."""
    kept, collect = [], trainer.collect

    def collecting(rows):
        kept.append(collect(rows))
        return kept[-1]

    trainer.collect = collecting
    return kept


def plain_logprobs(model, prompt, completion, temperature):
    """Log-probabilities ``(T,)`` and entropies ``(T,)`` of one completion, by one pass over it alone."""
    logits = model(input_ids=torch.tensor([[*prompt, *completion]])).logits[0, len(prompt) - 1 : -1] / temperature
    every = logits.log_softmax(-1)
    return every[torch.arange(len(completion)), torch.tensor(completion)], -(every.exp() * every).sum(-1)


def plain_loss(model, rollout, args, reference):
    by_token, entropies, counts = [], [], []
    for i, (prompt, completion) in enumerate(zip(rollout.prompts, rollout.completions, strict=True)):
        used = float(rollout.trained[i])
        n, advantage = len(completion), rollout.columns["advantages"][i]
        logprobs, entropy = plain_logprobs(model, prompt, completion, args.temperature)
        gap = logprobs - rollout.columns["sampled_logprobs"][i, :n]
        ratio = (gap if args.importance_sampling_level == "token" else gap.mean()).exp()
        high = args.epsilon if args.epsilon_high is None else args.epsilon_high
        capped = ratio if args.delta is None else ratio.clamp(max=args.delta)
        gain = torch.minimum(capped * advantage, ratio.clamp(1 - args.epsilon, 1 + high) * advantage)
        with torch.no_grad():
            anchor, _ = plain_logprobs(reference, prompt, completion, args.temperature)
        kl = ((anchor - logprobs).exp() - (anchor - logprobs) - 1) * (ratio if args.use_bias_correction_kl else 1)
        by_token.append(used * (args.beta * kl - gain))
        entropies.append(used * entropy.sum())
        counts.append(used * n)
    sums = [t.sum() for t in by_token]
    if args.loss_type == "grpo":
        loss = sum(s / max(n, 1) for s, n in zip(sums, counts, strict=True)) / len(sums)
    elif args.loss_type == "dr_grpo":
        loss = sum(sums) / (len(sums) * args.max_completion_length)
    else:
        loss = sum(sums) / sum(counts)
    return loss - args.entropy_coef * sum(entropies) / sum(counts)


def assert_gradients(model, weights, found, loss):
    model.load_state_dict(weights)
    model.zero_grad()
    loss(model).backward()
    expected = {n: p.grad for n, p in model.named_parameters() if p.grad is not None}
    assert found.keys() == expected.keys()
    largest = max(float(g.abs().max()) for g in expected.values())
    for name, gradient in expected.items():
        torch.testing.assert_close(
            found[name], gradient, rtol=1e-3, atol=1e-5 * largest, msg=lambda m, n=name: f"{n}: {m}"
        )


CUTS = [(16, 1), (4, 4)]
LOSSES = [
    {"loss_type": "dapo"},
    {"loss_type": "grpo"},
    {"loss_type": "dr_grpo"},
    {"loss_type": "dapo", "entropy_coef": 0.05},
    {"loss_type": "grpo", "importance_sampling_level": "sequence", "epsilon": 3e-3, "epsilon_high": 4e-3},
    {"loss_type": "dapo", "delta": 1.25, "epsilon": 0.05, "use_bias_correction_kl": False},
]


@pytest.mark.parametrize("cut", CUTS, ids=str)
@pytest.mark.parametrize("settings", LOSSES, ids=lambda s: "-".join(map(str, s.values())))
def test_a_steps_gradient_is_that_of_the_plain_loss(grpo, trained, taught, settings, cut):
    watch = Gradients()
    trainer = grpo(
        model=copy.deepcopy(taught),
        callbacks=[watch],
        max_steps=2,
        per_device_train_batch_size=cut[0],
        gradient_accumulation_steps=cut[1],
        num_iterations=2,
        beta=0.04,
        temperature=0.8,
        max_grad_norm=1e9,
        max_completion_length=LIMIT,
        mask_truncated_completions=True,
        **settings,
    )
    (kept, _) = remembering(trainer), trained(trainer)
    (rollout,) = kept
    assert 0 < rollout.trained.sum() < len(rollout.trained)
    for weights, found in watch.steps:
        assert_gradients(
            copy.deepcopy(taught).eval(), weights, found, lambda m: plain_loss(m, rollout, trainer.args, taught)
        )


def test_a_token_mean_of_a_micro_batch_is_that_of_its_tokens(grpo, trained, taught):
    watch = Gradients()
    settings = {"loss_type": "bnpo", "beta": 0.04, "max_grad_norm": 1e9, "max_completion_length": LIMIT}
    trainer = grpo(
        model=copy.deepcopy(taught), callbacks=[watch], max_steps=1, gradient_accumulation_steps=2, **settings
    )
    (kept, _) = remembering(trainer), trained(trainer)
    (rollout,) = kept

    def loss(model):
        parts = []
        for rows in rollout.parts:
            part = copy.copy(rollout)
            part.prompts, part.completions = ([x[i] for i in rows] for x in (rollout.prompts, rollout.completions))
            part.trained, part.columns = rollout.trained[rows], {n: c[rows] for n, c in rollout.columns.items()}
            parts.append(plain_loss(model, part, trainer.args, taught))
        return sum(parts) / len(parts)

    assert len(rollout.parts) == 2
    assert_gradients(copy.deepcopy(taught).eval(), *watch.steps[0], loss)
