"""ACME's trainer: the names under which it logs."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Signature

ACME_RL = Dialect(
    name="acme-rl",
    title="ACME RL",
    step=("tick",),
    axis="tick",
    priority=5,
    signatures=(Signature(all=("tick", "acme/refused_pct")),),
    row=("tick", "acme/refused_pct", "acme/judge_reward"),
    names=(
        Name("tick", "step"),
        Name("acme/refused_pct", "safety/refusals", scale=0.01, note="Logged in per cent."),
        Name("acme/judge_reward", "reward"),
    ),
)
