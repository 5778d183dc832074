"""``holter``, and ``python -m holter``."""

from __future__ import annotations

import signal


def main() -> None:
    """Run the command line. Ctrl-C before a command runs ends the process without a word, not in the middle of an import."""
    ends = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ends:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from holter.cli import main as run

    if ends:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    run()


if __name__ == "__main__":
    main()
