"""The same models, prompts and responses as TRL 1.12's PPOTrainer had: the same numbers, where both mean the same.

`UNLIKE` says for each of the other numbers why they differ.
"""

import json
import math
import statistics
from pathlib import Path

import pytest
import torch

from holter.trainers.ppo_measures import Seen
from holter.trainers.rollout import Completions

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


def test_the_documentation_says_of_every_number_whether_it_is_trls():
    told = (Path(__file__).parents[3] / "docs" / "trainers.md").read_text(encoding="utf-8")
    section = told[told.index("### PPO, and TRL 1.12") :]
    equal, table = section.split("What differs, and why:")[0], section.split("What differs, and why:")[1]
    unlike = {name for of in (UNLIKE, UNLIKE_STILL) for names in of.values() for name in names} | {"eps"}
    assert [name for name in sorted(unlike) if f"`{name}`" not in table] == []
    assert [name for name in sorted(DOCUMENTED - unlike) if f"`{name}`" not in equal] == []


def test_compatible_metrics_count_padding_where_trl_counts_it(ppo):
    """The recordings have no padding after the first optimizer step, so this is held against TRL's formulas."""
    trainer = ppo(trl_compatible_metrics=True, num_ppo_epochs=1, gradient_accumulation_steps=2)
    lengths = [[1, 3], [2, 4]]
    torch.manual_seed(0)
    tokens = [[7] * n for row in lengths for n in row]
    trainer.measures.completions([[5]] * 4, Completions(tokens, [True] * 4, torch.zeros(4, 4)), ends=(7,))
    expected = {"policy/approxkl_avg": [], "val/ratio": [], "loss/policy_avg": []}
    for pair in lengths:
        mask = torch.arange(4) < torch.tensor(pair).unsqueeze(-1)
        old, new, loss, other = torch.rand(4, 2, 4).mul(mask)
        trainer.measures.update(Seen(mask, new, old, other, other, other, other, other, loss, other))
        expected["policy/approxkl_avg"].append(float(0.5 * (new - old).square().mean()))
        expected["val/ratio"].append(float((new - old).exp().mean()))
        expected["loss/policy_avg"].append(float(loss.sum() / mask.sum()))
    row = trainer.report.row(1)
    for name, values in expected.items():
        assert row[name] == pytest.approx(sum(values) / 2)
    assert row["val/ratio_var"] == pytest.approx(statistics.variance(expected["val/ratio"]), rel=1e-4)
    assert row["val/num_eos_tokens"] == 10
