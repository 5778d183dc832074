"""`holter serve` as a process of its own: it lists, judges in other processes, and ends with all of them."""

import json
import os
import select
import signal
import subprocess
import sys
import urllib.request

import pytest

import holter

pytestmark = pytest.mark.slow


def asked(address):
    with urllib.request.urlopen(f"{address}api/runs", timeout=60) as answer:
        return json.loads(answer.read())


def children(process):
    """Processes that it began, by their ids."""
    listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True, text=True, check=False)
    return [int(pid) for pid in listed.stdout.split()]


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="the ends of other processes are told by Linux only")
def test_it_says_what_check_says_and_ctrl_c_ends_every_process_without_a_word(tmp_path):
    rows = [{"step": s, "reward": 0.01 * s, "kl": 0.001 * 1.2 ** min(s, 60)} for s in range(1, 121)]
    for name in ("a", "b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "log.jsonl").write_text("".join(json.dumps(r) + "\n" for r in rows), encoding="utf-8")
    command = [sys.executable, "-m", "holter", "--lang", "en", "serve", str(tmp_path), "--port", "0"]
    server = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    try:
        address = server.stdout.readline().split()[-1]
        with urllib.request.urlopen(f"{address}api/events", timeout=120) as news:
            for _ in news:  # whenever something changed
                runs = asked(address)["runs"]
                if len(runs) == 2 and all(r["status"] for r in runs):
                    break
        said = [d.verdict.title for d in holter.check(tmp_path).diagnoses]
        assert [r["title"] for r in runs] == said
        others = children(server.pid)
        assert others
        ends = [os.pidfd_open(pid) for pid in others]
        os.killpg(server.pid, signal.SIGINT)  # as a terminal does: to all of them
        _, err = server.communicate(timeout=60)
    finally:
        server.kill()
    assert err == ""
    for end in ends:
        assert select.select([end], [], [], 60)[0]
        os.close(end)
