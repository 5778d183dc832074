"""Vital sign: reward variance within the group of a prompt. Codes HLT821-839."""
