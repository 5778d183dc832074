"""How tests run here: in English whatever the machine speaks.

Hypothesis has no deadline, because a busy machine is no fault, and in CI the same examples every time.
"""

import os

from hypothesis import settings

os.environ["HOLTER_LANG"] = "en"
settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
