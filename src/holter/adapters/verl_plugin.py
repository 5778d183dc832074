"""The plug-in that verl loads: importing it teaches ``Tracking`` the backend ``holter``.

verl imports what is declared under its entry points ``verl.plugins``, and Holter declares this module there. Versions of verl
that have none import what ``VERL_USE_EXTERNAL_MODULES=holter.adapters.verl_plugin`` names; set it before Ray starts.
"""

from __future__ import annotations

from verl.utils.tracking import Tracking

from holter.adapters.verl import register

register(Tracking)
