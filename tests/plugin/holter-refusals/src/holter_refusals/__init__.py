"""Holter plug-in: a signal, the dialect that logs it, and a detector that looks at it."""
