"""W&B's own files, read without W&B."""
