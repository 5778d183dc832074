"""The third-party package brings tests of its own; they run where it is installed, not here."""

collect_ignore = ["holter-refusals"]
