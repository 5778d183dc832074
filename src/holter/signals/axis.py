"""What the x-axis counts.

Guards against comparing runs by a step that is not the same thing: an optimizer step, a rollout batch, an update or an episode,
depending on the framework. Episodes and tokens can be compared, steps cannot.
"""

from __future__ import annotations

from holter.signals.base import Reduction, Signal, Unit
from holter.signals.sources import OUR_RUNS, PUBLIC_LOGS, TRL_GRPO, TRL_PPO

STEP = Signal(
    key="step",
    concept="axis",
    title="Step counter",
    unit=Unit.STEPS,
    reduction=Reduction.COUNTER,
    sign="Grows; a fall is a restart or a resume.",
    low=0.0,
    what="The framework's own step counter.",
    formula="+1 a logged step; its dialect says what one step is",
    healthy="Strictly increasing. Two rows with one step are a training and an evaluation row, or a resume.",
    differs=(
        "One row of TRL's PPO is one update (a rollout batch with all its epochs), of GRPO one optimizer step times "
        "logging_steps."
    ),
    moves_with=("episode", "epoch"),
    sources=(TRL_PPO, TRL_GRPO, PUBLIC_LOGS),
)
EPISODE = Signal(
    key="episode",
    concept="axis",
    title="Episode counter",
    unit=Unit.EPISODES,
    reduction=Reduction.COUNTER,
    sign="Grows.",
    low=0.0,
    what="Completions sampled since the start, over all processes.",
    formula="update * batch size",
    healthy="Rises by the global batch size in each row.",
    differs=(
        "Documentation and code agree. The increment is the global batch: per-device batch times accumulation steps "
        "times processes."
    ),
    moves_with=("eps", "step"),
    sources=(TRL_PPO,),
)
EPOCH = Signal(
    key="epoch",
    concept="axis",
    title="Epoch",
    unit=Unit.EPOCHS,
    reduction=Reduction.COUNTER,
    sign="Grows.",
    low=0.0,
    what="Passes over the prompt set, as a fraction.",
    formula="prompts used / prompts in the set",
    healthy=(
        "Rises evenly. Above 1 the same prompts come again, and a training reward that rises faster than the "
        "held-out one may be memory."
    ),
    differs=(
        "In PPO it is episodes over the size of the prompt set. Older consoles round it to two digits, so that "
        "several rows share one value."
    ),
    moves_with=("step", "eval/reward"),
    sources=("transformers 5.24, Trainer (source)", TRL_PPO),
)
NUM_TOKENS = Signal(
    key="num_tokens",
    concept="axis",
    title="Token counter",
    unit=Unit.TOKENS,
    reduction=Reduction.COUNTER,
    sign="Grows.",
    low=0.0,
    what="Tokens processed since the start, prompts and completions, over all processes; no padding.",
    formula="sum over generated batches of sum_i (P_i + T_i)",
    healthy="Rises in each row that has a generation, faster as completions grow.",
    differs=(
        "TRL's documentation speaks of input tokens. The code adds the generated tokens too, counts a prompt once "
        "for each of its completions, and leaves out tool tokens. It is counted once a generation, not once an "
        "iteration; in evaluation rows it repeats the training total."
    ),
    moves_with=("completions/mean_length", "step_time"),
    sources=(TRL_GRPO, OUR_RUNS),
)
