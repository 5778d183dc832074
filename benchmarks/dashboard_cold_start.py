"""What somebody waits for who starts the dashboard over a folder of finished runs that it never saw.

python benchmarks/dashboard_cold_start.py [RUNS] [STEPS] [FOLDER]

Starts `holter serve` and asks it as a browser does, from the moment at which it said its address: until every run stands in the
list, each with its last step; until the page of one run, asked for as soon as it is listed, holds its curves, and its verdict;
until every run is read, and judged. Beside them stands the longest time that an answer took meanwhile. The runs are those of
`checking.py`, of 60 signals, unless FOLDER holds others.
"""

import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import httpx2 as httpx

from checking import written

PATIENCE = 3600.0
OFTEN = 0.05


def made(folder, runs, steps):
    """Runs that differ in name only: what they cost does not depend on what their noise is."""
    first = written(folder, steps)
    for number in range(runs):
        (home := folder / f"run-{number:03d}").mkdir()
        shutil.copyfile(first, home / "log.jsonl")
        (home / "config.json").write_text(json.dumps({"learning_rate": 1e-6, "seed": number}), encoding="utf-8")
    first.unlink()


def frames(answer):
    """What the frames of an answer to ``/api/page`` say."""
    while answer:
        told, size = struct.unpack_from("<II", answer)
        yield json.loads(answer[8 : 8 + told])
        answer = answer[8 + told + size :]


class Asking:
    """A browser: asks, and remembers how long the longest answer took."""

    def __init__(self, address):
        self.client = httpx.Client(base_url=address, timeout=PATIENCE)
        self.began = time.perf_counter()
        self.longest = 0.0
        self.lines = {}
        self.version = None

    def get(self, path, **query):
        """An answer."""
        asked = time.perf_counter()
        answer = self.client.get(path, params=query)
        self.longest = max(self.longest, time.perf_counter() - asked)
        return answer

    def list(self):
        """The lines of the list as they are now."""
        answer = self.get("/api/runs", **({"since": self.version} if self.version else {})).json()
        self.version = answer["version"]
        self.lines = {id: self.lines.get(id) for id in answer["ids"]} | {r["id"]: r for r in answer["runs"]}
        return list(self.lines.values())

    def until(self, holds):
        """Seconds since the beginning at which something held."""
        while not holds():
            time.sleep(OFTEN)
            if self.since() > PATIENCE:
                return float("nan")
        return self.since()

    def since(self):
        """Seconds since the beginning."""
        return time.perf_counter() - self.began


def page(address, id, found):
    """Ask for one run's page again and again, as a browser does that is told of changes."""
    browser = Asking(address)

    def run():
        return next((f["run"] for f in frames(browser.get("/api/page", run=id).content) if "run" in f), None)

    found["page"] = browser.until(run)
    found["verdict"] = browser.until(lambda: run()["verdict"]["title"] != "Not judged yet")
    found["longest"] = browser.longest


def main():
    runs, steps, *folder = [*sys.argv[1:], *("6", "100000")[len(sys.argv) - 1 :]]
    with tempfile.TemporaryDirectory() as place:
        root = Path(folder[0] if folder else place)
        if not folder:
            made(root, int(runs), int(steps))
        began = time.perf_counter()
        command = [sys.executable, "-m", "holter", "serve", str(root), "--port", "0"]
        server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=os.environ | {"HOLTER_LANG": "en"})
        address = server.stdout.readline().split()[-1]
        print(f"the address is printed after {time.perf_counter() - began:.2f} s")
        asking = Asking(address)
        count = sum(1 for _ in root.rglob("*.jsonl"))
        print(f"every run is listed: {asking.until(lambda: len(asking.list()) >= count):.2f} s")
        found = {}
        watching = threading.Thread(target=page, args=(address, sorted(asking.lines)[count // 2], found))
        watching.start()
        stepped = asking.until(lambda: all(r["last_step"] is not None for r in asking.list()))
        print(f"every run has its last step: {stepped:.2f} s")
        read = asking.until(lambda: all(r["rows"] for r in asking.list()))
        print(f"every run is read: {read:.2f} s")
        watching.join()
        print(
            f"a run asked for as soon as it is listed: curves {found['page']:.2f} s later, verdict {found['verdict']:.2f} s"
        )
        print(f"every run is judged: {asking.until(lambda: all(r['status'] for r in asking.list())):.2f} s")
        print(f"longest answer meanwhile: list {asking.longest:.2f} s, page {found['longest']:.2f} s")
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
