"""File formats: bytes in, raw columns out."""
