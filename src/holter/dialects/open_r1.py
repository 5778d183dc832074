"""Open-R1 (TRL 0.18 GRPO): its names for our signals."""

from __future__ import annotations

from holter.dialects.base import Dialect, Name, Null

OPEN_R1 = Dialect(
    name="open-r1",
    title="Open-R1 (TRL 0.18 GRPO)",
    step=("step", "train/global_step"),
    axis="optimizer step",
    inherits="trl-grpo",
    null=Null.NAN,
    names=(),
    note="same keys as trl_grpo of the pinned TRL; also writes all_results.json and train_results.json.",
)
