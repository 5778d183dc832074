"""Frameworks that have loggers to plug in: verl, OpenRLHF, Lightning, accelerate.

Each adapter is what the framework calls a logger, over a run that `holter.init` began; it takes the framework's own names, so
that its dialect reads them back. Everything that `holter.init` takes, an adapter takes.
"""
