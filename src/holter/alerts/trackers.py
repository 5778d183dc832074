"""Alerts of trackers that somebody else began in this process: W&B, Trackio.

```python
HolterCallback(..., tell=[holter.alerts.terminal, holter.alerts.to_wandb])
```

A W&B run that Holter began itself (``report_to="wandb"``) hears of alerts without this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holter.alerts.alert import Alert, Notice
from holter.findings.finding import Severity
from holter.language import told

if TYPE_CHECKING:
    from collections.abc import Callable

TITLE = 63
"""Characters of a title that W&B takes."""
LEVELS = {Severity.CRITICAL: "ERROR", Severity.WARNING: "WARN", Severity.INFO: "INFO"}


class NoTrackerRunError(RuntimeError):
    """A tracker's alert was asked for, and no run of it is under way in this process."""


class TrackerAlert:
    """The alerts of one tracker. A channel of an `Audience`."""

    def __init__(self, name: str, send: Callable[[str, str, str], None]) -> None:
        """`send` takes title, text and ``INFO``, ``WARN`` or ``ERROR``."""
        self.name = name
        self._send = send

    def __repr__(self) -> str:
        return f"holter.alerts.to_{self.name}"

    def __call__(self, said: object) -> None:
        """Send; raises what the tracker raises."""
        self._send(*worded(said))


def worded(said: object) -> tuple[str, str, str]:
    """Title, text and level of an alert, as trackers take them."""
    if isinstance(said, Notice):
        return said.title[:TITLE], said.text or said.title, said.level
    if not isinstance(said, Alert):
        return "holter", str(said), "INFO"
    over = said.kind == "resolved"
    finding = said.finding
    title = told(said.headline) if over else f"{finding.detector} {told(str(finding.severity))}"
    return title[:TITLE], str(said), "INFO" if over else LEVELS[finding.severity]


def _wandb(title: str, body: str, level: str) -> None:
    import wandb

    run: Any = wandb.run
    if run is None:
        raise NoTrackerRunError(told("wandb.init() was not called in this process"))
    run.alert(title=title, text=body, level=level)


def _trackio(title: str, body: str, level: str) -> None:
    import trackio

    trackio.alert(title=title, text=body, level=trackio.AlertLevel[level])


to_wandb = TrackerAlert("wandb", _wandb)
"""Alerts of the W&B run that this process has: ``wandb.run``."""
to_trackio = TrackerAlert("trackio", _trackio)
"""Alerts of the Trackio run that this process has. The run must be there when Holter's begins."""
