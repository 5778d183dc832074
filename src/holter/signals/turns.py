"""What agents do in a rollout: turns, tool calls, errors.

Guards against judging a multi-turn run by tokens alone: a policy that learns to call no tool, or whose environment fails,
may look like one that learns to answer shortly.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import TRL_GRPO

TOOLS_CALL_FREQUENCY = Signal(
    key="tools/call_frequency",
    concept="tool_calls",
    title="Tool calls per completion",
    unit=Unit.CALLS_PER_COMPLETION,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad; 0 means that tools are not used.",
    low=0.0,
    what="Mean number of tool calls a completion makes.",
    formula="tool calls / B",
    healthy=(
        "Settles at what the task needs. Falling to 0 with a steady reward, the policy has learnt to do without; "
        "with a falling one, the call format broke."
    ),
    differs="From TRL 0.26 on; not in the documented list.",
    moves_with=("tools/failure_frequency", "reward", "completions/mean_length"),
    sources=(TRL_GRPO,),
)
TOOLS_FAILURE_FREQUENCY = Signal(
    key="tools/failure_frequency",
    concept="tool_failures",
    title="Fraction of failed tool calls",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of tool calls that raised an error.",
    formula="failed calls / calls; 0 when there was no call",
    healthy="Falls as the policy learns the call format. A jump for all completions at once is an outage of the tool.",
    differs="From TRL 0.26 on; not in the documented list. 0 stands for no call, too.",
    moves_with=("tools/call_frequency", "reward"),
    sources=(TRL_GRPO,),
)
TURNS_MEAN = Signal(
    key="turns/mean",
    concept="turns",
    title="Mean number of turns",
    unit=Unit.TURNS,
    reduction=Reduction.BATCH,
    sign="Neither good nor bad.",
    low=0.0,
    what="Mean number of turns between policy and environment in a rollout.",
    formula="mean_i turns_i",
    healthy="Settles at what the task needs. At the limit, rollouts are cut before they finish.",
    moves_with=("tools/call_frequency", "completions/mean_length"),
    sources=("verl, NeMo-RL and prime-rl (source)",),
)
TURNS_MIN = Signal(
    key="turns/min",
    concept="turns_min",
    title="Fewest turns",
    unit=Unit.TURNS,
    reduction=Reduction.MIN,
    sign="Neither good nor bad.",
    low=0.0,
    what="Turns of the shortest rollout of the batch.",
    formula="min_i turns_i",
    healthy="1 or more; 0 means that a rollout did not start.",
    moves_with=("turns/mean", "tools/call_frequency", "completions/mean_length"),
    sources=("verl (source)",),
)
TURNS_MAX = Signal(
    key="turns/max",
    concept="turns_max",
    title="Most turns",
    unit=Unit.TURNS,
    reduction=Reduction.MAX,
    sign="Neither good nor bad.",
    low=0.0,
    what="Turns of the longest rollout of the batch.",
    formula="max_i turns_i",
    healthy="At most the configured limit; constant at it, rollouts are cut.",
    moves_with=("turns/mean", "tools/call_frequency", "completions/mean_length"),
    sources=("verl (source)",),
)
ROLLOUT_ERROR_RATIO = Signal(
    key="rollout/error_ratio",
    concept="rollout_error",
    title="Fraction of failed rollouts",
    unit=Unit.FRACTION,
    reduction=Reduction.BATCH,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of rollouts that ended in an error of the environment, the tool or the reward.",
    formula="failed rollouts / rollouts",
    healthy="0 or a small steady share. A jump is an outage; the reward of that row then says nothing of the policy.",
    moves_with=("reward", "completions/aborted_ratio", "tools/failure_frequency"),
    sources=("prime-rl and ART (source)",),
)
