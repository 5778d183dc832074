"""Vital sign: the critic. Codes HLT601-629."""
