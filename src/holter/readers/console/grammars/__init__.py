"""The forms in which frameworks print a row of metrics, one file for each framework or family."""
