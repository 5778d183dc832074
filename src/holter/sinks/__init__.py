"""Where a run's record goes: the run folder, and the trackers that people watch."""
