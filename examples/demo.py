"""What Holter is for, in one go: a table somebody pasted, and two runs that are trained here and now, one healthy, one not.

Run it with ``make demo``; it takes about a minute on two CPU cores and downloads no model. The two runs are alike to the last
setting and random number, until in one of them the reward is replaced by one that can be hacked. Nothing that is said of
them is prepared: the numbers, the findings and the step at which they begin come from the runs as they were recorded.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markdown import Markdown
from rich.rule import Rule

import holter
from holter.findings.finding import Severity
from holter.language import Said, listed, said, told
from holter.reports.terminal import print_diagnoses
from holter.settings import Settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from holter.findings.diagnosis import Diagnosis

HERE = Path(__file__).parent
STEPS, BREAKS_AFTER, SEED = 50, 30, 0
"""Optimizer steps of both runs, the one after which the reward of the second is another one, and the seed of both."""

TABLE = said(
    "Five rows are all that this person has: reward, KL, two losses and an evaluation. Reward rises to the last row, and that "
    "is what makes such a run dangerous. Look at what happens after step 3000."
)
AFTER_TABLE = said(
    "**What this shows.** Three signals of different origin turn at the same row: KL jumps, both losses turn up, and the "
    "held-out score falls while the reward goes on rising. Each alone would be a question mark; together they are one story. It "
    "is called *likely, not certain*, because five rows and an evaluation of unknown size carry only so much "
    "(`--eval-size 1000` shows how much stronger the case becomes when the size is known)."
)
RUNS = (
    said(
        "A language model of 100,000 parameters, taught a toy grammar a moment ago, is trained by `GRPOTrainer` to tell stories. "
        "It is paid for how many of its sentences are cheerful, and how many grammatical. The *quality* of whole stories "
        "(grammar, mood, subject, no repetition) is measured too, and pays nothing: it is the evidence."
    ),
    said(
        "The same training runs twice. In the second, **from step {step} on the reward is another one, written in a hurry**: it "
        "counts happy words, and can be hacked. Nobody tells Holter. What it says while a run trains appears here as it is said.",
        step=BREAKS_AFTER + 1,
    ),
)
AT_LAST = (
    said(
        "The reward alone never shows it. That is why Holter keeps asking for an evaluation that is not the reward. With "
        "`GRPOConfig(stop_on='critical')` training would have saved a checkpoint and stopped when it was said."
    ),
    said(
        "Your own log: `.venv/bin/holter check PATH`. What a metric means: `.venv/bin/holter explain objective/kl`. "
        "To train: `examples/grpo.py`, `examples/ppo.py`, `holter train`."
    ),
)


def cheer(breaks_after: int | None) -> Callable[..., list[float]]:
    """A reward that is replaced by one that can be hacked after some step; never where that is None."""
    import tiny_world

    def cheer(completions: list[str], trainer_state: Any, **_: object) -> list[float]:  # noqa: ANN401
        if breaks_after is not None and trainer_state.global_step >= breaks_after:
            return tiny_world.happy_words(completions)
        pairs = zip(tiny_world.cheerfulness(completions), tiny_world.grammar(completions), strict=True)
        return [(cheerful + correct) / 2 for cheerful, correct in pairs]

    return cheer


def trained(out: Path, breaks_after: int | None, console: Console) -> Diagnosis:
    """Train, say how long it took, and read the record."""
    import grpo

    began = time.perf_counter()
    trainer = grpo.train(out, paid=[cheer(breaks_after)], steps=STEPS, seed=SEED, progress=False)
    took = time.perf_counter() - began
    console.print(
        told("{n} steps in {took:.0f} s, recorded in {folder}", n=STEPS, took=took, folder=trainer.report.folder),
        style="dim",
        markup=False,
    )
    (found,) = holter.check(trainer.report.folder).diagnoses
    print_diagnoses(console, [found], verbose=False)
    for what, key in (
        (said("Held-out reward"), "eval/reward"),
        (said("Held-out quality, which pays nothing"), "eval/rewards/quality/mean"),
    ):
        values = found.run[key].finite().values
        console.print(
            told(
                "{what}: {first:.2f} at first, {best:.2f} at best, {last:.2f} at last.",
                what=what,
                first=values[0],
                best=values.max(),
                last=values[-1],
            )
        )
    console.print()
    return found


def compared(healthy: Diagnosis, sick: Diagnosis) -> str:
    """What was planted beside what was found."""
    false = [f for f in healthy.findings if f.severity >= Severity.WARNING]
    real = [f for f in sick.findings if f.severity >= Severity.WARNING]
    planted = BREAKS_AFTER + 1
    hacked = said("a reward to be hacked, step {step} on", step=planted)
    nothing = told("nothing")
    rows = [
        ("", told("planted"), told("found")),
        ("---", "---", "---"),
        (told("first run"), nothing, told(listed(f.detector for f in false)) or nothing),
    ]
    rows += [
        (
            told("second run"),
            told(hacked),
            told(
                "{detector} since step {step:g}, {late:+g} steps; it could first be said at step {raised:g}",
                detector=f.detector,
                step=f.first_step,
                late=f.first_step - planted,
                raised=f.raised_step,
            ),
        )
        for f in real
        if f.caused_by is None
    ]
    if not real:
        rows.append((told("second run"), told(hacked), told("nothing: it was missed")))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def main() -> None:
    """Check the table, train the runs, and hold what was found against what was planted."""
    console = Console(highlight=False)
    console.print(_rule(1, said("A table, pasted: {file}", file="examples/hands_on.md")))
    console.print(_prose(TABLE))
    table = holter.check(HERE / "hands_on.md", settings=Settings())
    print_diagnoses(console, table.diagnoses, verbose=False)
    console.print(_prose(AFTER_TABLE))
    console.print()
    try:
        import torch
        import transformers
    except ImportError as error:
        console.print(
            told(
                "The rest trains a model and needs {package}: pip install 'holter[train]', or run make demo",
                package=error.name,
            ),
            markup=False,
        )
        return
    # Tensors this small are slower on several threads.
    torch.set_num_threads(1)
    transformers.utils.logging.disable_progress_bar()
    with tempfile.TemporaryDirectory() as folder:
        console.print(_rule(2, said("A run that is healthy")))
        console.print(_prose(*RUNS))
        healthy = trained(Path(folder) / "healthy", None, console)
        broken = said("The same run, with a reward to be hacked from step {step} on", step=BREAKS_AFTER + 1)
        console.print(_rule(3, broken))
        sick = trained(Path(folder) / "hacked", BREAKS_AFTER, console)
        console.print(_rule(4, said("What was planted, and what was found")))
        console.print(Markdown(compared(healthy, sick)))
    console.print(_prose(*AT_LAST))


def _rule(number: int, title: Said) -> Rule:
    return Rule(f"[bold]{number}. {told(title)}[/bold]")


def _prose(*paragraphs: Said) -> Markdown:
    return Markdown("\n\n".join(map(told, paragraphs)))


if __name__ == "__main__":
    main()
