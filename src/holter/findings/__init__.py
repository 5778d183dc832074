"""What can be said about a run."""
