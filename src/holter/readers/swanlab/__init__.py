"""SwanLab's run files, read without SwanLab."""
