"""Which part of a reward is the task itself, by the name that people give its function."""

from __future__ import annotations

import re

TASK = re.compile(r"accura|correct|gold|answer|solve|exact|em\b|pass|unit_test|success", re.I)
"""Names of parts that pay for a right answer; the others pay for format, length, style."""
