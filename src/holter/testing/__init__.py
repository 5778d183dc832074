"""What Holter holds its own detectors to, for those who write detectors in a package of their own.

```python
import pytest
from holter.testing import checks
from my_package.kl_flat import KLFlat


@pytest.mark.parametrize("check", checks(KLFlat), ids=str)
def test_kl_flat(check):
    check()
```

Every check is a function without arguments that raises `AssertionError` with all its complaints, so any test runner will do.
Nothing here needs more than Holter itself; the draws are seeded, so the same detector gets the same answer every time.
"""

from __future__ import annotations

from holter.testing.case_files import Case, cases_in
from holter.testing.checks import Check, checks
from holter.testing.properties import complaints

__all__ = ["Case", "Check", "cases_in", "checks", "complaints"]
