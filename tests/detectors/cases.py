"""Every case of every detector, from the Markdown beside it."""

from __future__ import annotations

from pathlib import Path

import holter.detectors
from holter.testing.case_files import FENCE, Case, cases_in

__all__ = ["CASES", "FENCE", "Case"]

ROOT = Path(holter.detectors.__file__).parent
CASES = [case for file in sorted(ROOT.rglob("*.md")) for case in cases_in(file)]
