"""What a person at the terminal sees: completions, and a progress bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.table import Table
from rich.text import Text
from transformers.trainer_callback import ProgressCallback

from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holter.sinks.base import Sample


def print_completions(rows: Sequence[Sample], step: int) -> None:
    """One table of completions with their rewards and advantages."""
    names = [n for n in dict.fromkeys(n for row in rows for n in row) if n.startswith("rewards/")]
    table = Table(title=told("Step {step}", step=step), show_lines=True)
    rewards = (n.removeprefix("rewards/") for n in names)
    for column in (told("prompt"), told("completion"), *rewards, told("advantage")):
        table.add_column(column, overflow="fold")
    for row in rows:
        numbers = [row.get(n) for n in (*names, "advantage")]
        table.add_row(
            *(Text(_plain(row.get(n, ""))) for n in ("prompt", "completion")),
            *(f"{v:.3g}" if isinstance(v, int | float) else "" for v in numbers),
        )
    Console().print(table)


def _plain(said: object) -> str:
    if isinstance(said, list):
        return "\n".join(f"{m.get('role', '')}: {m.get('content', '')}" for m in said)
    return str(said)


class Progress(ProgressCallback):
    """A progress bar with the numbers that matter, instead of a dictionary of fifty a step."""

    shown = ("reward", "objective/scores", "kl", "objective/kl", "entropy", "completions/mean_length", "eval_reward")

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **kwargs: Any) -> None:  # noqa: ANN401, ARG002
        """Write the newest numbers behind the bar."""
        if state.is_world_process_zero and self.training_bar is not None and logs:
            news = {k.split("/")[-1]: f"{logs[k]:.3g}" for k in self.shown if isinstance(logs.get(k), int | float)}
            self._seen = {**getattr(self, "_seen", {}), **news}
            self.training_bar.set_postfix(self._seen, refresh=False)
