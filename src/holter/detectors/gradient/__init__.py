"""Vital sign: gradient norm and learning rate. Codes HLT701-729."""
