"""Vital sign: what the policy is paid, and whether it still says anything. Codes HLT301-319."""
