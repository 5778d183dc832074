"""Holter: a Holter monitor for RLHF.

It records the vital signs of an RL post-training run and reads them like a good clinician: what is wrong, since which step,
how sure, what else it could be, what to try.
"""

__version__ = "0.1.0"
