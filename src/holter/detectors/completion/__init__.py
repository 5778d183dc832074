"""Vital sign: how completions end and how long they are. Codes HLT801-819."""
