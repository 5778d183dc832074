from dataclasses import dataclass
from typing import ClassVar

import pytest

from holter.detectors.base import Detector, quote
from holter.findings.finding import Confidence, Severity


@pytest.fixture
def a_detector():
    """A detector that warns of the first row, from a number of rows on."""

    def make(*, needs, raised, only_from=1):
        @dataclass(frozen=True, kw_only=True)
        class Plain(Detector):
            name: ClassVar = "plain"
            code: ClassVar = "TST001"
            since: ClassVar = "0.1"

            def check(self, run):
                if len(run) >= only_from:
                    reward = run.get("reward")
                    yield self.finding(
                        Severity.WARNING,
                        Confidence.MODERATE,
                        "reward is there",
                        run=run,
                        first=0,
                        last=len(run) - 1,
                        raised=raised,
                        evidence=[quote(reward, [0], "it is there")],
                    )

        Plain.needs = needs
        return Plain

    return make
