"""Vital sign: whether the sampler and the trainer hold the same policy. Codes HLT751-769."""
