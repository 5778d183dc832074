"""Alerts: what is news, and who hears of it.

`Ledger` turns what a diagnosis says now into alerts: findings that open, worsen or are over. An `Audience` passes them on: to
the terminal, to the services that ``HOLTER_NOTIFY`` names, to a tracker's own alerts, to a command. What may take its time has
a thread of its own, so that a service that hangs holds up neither training nor the detectors nor another channel.
"""

from holter.alerts.alert import Alert, Notice
from holter.alerts.audience import Audience, Channel
from holter.alerts.ledger import Ledger
from holter.alerts.terminal import terminal
from holter.alerts.trackers import to_trackio, to_wandb

__all__ = ["Alert", "Audience", "Channel", "Ledger", "Notice", "terminal", "to_trackio", "to_wandb"]
