"""Patterns that look alarming and are not: explanations, never more than an info. Codes HLT951-979."""
