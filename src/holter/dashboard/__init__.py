"""The live dashboard: all runs below a folder in the browser, read-only.

`fleet` keeps the runs current, `samples` reads completions, `safety` decides who may ask, `server` answers.
"""
