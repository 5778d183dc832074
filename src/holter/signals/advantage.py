"""How much better a completion or a token did than expected.

Guards against looking for information in the mean and the spread of normalised advantages: whitening and group normalisation fix
them at 0 and 1. The extremes and the share of zeros are what can be read.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, TRL_GRPO

ADVANTAGES_MEAN = Signal(
    key="advantages/mean",
    concept="advantage_mean",
    title="Mean advantage",
    unit=Unit.REWARD,
    sign="0 by construction once advantages are whitened or centred in groups.",
    what="Mean advantage over the tokens or completions of the batch.",
    formula="mean_i A_i",
    healthy=(
        "0 within 0.1. Lastingly away from 0 after whitening is a bug, most often a mask; before whitening it is "
        "the error of the value function."
    ),
    moves_with=("advantages/std", "returns/mean", "value/mean"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "Shao et al., DeepSeekMath (2024)",
        "verl, NeMo-RL and AReaL (source)",
    ),
)
ADVANTAGES_STD = Signal(
    key="advantages/std",
    concept="advantage_std",
    title="Standard deviation of the advantages",
    unit=Unit.REWARD,
    reduction=Reduction.STD,
    sign="1 after whitening; 0 means no gradient.",
    low=0.0,
    what="Standard deviation of the advantages over the batch.",
    formula="std_i A_i",
    healthy="1 after whitening. With group normalisation about sqrt(1 - f), f the share of groups without spread.",
    moves_with=("advantages/mean", "frac_reward_zero_std", "reward_std"),
    sources=(
        "Schulman et al., High-Dimensional Continuous Control Using Generalized Advantage Estimation (2015)",
        "Shao et al., DeepSeekMath (2024)",
        "NeMo-Aligner and rLLM (source)",
    ),
)
ADVANTAGES_MIN = Signal(
    key="advantages/min",
    concept="advantage_min",
    title="Smallest advantage",
    unit=Unit.REWARD,
    reduction=Reduction.MIN,
    sign="Negative: the completion that is pushed away hardest.",
    what="Most negative advantage in the batch.",
    formula="min_i A_i",
    healthy="Not below -(G - 1) / sqrt(G) with group normalisation, -2.5 for 8 completions; -3 to -10 with whitening.",
    moves_with=("advantages/max", "reward/min"),
    sources=("Shao et al., DeepSeekMath (2024)", "verl, NeMo-RL and AReaL (source)"),
)
ADVANTAGES_MAX = Signal(
    key="advantages/max",
    concept="advantage_max",
    title="Largest advantage",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    sign="Positive: the completion that is pulled in hardest.",
    what="Most positive advantage in the batch.",
    formula="max_i A_i",
    healthy=(
        "Not above (G - 1) / sqrt(G) with group normalisation, 2.5 for 8 completions; 3 to 10 with whitening. Above "
        "20 the scale of the reward is off."
    ),
    moves_with=("advantages/min", "reward/max"),
    sources=("Shao et al., DeepSeekMath (2024)", "verl, NeMo-RL and AReaL (source)"),
)
ADVANTAGES_ABS_MEAN = Signal(
    key="advantages/abs_mean",
    concept="advantage_abs",
    title="Mean absolute advantage",
    unit=Unit.REWARD,
    sign="0 means no gradient.",
    low=0.0,
    what="Mean size of the advantage, whatever its sign.",
    formula="mean_i |A_i|",
    healthy=(
        "About 0.8 for bell-shaped advantages after whitening; with group normalisation it falls as groups lose "
        "their spread."
    ),
    moves_with=("advantages/frac_zero", "frac_reward_zero_std", "grad_norm"),
    sources=("SkyRL, open-instruct and verifiers (source)",),
)
ADVANTAGES_ABS_MAX = Signal(
    key="advantages/abs_max",
    concept="advantage_abs_max",
    title="Largest absolute advantage",
    unit=Unit.REWARD,
    reduction=Reduction.MAX,
    sign="0 means no gradient; infinite or about 3e38 means that an infinite reward got through.",
    low=0.0,
    what="Size of the largest advantage in the batch, whatever its sign.",
    formula="max_i |A_i|",
    healthy=(
        "At most (G - 1) / sqrt(G) with group normalisation, 2.5 for 8 completions: more is arithmetically "
        "impossible. 3 to 10 with whitening. In reward units without normalisation."
    ),
    differs=(
        "TRL logs no advantages. It turns NaN advantages into 0 and infinite ones into 3.4e38, which no logged "
        "metric shows."
    ),
    moves_with=("advantages/min", "advantages/max", "reward/nan_fraction", "grad_norm"),
    sources=(TRL_GRPO, OUR_RUNS),
)
ADVANTAGES_FRAC_ZERO = Signal(
    key="advantages/frac_zero",
    concept="zero_advantage_fraction",
    title="Fraction of samples with zero advantage",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of samples whose advantage is exactly 0, so that they give no gradient.",
    formula="mean_i [A_i = 0]",
    healthy="As `frac_reward_zero_std`: 0.1-0.6 with rewards of 0 and 1, more as prompts are solved.",
    moves_with=("frac_reward_zero_std", "groups/mixed"),
    sources=("rLLM (source)",),
)
