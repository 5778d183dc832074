"""Comparisons over planted runs, for the tests of what shows them."""

import numpy as np

from holter.compare import Comparison, compare
from holter.runs.build import run_of

ROWS = 80


def run(name: str, seed: int, *, drop: float = 0.0, slope: float = 0.001, metric: str = "reward", **config: object):
    """A run whose reward falls by `drop` from row 40 on and whose KL grows by `slope` a row."""
    rng = np.random.default_rng(seed)
    reward = 0.5 + rng.normal(0, 0.02) + rng.normal(0, 0.02, ROWS)
    reward[40:] -= drop
    kl = slope * np.arange(ROWS) + np.abs(rng.normal(0, 0.001, ROWS))
    columns = {metric: list(reward), "kl": list(kl), "entropy": list(1 + rng.normal(0, 0.05, ROWS))}
    columns["num_tokens"] = [100.0 * (i + 1) for i in range(ROWS)]
    steps = [float(i + 1) for i in range(ROWS)]
    return run_of(steps, columns, config={"seed": seed, "learning_rate": 1e-6, **config}, name=name)


def two_settings(**kwargs: object) -> Comparison:
    """Three seeds of a setting, and three of one whose reward falls."""
    good = [run(f"good/s{s}/log.jsonl", s) for s in range(3)]
    bad = [run(f"bad/s{s}/log.jsonl", 10 + s, drop=0.3, beta=0.1) for s in range(3)]
    return compare(bad, baseline=good, **kwargs)


def same_setting_twice() -> Comparison:
    """Two settings that differ in a number that does nothing."""
    first = [run(f"a/s{s}/log.jsonl", s, warmup=1) for s in range(3)]
    return compare([*first, *(run(f"b/s{s}/log.jsonl", 20 + s, warmup=2) for s in range(3))])


def seeds_only() -> Comparison:
    """Seeds of one setting."""
    return compare([run(f"s{s}/log.jsonl", s) for s in range(3)])


def sweep() -> Comparison:
    """Nine runs over two settings, one of which makes the KL grow."""
    runs = [
        run(f"lr{i}-beta{j}/log.jsonl", 10 * i + j, slope=0.001 * 4**i, learning_rate=1e-6 * 4**i, beta=0.02 * j)
        for i in range(3)
        for j in range(3)
    ]
    return compare(runs)


def hostile(said: str) -> Comparison:
    """Runs whose names, metrics and settings are `said`."""
    first = run(f"{said}-a/log.jsonl", 1, metric=f"rewards/{said}/mean", note=f"{said}1")
    return compare([first, run(f"{said}-b/log.jsonl", 2, drop=0.3, metric=f"rewards/{said}/mean", note=f"{said}2")])
