"""Vital sign: how widely the policy samples. Codes HLT401-419."""
