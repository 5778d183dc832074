"""Frameworks: their names for our signals."""
