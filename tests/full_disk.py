"""A disk that is full, without one."""

import resource
import signal
from contextlib import contextmanager


@contextmanager
def disk_of(size):
    """A disk that takes files up to `size` bytes: the kernel writes what fits and refuses the rest, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
