"""Where the wall time of a step goes.

Guards against taking TRL's ``step_time`` for the time between two rows: it leaves out the optimizer step, data loading,
evaluation and logging.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, TRL_GRPO

STEP_TIME = Signal(
    key="step_time",
    concept="step_time",
    title="Time of one step",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time of one training step.",
    formula="sum over the micro-batches of one optimizer step of the time in training_step",
    healthy=(
        "Steady, growing with completion length. A saw-tooth when one generation serves several steps: the "
        "generating step is longer. Doubling at equal length points to the machine."
    ),
    differs=(
        "From TRL 0.26 on. Generation, rewards, forward and backward are in it; optimizer step, data loading, "
        "evaluation and logging are not. The documentation does not say so."
    ),
    moves_with=("completions/mean_length", "num_tokens", "time/rollout"),
    sources=(TRL_GRPO, OUR_RUNS),
)
EVAL_TIME = Signal(
    key="eval/time",
    concept="time_eval",
    title="Time of one evaluation",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time of one evaluation.",
    formula="end - start",
    healthy="Steady, growing with completion length.",
    moves_with=("eval/reward", "completions/mean_length"),
    sources=("NeMo-RL and SkyRL (source)",),
)
TIME_ROLLOUT = Signal(
    key="time/rollout",
    concept="time_rollout",
    title="Time of the rollout",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time spent on generating the completions of one step.",
    formula="sum over the step, in seconds of wall time",
    healthy=(
        "The largest part of a step on long completions; 28-57 % of a GRPO step in our runs on CPU. It follows the "
        "longest completion, not the mean."
    ),
    differs=(
        "TRL has no such metric; its profiling rows (time taken by a function) go to W&B, MLflow and Trackio only, "
        "one row a call, and outer calls contain inner ones."
    ),
    moves_with=("completions/max_length", "step_time", "throughput/gen_tokens_per_s"),
    sources=("verl, NeMo-RL, OpenRLHF and AReaL (source)", OUR_RUNS),
)
TIME_REWARD = Signal(
    key="time/reward",
    concept="time_reward",
    title="Time of the rewards",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time spent on computing rewards in one step.",
    formula="sum over the step, in seconds of wall time",
    healthy=(
        "A small part of the step. Growth points to a slow judge, a verifier that times out, or code that runs for "
        "ever."
    ),
    moves_with=("step_time", "rollout/error_ratio"),
    sources=("verl, EasyR1 and trlX (source)",),
)
TIME_TRAIN = Signal(
    key="time/train",
    concept="time_train",
    title="Time of the policy update",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time spent on forward, backward and optimizer in one step.",
    formula="sum over the step, in seconds of wall time",
    healthy="Steady at a given number of tokens; proportional to epochs over the batch.",
    moves_with=("step_time", "batch/num_tokens", "perf/mfu"),
    sources=("verl, NeMo-RL and open-instruct (source)",),
)
TIME_WEIGHT_SYNC = Signal(
    key="time/weight_sync",
    concept="time_weight_sync",
    title="Time of the weight transfer",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time spent on handing the new weights to the sampler.",
    formula="sum over the step, in seconds of wall time",
    healthy="Steady; it depends on the size of the model and not on the data.",
    moves_with=("step_time", "staleness/mean"),
    sources=("prime-rl, SkyRL, OpenRLHF and AReaL (source)",),
)
TIME_WAIT = Signal(
    key="time/wait",
    concept="time_wait",
    title="Time the trainer waits",
    unit=Unit.SECONDS,
    reduction=Reduction.SUM,
    sign="Lower is faster.",
    low=0.0,
    what="Wall time in which the trainer has no completions to train on.",
    formula="sum over the step, in seconds of wall time",
    healthy="Near 0 when sampling keeps up. Lastingly above the update time, more samplers would help.",
    moves_with=("time/wait_ratio", "staleness/queue_size", "time/rollout"),
    sources=("prime-rl and TRL's asynchronous GRPO (source)",),
)
TIME_WAIT_RATIO = Signal(
    key="time/wait_ratio",
    concept="time_wait_fraction",
    title="Fraction of time the trainer waits",
    unit=Unit.FRACTION,
    sign="Lower is better.",
    low=0.0,
    high=1.0,
    what="Share of the wall time in which the trainer has no completions to train on.",
    formula="waiting time / step time",
    healthy="Near 0 when sampling keeps up. Above one half the run is bound by sampling.",
    moves_with=("time/wait", "staleness/queue_size"),
    sources=("rLLM, slime and verl (source)",),
)
TIME_TOTAL = Signal(
    key="time/total",
    concept="time_total",
    title="Time since the start",
    unit=Unit.SECONDS,
    reduction=Reduction.COUNTER,
    sign="Grows.",
    low=0.0,
    what="Wall time since training started.",
    formula="now - start",
    healthy="Rises evenly; a jump between two rows is a stall, a checkpoint or an evaluation.",
    moves_with=("step_time", "eps"),
    sources=("Stable-Baselines3 and open-instruct (source)",),
)
