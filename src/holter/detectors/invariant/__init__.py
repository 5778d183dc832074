"""Metrics that break their own definition. Codes HLT921-939."""
