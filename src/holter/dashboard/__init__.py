"""The live dashboard: all runs below a folder in the browser, read-only.

`fleet` keeps the runs current, each an `entry`: `glimpse` sees from the end of a file where it stands, `work` reads and judges,
`apart` in processes of their own. `prepared` makes ready what a page shows of one, `frames` sends it or what is new in it,
`along` places steps in what a run consumed, `samples` reads completions, `safety` decides who may ask, `interpreter` in which
language they are answered, `server` answers.
"""
