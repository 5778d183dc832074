"""The fused pass against the plain formulas."""

import math

import pytest

torch = pytest.importorskip("torch")

from holter.signals import logprobs as module  # noqa: E402
from holter.signals.logprobs import entropy_from_logits, logprobs_and_entropy, selected_logprobs  # noqa: E402


def make(shape=(3, 5, 97), *, dtype=torch.float32, seed=0, spread=4.0):
    generator = torch.Generator().manual_seed(seed)
    logits = (torch.randn(shape, generator=generator) * spread).to(dtype)
    tokens = torch.randint(0, shape[-1], shape[:-1], generator=generator)
    return logits, tokens


def plainly(logits, tokens, temperature=1.0):
    logs = (logits.double() / temperature).log_softmax(-1)
    return logs.gather(-1, tokens.unsqueeze(-1)).squeeze(-1), -(logs.exp() * logs).sum(-1)


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of two rows or so, so that every test crosses their borders."""
    monkeypatch.setattr(module, "CPU_CHUNK_BYTES", 800)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16])
@pytest.mark.parametrize("temperature", [1.0, 0.7])
def test_it_equals_the_plain_formulas_in_any_precision(dtype, temperature):
    logits, tokens = make(dtype=dtype)
    expected, entropy = plainly(logits, tokens, temperature)
    found = logprobs_and_entropy(logits, tokens, temperature=temperature)
    assert found.logprobs.dtype == (torch.float64 if dtype == torch.float64 else torch.float32)
    torch.testing.assert_close(found.logprobs.double(), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(found.entropy.double(), entropy, rtol=0, atol=1e-5)


def test_it_holds_for_a_large_vocabulary_and_large_logits():
    logits, tokens = make((2, 3, 151_936), spread=8.0)
    logits += 300
    expected, entropy = plainly(logits, tokens)
    found = logprobs_and_entropy(logits, tokens)
    torch.testing.assert_close(found.logprobs.double(), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(found.entropy.double(), entropy, rtol=0, atol=1e-5)


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize("temperature", [1.0, 0.7])
@pytest.mark.parametrize("masked", [False, True])
def test_gradients_equal_those_of_the_plain_formulas(temperature, masked):
    logits, tokens = make(dtype=torch.float64)
    mask = torch.rand(tokens.shape, generator=torch.Generator().manual_seed(5)) < 0.6 if masked else None
    weights = torch.randn(2, *tokens.shape, dtype=torch.float64, generator=torch.Generator().manual_seed(6))

    ours = logits.clone().requires_grad_()
    found = logprobs_and_entropy(ours, tokens, mask=mask, temperature=temperature, entropy_gradient=True)
    (found.logprobs * weights[0] + found.entropy * weights[1]).sum().backward()

    theirs = logits.clone().requires_grad_()
    logprobs, entropy = plainly(theirs, tokens, temperature)
    loss = logprobs * weights[0] + entropy * weights[1]
    (loss if mask is None else loss[mask]).sum().backward()
    torch.testing.assert_close(ours.grad, theirs.grad, rtol=1e-9, atol=1e-9)


def test_the_gradient_passes_the_numerical_check():
    logits, tokens = make((2, 3, 7), dtype=torch.float64)
    logits.requires_grad_()
    assert torch.autograd.gradcheck(
        lambda x: logprobs_and_entropy(x, tokens, temperature=0.8, entropy_gradient=True), logits
    )


def test_entropy_has_no_gradient_unless_asked_for():
    logits, tokens = make()
    logits.requires_grad_()
    found = logprobs_and_entropy(logits, tokens)
    assert found.logprobs.requires_grad
    assert not found.entropy.requires_grad
    assert entropy_from_logits(logits).requires_grad


def test_the_gradient_of_half_precision_logits_keeps_their_type():
    logits, tokens = make(dtype=torch.bfloat16)
    logits.requires_grad_()
    selected_logprobs(logits, tokens).sum().backward()
    assert logits.grad.dtype == torch.bfloat16
    expected = torch.nn.functional.one_hot(tokens, logits.shape[-1]) - logits.detach().float().softmax(-1)
    torch.testing.assert_close(logits.grad.float(), expected, rtol=1e-2, atol=1e-3)


@pytest.mark.usefixtures("small_chunks")
def test_forbidden_tokens_have_probability_zero_and_cost_no_entropy():
    logits, tokens = make()
    logits[..., 50:] = -math.inf
    tokens = tokens % 50
    expected, entropy = plainly(logits[..., :50], tokens)
    found = logprobs_and_entropy(logits, tokens)
    torch.testing.assert_close(found.logprobs.double(), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(found.entropy.double(), entropy, rtol=0, atol=1e-5)
    assert selected_logprobs(logits, tokens + 47).min() == -math.inf


def test_gradients_stay_finite_beside_forbidden_tokens():
    logits, tokens = make()
    logits[..., 50:] = -math.inf
    logits.requires_grad_()
    found = logprobs_and_entropy(logits, tokens % 50, entropy_gradient=True)
    (found.logprobs + found.entropy).sum().backward()
    assert logits.grad.isfinite().all()
    assert (logits.grad[..., 50:] == 0).all()


def test_a_broken_row_is_nan_and_stays_alone():
    logits, tokens = make()
    logits[0, 0, 3] = math.nan
    logits[1, 1, 3] = math.inf
    logits[2, 2] = -math.inf
    found = logprobs_and_entropy(logits, tokens)
    broken = torch.zeros(3, 5, dtype=torch.bool)
    broken[0, 0] = broken[1, 1] = broken[2, 2] = True
    assert torch.equal(found.logprobs.isnan(), broken)
    assert torch.equal(found.entropy.isnan(), broken)


@pytest.mark.usefixtures("small_chunks")
def test_masked_positions_are_zero_whatever_their_logits():
    logits, tokens = make()
    mask = torch.rand(tokens.shape, generator=torch.Generator().manual_seed(5)) < 0.5
    expected, entropy = plainly(logits, tokens)
    logits[~mask] = math.nan
    found = logprobs_and_entropy(logits, tokens, mask=mask)
    assert (found.logprobs[~mask] == 0).all()
    assert (found.entropy[~mask] == 0).all()
    torch.testing.assert_close(found.logprobs[mask].double(), expected[mask], rtol=0, atol=1e-5)
    torch.testing.assert_close(found.entropy[mask].double(), entropy[mask], rtol=0, atol=1e-5)


def test_an_empty_batch_and_an_empty_mask_give_nothing():
    logits, tokens = make()
    assert logprobs_and_entropy(logits[:0], tokens[:0]).logprobs.shape == (0, 5)
    nothing = logprobs_and_entropy(logits, tokens, mask=torch.zeros_like(tokens))
    assert (nothing.logprobs == 0).all()


def test_entropy_lies_between_zero_and_that_of_the_uniform_policy():
    tokens = torch.zeros(2, dtype=torch.int64)
    logits = torch.zeros(2, 1000)
    logits[1, 5] = 1e4
    found = logprobs_and_entropy(logits, tokens).entropy
    assert found[0].item() == pytest.approx(math.log(1000), rel=1e-6)
    assert found[1].item() == pytest.approx(0, abs=1e-8)


def test_no_tensor_of_the_size_of_the_logits_is_made(monkeypatch):
    monkeypatch.setattr(module, "CPU_CHUNK_BYTES", 4096)
    logits, tokens = make((64, 64, 256))
    with torch.profiler.profile(profile_memory=True, activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
        logprobs_and_entropy(logits, tokens)
    largest = max(event.self_cpu_memory_usage for event in profile.events())
    assert largest < logits.nbytes / 20


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"temperature": 0.0}, "temperature must be positive"),
        ({"temperature": math.nan}, "temperature must be positive"),
        ({"tokens": torch.zeros(3, 4, dtype=torch.int64)}, r"need tokens of shape \(3, 5\), not \(3, 4\)"),
        ({"mask": torch.ones(3)}, r"need a mask of the same shape, not \(3,\)"),
    ],
)
def test_what_does_not_fit_is_refused(arguments, says):
    logits, tokens = make()
    with pytest.raises(ValueError, match=says):
        logprobs_and_entropy(logits, arguments.pop("tokens", tokens), **arguments)
