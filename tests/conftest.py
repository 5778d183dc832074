"""How hypothesis runs here: no deadline, because a busy machine is no fault; the same examples every time in CI."""

import os

from hypothesis import settings

settings.register_profile("dev", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "dev")
