"""Vital sign: speed. Codes HLT851-859."""
