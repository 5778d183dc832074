"""How tests run here: in English whatever the machine speaks.

Hypothesis has no deadline, because a busy machine is no fault, and draws the same examples every time, so that a change that is
tested is the only change. ``--hypothesis-profile=search`` draws others each time.
"""

import os

from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

os.environ["HOLTER_LANG"] = "en"
UNHURRIED = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("search", derandomize=False, **UNHURRIED)
settings.register_profile("same", derandomize=True, **UNHURRIED)
settings.load_profile("same")
# Without this, constants in the sources of whatever was imported so far are drawn too: others in another order of the tests.
providers._get_local_constants = lambda: providers._local_constants
