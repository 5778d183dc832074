"""Where definitions and healthy behaviour were read or measured, and what several of TRL's metrics have in common."""

from __future__ import annotations

TRL_PPO = "TRL 0.12 - 1.12, PPOTrainer (source)"
TRL_GRPO = "TRL 0.14 - 1.16, GRPOTrainer (source)"
OUR_RUNS = "measured on our own TRL runs with tiny models (healthy: 14 of GRPO, 8 of PPO; others with planted faults)"
PUBLIC_LOGS = "165 public training logs, 54 of them healthy, labelled by one reader"

FULL_TABLE = (
    "TRL averages this over a table of epochs, mini-batches and accumulation steps. With num_mini_batches n above 1 and at "
    "least n accumulation steps only 1/n of the table is ever written, and the number is too small by the factor n."
)
WINDOW = "With logging_steps above 1 a row holds the mean of the extremes of its steps, not their extreme."
CLIP_LOSSES = (
    "Logged for the loss types grpo, bnpo, dr_grpo, dapo and luspo only. With sequence-level importance sampling (GSPO) it "
    "is a share of sequences. Up to 1.8 it is the mean over ranks of token means, from 1.9 the token mean over all ranks."
)
