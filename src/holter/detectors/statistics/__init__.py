"""Small causal statistics that detectors share. None looks past the point it judges."""
