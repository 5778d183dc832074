"""The log itself: steps that repeat, rows and signals that are missing. Codes HLT901-919."""
