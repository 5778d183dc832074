"""The canonical run, and how logs become one."""
