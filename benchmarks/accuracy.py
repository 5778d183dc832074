"""How often the diagnosis is right and how often it cries wolf: on every labelled set that is present and on made runs.

    python benchmarks/accuracy.py [FOLDER] [--runs N] [--each N] [--write]

FOLDER holds the labelled sets (`runs/trl`, `runs/synthetic`, `runs/public`, `cases`) and `bench/kinds.json`; it is the argument,
else $HOLTER_LABELLED, else `shared` beside the repository. A set that is not there is said to be absent. N healthy runs are made
(1,000), and N of every fault under every algorithm (60). `--write` stores the measurement in the package, from where
`holter explain` prints it, and makes `docs/accuracy.md` of it.
"""

import argparse
import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from holter.detectors.measured import FILE
from labelled import made, page
from labelled.judged import judged
from labelled.logs import SETS, labels
from labelled.study import MADE, study

ROOT = Path(__file__).parents[1]
DOCUMENT = ROOT / "docs" / "accuracy.md"
PROCESSES = 2


def measured(folder, runs, each):
    """The record of a whole measurement."""
    tasks = {name: labels(folder, name) for name in SETS}
    tasks[MADE] = [*made.healthy(runs), *made.sick(each)]
    with ProcessPoolExecutor(PROCESSES) as pool:
        return study(
            {
                name: None if found is None else list(pool.map(judged, found, chunksize=8))
                for name, found in tasks.items()
            }
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("HOLTER_LABELLED", ROOT.parent / "shared"))
    parser.add_argument("folder", nargs="?", type=Path, default=default, help="where the labelled sets lie")
    parser.add_argument("--runs", type=int, default=1000, help="healthy runs to make")
    parser.add_argument("--each", type=int, default=60, help="runs to make of each fault under each algorithm")
    parser.add_argument("--write", action="store_true", help="store the measurement and make docs/accuracy.md")
    asked = parser.parse_args()
    record = measured(asked.folder, asked.runs, asked.each)
    if asked.write:
        FILE.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        DOCUMENT.write_text(page.document(record), encoding="utf-8")
    print(page.tables(record))
    return 0


if __name__ == "__main__":
    sys.exit(main())
