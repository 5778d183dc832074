"""How much memory ten signals of a JSONL file take that is larger than the memory: huge_jsonl.py [GIGABYTES] [KEYS].

The file is written from a few different pieces and removed afterwards. The peak is that of a fresh process, Python included.
"""

import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

WANTED = ("reward", "kl", "entropy", "loss", "grad_norm", "reward_std", "learning_rate", "completions/mean_length")
PIECES, ROWS = 8, 2000


def written(folder, size, keys):
    """A log of TRL's names among many others; the steps of its pieces repeat, padded to one width."""
    rng = np.random.default_rng(0)
    names = [*WANTED, *(f"rewards/reward_{i}/mean" for i in range(keys - len(WANTED)))]
    path = Path(folder) / "log.jsonl"
    with path.open("w", encoding="utf-8") as out:
        step = 0
        pieces = [[json.dumps(dict(zip(names, row, strict=True)))[1:] for row in rng.random((ROWS, keys)).tolist()]
                  for _ in range(PIECES)]  # fmt: skip
        while out.tell() < size:
            for rest in pieces[(step // ROWS) % PIECES]:
                step += 1
                out.write(f'{{"step": {step}, {rest}\n')
    return path


def read(path):
    """In a process of its own: rows, and the peak of its memory."""
    from holter.runs.load import load

    (run,) = load([path], signals=[*WANTED, "rewards/reward_0/mean", "rewards/reward_1/mean"]).runs
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    cpu = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    print(f"{len(run):,} rows, {len(run.series)} signals, {most / 2**20:,.0f} MiB at the most, {cpu:.0f} s of CPU")


def main():
    if sys.argv[1:2] == ["--read"]:
        read(sys.argv[2])
        return
    size, keys = float(sys.argv[1]) if sys.argv[1:] else 5.0, int(sys.argv[2]) if sys.argv[2:] else 60
    with tempfile.TemporaryDirectory() as folder:
        path = written(folder, size * 2**30, keys)
        print(f"{path.stat().st_size / 2**30:.1f} GiB, {keys} names: ", end="", flush=True)
        subprocess.run([sys.executable, __file__, "--read", str(path)], check=True)


if __name__ == "__main__":
    main()
