"""Vital sign: whether the policy learns at all. Codes HLT321-339."""
