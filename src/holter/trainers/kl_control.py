"""How much a nat of drift from the reference policy costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

if TYPE_CHECKING:
    from torch import Tensor

MOST = 0.2
"""Largest relative error that the controller reacts to, so that one odd batch does not throw the coefficient off."""


class KLCoefficient:
    """The KL coefficient: fixed, or led towards the value that holds the KL at a target.

    References:
        Ziegler et al., "Fine-Tuning Language Models from Human Preferences" (2019), section 2.2.
    """

    def __init__(self, initial: float, *, target: float | None = None, horizon: int = 10_000) -> None:
        """Start with a coefficient.

        Args:
            initial: The coefficient; it stays as it is without a target.
            target: KL to the reference that is aimed at, nats/sequence.
            horizon: Episodes in which the coefficient changes by 20 % at most; larger is slower. An update changes it by no
                more, also if it has more episodes.
        """
        self.value: Tensor | float = initial
        self.target, self.horizon = target, horizon

    def update(self, kl: Tensor, episodes: int) -> None:
        """Raise the coefficient where the KL is above its target, lower it where it is below.

        Stays on the device. A KL that is no number changes nothing.

        Args:
            kl: Mean over the batches of all processes. Scalar, nats/sequence.
            episodes: How many completions it is the mean of.
        """
        if self.target is None:
            return
        error = (kl / self.target - 1).clamp(-MOST, MOST)
        # A batch larger than the horizon would otherwise make the factor negative, and a coefficient that pays for drift.
        factor = 1 + error * min(1.0, episodes / self.horizon)
        self.value = self.value * torch.where(factor.isfinite(), factor, 1.0)

    def state(self) -> float:
        """What `restore` needs. Looks at the device."""
        return float(self.value)

    def restore(self, state: float) -> None:
        """Go on from a checkpoint. A fixed coefficient is what the settings say, also if they have changed since."""
        if self.target is not None:
            self.value = state
