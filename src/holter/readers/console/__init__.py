"""What trainers print: rows of metrics found among everything else that a console shows.

Each form of a row is a `Grammar` in `grammars`; adding one adds a file there.
"""
