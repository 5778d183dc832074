"""Vital sign: evidence that is independent of the reward. Codes HLT341-359."""
