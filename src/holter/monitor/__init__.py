"""The monitor: the detectors of ``holter check``, run over a record while it grows.

The only part that knows both halves: it takes rows as a sink does, and makes a run of them as a reader does, so that what it
says of a prefix is what ``holter check`` says of it afterwards.
"""

from holter.monitor.monitor import Monitor
from holter.monitor.stopping import Stop, StopRule

__all__ = ["Monitor", "Stop", "StopRule"]
