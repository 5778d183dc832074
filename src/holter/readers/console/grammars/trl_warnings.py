"""Warnings of TRL's classic PPO trainer that hold the only number of a step that a console shows.

They are given for values beyond a limit alone, so they tell that it was passed and nothing of the steps between. A loop of
one's own may print its row when the step is done, and then they belong to that row.
"""

from __future__ import annotations

import re

from holter.readers.console.forms import items
from holter.readers.console.grammar import Grammar, Standing

RATIO_WARNING = Grammar(
    name="trl-ratio-warning",
    family="any-line",
    frameworks=("trl-ppo-classic", "llama-factory"),
    hint="average ratio of batch",
    begins=re.compile(r"The (?P<body>average ratio of batch \(.+?\)) exceeds threshold"),
    values=items(r"(?P<key>average ratio of batch) \((?P<value>NUMBER)\)"),
    rename={"average ratio of batch": "val/ratio"},
    standing=Standing.ANY,
    precedes=True,
    alone=True,
)

KL_WARNING = Grammar(
    name="trl-kl-warning",
    family="any-line",
    frameworks=("trl-ppo-classic", "llama-factory"),
    hint="KL divergence is ",
    begins=re.compile(r"(?P<body>KL divergence is (?:starting to become|becoming very) negative: \S+)"),
    values=items(r"(?P<key>KL divergence) is [\w ]+ negative: (?P<value>NUMBER)"),
    rename={"KL divergence": "objective/kl"},
    standing=Standing.ANY,
    precedes=True,
    alone=True,
)
