"""CPU time of `holter --help` and `holter --version`, each a fresh process; beside it Python that only imports numpy.

python benchmarks/start_up.py [TURNS]
"""

import resource
import statistics
import subprocess
import sys

COMMANDS = {
    "python -c pass": ["-c", "pass"],
    "import numpy": ["-c", "import numpy"],
    "holter --version": ["-c", "from holter.cli import main; main()", "--version"],
    "holter --help": ["-c", "from holter.cli import main; main()", "--help"],
}


def seconds(arguments):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    times = [{name: seconds(arguments) for name, arguments in COMMANDS.items()} for _ in range(turns)]
    print(f"| command | CPU seconds, median of {turns} | slowest |")
    print("|---|---:|---:|")
    for name in COMMANDS:
        column = [turn[name] for turn in times]
        print(f"| `{name}` | {statistics.median(column):.3f} | {max(column):.3f} |")


if __name__ == "__main__":
    main()
