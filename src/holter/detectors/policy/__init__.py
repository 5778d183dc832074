"""Vital sign: how far one update moves the policy. Codes HLT501-529."""
