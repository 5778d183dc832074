"""The same models, prompts and responses as TRL 1.12's PPOTrainer had: the same numbers, where both mean the same.

`UNLIKE` says for each of the other numbers why they differ.
"""

import json
import math
from pathlib import Path

import pytest

from . import parity_world
from .replay import replay, rows_of

GOLDEN = Path(__file__).parents[2] / "golden" / "trl_ppo"

DOCUMENTED = {
    "objective/kl",
    "objective/entropy",
    "objective/non_score_reward",
    "objective/rlhf_reward",
    "objective/scores",
    "policy/approxkl_avg",
    "policy/clipfrac_avg",
    "loss/policy_avg",
    "loss/value_avg",
    "val/clipfrac_avg",
    "policy/entropy_avg",
    "val/ratio",
    "val/ratio_var",
    "val/num_eos_tokens",
    "lr",
    "episode",
}
"""All that TRL's page lists; but ``eps``, which depends on the clock."""

AFTER_THE_END = (
    "TRL pays the score one position after the end token, and has a value there; here the score belongs to the end token. "
    "So advantages, returns, and whatever the policy becomes after the first optimizer step, differ where responses end."
)
PADDING = "TRL averages over the padded rectangle."
TABLE = "TRL averages a table that num_mini_batches=2 leaves half empty."
MEANS = "TRL takes the variance over a handful of means, here it is over tokens."
UNLIKE = {
    "cut": {"val/ratio_var": MEANS},
    "cut_k3_whitened": {"val/ratio_var": MEANS},
    "ended": {
        "loss/value_avg": AFTER_THE_END,
        "policy/entropy_avg": PADDING,
        "val/ratio_var": "TRL takes the variance over the one entry of its table, which is no number.",
    },
    "half_full": {
        "loss/policy_avg": f"{TABLE} {AFTER_THE_END}",
        "loss/value_avg": f"{TABLE} {AFTER_THE_END}",
        "policy/entropy_avg": f"{TABLE} {PADDING}",
        "val/ratio": TABLE,
        "val/ratio_var": f"{TABLE} {MEANS}",
    },
}
"""Which numbers are not TRL's, and why."""
UNLIKE_STILL = {
    "cut": {},
    "cut_k3_whitened": {},
    "ended": {
        "loss/value_avg": AFTER_THE_END,
        "policy/entropy_avg": "In the padding TRL has the entropy of what follows padding, which nobody else computes.",
        "val/ratio_var": "Not a number in TRL; left out here.",
    },
    "half_full": {
        "loss/policy_avg": AFTER_THE_END,
        "loss/value_avg": AFTER_THE_END,
        "policy/entropy_avg": "In the padding TRL has the entropy of what follows padding, which nobody else computes.",
    },
}
"""The same with ``trl_compatible_metrics``."""


def recorded(scenario):
    """Updates as TRL had them; where the policies part ways after the first, only that."""
    updates = json.loads((GOLDEN / f"{scenario}.json").read_text(encoding="utf-8"))
    return updates[:1] if scenario == "ended" else updates


def replayed(scenario, folder, **more):
    """What our trainer logs when it is given TRL's prompts and responses. TRL does not clip gradients."""
    return rows_of(replay(folder, recorded(scenario), scenario=scenario, **more))


def differing(scenario, rows):
    """Names whose numbers are not TRL's to 1e-4 in some update."""
    unlike = set()
    for update, row in zip(recorded(scenario), rows, strict=True):
        for name in DOCUMENTED:
            theirs, ours = float(update["logged"][name]), row.get(name, math.nan)
            if math.isnan(ours) or not math.isclose(ours, theirs, rel_tol=1e-4, abs_tol=1e-4):
                unlike.add(name)
    return unlike


@pytest.mark.parametrize("scenario", sorted(parity_world.SCENARIOS))
def test_numbers_are_those_of_trl_but_for_the_ones_with_a_reason(scenario, tmp_path):
    assert differing(scenario, replayed(scenario, tmp_path)) == set(UNLIKE[scenario])


@pytest.mark.parametrize("scenario", sorted(parity_world.SCENARIOS))
def test_compatible_metrics_are_those_of_trl_but_for_the_ones_with_a_reason(scenario, tmp_path):
    rows = replayed(scenario, tmp_path, trl_compatible_metrics=True)
    assert differing(scenario, rows) == set(UNLIKE_STILL[scenario])
