"""Labelled runs, what the diagnosis says of them, and how the two compare: the parts of `accuracy.py`."""
