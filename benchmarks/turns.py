"""What benchmarks of reading share: CPU time of readers that take turns, and the memory that one takes."""

import tracemalloc
from time import process_time

import numpy as np

TURNS = 7


def seconds(read, path):
    """CPU time of one reading."""
    start = process_time()
    read(path)
    return process_time() - start


def in_turns(peer, own, path):
    """Least CPU time of either, and the median of the ratios of neighbouring turns, which a busy machine moves least."""
    times = [(seconds(peer, path), seconds(own, path)) for _ in range(TURNS)]
    theirs, ours = (min(t) for t in zip(*times, strict=True))
    return theirs, ours, float(np.median([a / b for a, b in times]))


def peak(read, path):
    """Bytes allocated at the most while reading, and what came out."""
    tracemalloc.start()
    found = read(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most, found
