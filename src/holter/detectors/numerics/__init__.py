"""Vital sign: numbers that are no numbers. Codes HLT101-119."""
