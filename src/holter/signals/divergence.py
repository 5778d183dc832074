"""How far one policy is from another, estimated at the sampled tokens.

The same three estimators serve two quantities that must not be confused: the drift from the *reference* policy since the
start (``kl``, ``objective/kl``) and the size of *this update* against the sampling policy (``policy/approxkl_avg``). Per token
and per sequence differ by the length: 20 nats a sequence is a quiet run, 20 nats a token is noise.

References:
    Schulman, "Approximating KL Divergence" (2020).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holter.discovery import unknown_name
from holter.signals.base import Estimator
from holter.signals.masked import Tally, tally

if TYPE_CHECKING:
    from torch import Tensor


def k1(logprobs: Tensor, other_logprobs: Tensor) -> Tensor:
    """``log p - log q``: unbiased, and negative about as often as it pleases.

    Args:
        logprobs: Log-probabilities under the policy that sampled the tokens. Shape ``(B, T)``, nats.
        other_logprobs: The same tokens under the policy it is compared with. Shape ``(B, T)``, nats.

    Returns:
        Shape ``(B, T)``, nats a token, signed.
    """
    return logprobs - other_logprobs


def k2(logprobs: Tensor, other_logprobs: Tensor) -> Tensor:
    """``(log p - log q)^2 / 2``: biased, never negative; TRL's and Stable-Baselines' "approximate KL" of old.

    Arguments and shape as for `k1`.
    """
    return 0.5 * (logprobs - other_logprobs).square()


def k3(logprobs: Tensor, other_logprobs: Tensor) -> Tensor:
    """``exp(-d) - 1 + d`` with ``d = log p - log q``: unbiased, never negative, heavy right tail.

    One token that `q` finds much likelier than `p` does can outweigh all others, so a spike is not a trend. Arguments and
    shape as for `k1`; +inf where the exponential overflows.
    """
    difference = logprobs - other_logprobs
    # exp(-d) - 1 loses every digit near 0, where a healthy update lives.
    return (-difference).expm1() + difference


ESTIMATORS = {Estimator.K1: k1, Estimator.K2: k2, Estimator.K3: k3}
"""Per-token estimators by name."""


def kl(logprobs: Tensor, other_logprobs: Tensor, estimator: str = Estimator.K3) -> Tensor:
    """Per-token KL by the estimator called `estimator`: ``k1``, ``k2`` or ``k3``. Shape ``(B, T)``, nats.

    Raises:
        UnknownNameError: For any other name.
    """
    try:
        chosen = ESTIMATORS[Estimator(estimator)]
    except (ValueError, KeyError):
        raise unknown_name("estimator", estimator, ESTIMATORS, listing=None) from None
    return chosen(logprobs, other_logprobs)


def kl_per_token(logprobs: Tensor, other_logprobs: Tensor, mask: Tensor, estimator: str = Estimator.K3) -> Tally:
    """KL averaged over tokens, as GRPO logs it under ``kl``. Tally in nats/token.

    Args:
        logprobs: Log-probabilities under the policy. Shape ``(B, T)``, nats.
        other_logprobs: Log-probabilities under the reference or sampling policy. Shape ``(B, T)``, nats.
        mask: 1 on completion tokens up to and including EOS, else 0. Shape ``(B, T)``.
        estimator: ``k1``, ``k2`` or ``k3``.
    """
    return tally(kl(logprobs, other_logprobs, estimator), mask)


def kl_per_sequence(logprobs: Tensor, other_logprobs: Tensor, mask: Tensor, estimator: str = Estimator.K1) -> Tally:
    """KL summed over each completion, averaged over completions, as PPO logs it under ``objective/kl``.

    Arguments as for `kl_per_token`. Tally in nats/sequence: it grows with length.
    """
    return tally(tally(kl(logprobs, other_logprobs, estimator), mask, dim=-1).total)
