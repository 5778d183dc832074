"""What Holter is for, in one go: a table somebody pasted, a healthy run, and a run whose reward was being gamed.

Run it with ``make demo``. Every number it prints is read from the files beside it.
"""

from __future__ import annotations

from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.rule import Rule

from holter.findings.diagnosis import diagnose
from holter.reports.terminal import print_diagnoses
from holter.runs.load import load

HERE = Path(__file__).parent

SCENES = (
    (
        "hands_on.md",
        "A table, pasted",
        "Five rows are all that this person has: reward, KL, two losses and an evaluation. Reward rises to the last row, and "
        "that is what makes such a run dangerous. Look at what happens after step 3000.",
        "Three signals of different origin turn at the same row: KL jumps, both losses turn up, and the held-out score falls "
        "while the reward goes on rising. Each alone would be a question mark; together they are one story. It is called "
        "*likely, not certain*, because five rows and an evaluation of unknown size carry only so much "
        "(`holter check examples/hands_on.md --eval-size 1000` shows how much stronger the case becomes when the size is known).",
    ),
    (
        "runs/healthy-grpo",
        "A healthy GRPO run",
        "A real run of TRL 1.16 on a tiny model, read from its `trainer_state.json`. KL rises all the way, entropy falls, the "
        "loss wanders around zero, the clip fraction is zero throughout: each has been called a fault somewhere.",
        "All of that is what a healthy run does. Holter says so, and names what it could not check.",
    ),
    (
        "runs/hacked-ppo",
        "A PPO run whose reward was gamed",
        "A real run of TRL 1.12 without a KL penalty, whose reward model counts positive words. Its losses look fine.",
        "The score of the reward model climbs to its ceiling while the held-out score, which nobody optimised, falls to zero. "
        "Losses, ratio and clip fraction never showed it: only the held-out score and the distance from the reference did. "
        "That is why Holter keeps asking for an evaluation that is not the reward.",
    ),
)


def main() -> None:
    """Check each scene and explain what it shows."""
    console = Console(highlight=False)
    for log, title, before, after in SCENES:
        console.print(Rule(f"[bold]{title}[/bold]  examples/{log}"))
        console.print(Markdown(before))
        console.print()
        loaded = load([str(HERE / log)])
        print_diagnoses(console, [diagnose(run) for run in loaded.runs], loaded.refused, verbose=False)
        console.print()
        console.print(Markdown(f"**What this shows.** {after}"))
        console.print()
    console.print(
        Markdown(
            "Your own log: `.venv/bin/holter check PATH`. What a metric means: `.venv/bin/holter explain objective/kl`."
        )
    )


if __name__ == "__main__":
    main()
