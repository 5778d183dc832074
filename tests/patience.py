"""How long tests wait for what is sure to come, before they say that it does not."""

PATIENCE = 600.0
"""Seconds. Never waited for where all is well, so no machine is too slow or too busy for it."""
