"""The run folder: its format, written and read in one place.

```
<run>/run.json                    manifest of the first segment: id, config, seed, git state, versions, hardware, command
<run>/run-<n>.json                manifest of segment n, which resumed the run
<run>/metrics-<n>.jsonl           one line a logged step
<run>/samples-<n>.jsonl           one line a completion
<run>/findings.jsonl              what the live monitor said, and when
```

No file is ever rewritten. A line is written by one system call, so it is in the file when the call returns, and a reader, a
`tail -f` or a crash sees whole lines and at most one torn one, the last. Non-finite numbers are the strings ``"NaN"``,
``"Infinity"`` and ``"-Infinity"``, so every line is strict JSON; ``null`` is a null that was logged; what was not logged is
not there. Where segments overlap in steps the newest one wins.
"""
