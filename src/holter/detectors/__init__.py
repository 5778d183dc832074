"""Detectors: one kind of trouble, one module, with its case file beside it; a folder a vital sign."""
