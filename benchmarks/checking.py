"""What `holter check` costs beyond reading, on a generated log of 60 signals that looks like TRL's, at two lengths.

    python benchmarks/checking.py [ROWS] [TIMES] [TURNS]

Measures ROWS rows and TIMES as many, in turns, and a verl console of 100,000 lines, of which each tenth is a row. Reading,
detectors and the whole diagnosis are timed apart, as CPU time; the diagnosis runs the detectors itself, so its time holds
theirs.
"""

import json
import sys
import tempfile
from pathlib import Path
from time import process_time

import numpy as np

from holter.detectors.registry import all_detectors, run_detectors
from holter.findings.diagnosis import diagnose
from holter.findings.finding import Finding
from holter.runs.load import load

SIGNALS = 60
NAMED = {
    "loss": (0.0, 0.02),
    "grad_norm": (0.4, 0.1),
    "learning_rate": (1e-6, 0.0),
    "reward": (0.5, 0.05),
    "reward_std": (0.3, 0.03),
    "frac_reward_zero_std": (0.1, 0.05),
    "kl": (0.05, 0.01),
    "entropy": (1.2, 0.05),
    "completions/mean_length": (300.0, 20.0),
    "completions/min_length": (50.0, 9.0),
    "completions/max_length": (900.0, 60.0),
    "completions/clipped_ratio": (0.05, 0.02),
    "completions/mean_terminated_length": (280.0, 20.0),
    "clip_ratio/low_mean": (0.01, 0.003),
    "clip_ratio/low_min": (0.0, 0.001),
    "clip_ratio/high_mean": (0.01, 0.003),
    "clip_ratio/high_max": (0.05, 0.01),
    "clip_ratio/region_mean": (0.02, 0.004),
    "sampling/sampling_logp_difference/mean": (0.01, 0.002),
    "sampling/sampling_logp_difference/max": (0.5, 0.1),
    "sampling/importance_sampling_ratio/min": (0.7, 0.05),
    "sampling/importance_sampling_ratio/mean": (1.0, 0.01),
    "sampling/importance_sampling_ratio/max": (1.5, 0.1),
    "step_time": (12.0, 1.0),
}
"""Level and spread of the signals that TRL's GRPO trainer logs; reward functions fill up to `SIGNALS`."""
VERL = {
    "actor/entropy": (1.2, 0.05),
    "actor/pg_loss": (0.01, 0.02),
    "actor/pg_clipfrac": (0.01, 0.003),
    "actor/ppo_kl": (0.001, 0.0005),
    "actor/kl_loss": (0.05, 0.01),
    "actor/grad_norm": (0.4, 0.1),
    "critic/score/mean": (0.5, 0.05),
    "critic/score/max": (1.0, 0.0),
    "critic/rewards/mean": (0.5, 0.05),
    "critic/advantages/mean": (0.0, 0.01),
    "critic/advantages/max": (2.0, 0.1),
    "response_length/mean": (300.0, 20.0),
    "response_length/max": (900.0, 60.0),
    "response_length/clip_ratio": (0.05, 0.02),
    "prompt_length/mean": (100.0, 5.0),
    "timing_s/step": (20.0, 1.0),
    "perf/throughput": (1000.0, 50.0),
}
"""Level and spread of some signals that verl prints; times of phases fill up to `SIGNALS`."""
CONSOLE_LINES = 100_000


def written(folder, rows):
    """A healthy run: every signal keeps its level, reward and length drift a little."""
    rng = np.random.default_rng(0)
    rewards = (f"rewards/reward_{k // 2}/{('mean', 'std')[k % 2]}" for k in range(SIGNALS - len(NAMED)))
    signals = {**NAMED, **dict.fromkeys(rewards, (0.4, 0.05))}
    level, spread = np.array(list(signals.values())).T
    values = np.abs(level + spread * rng.normal(size=(rows, len(signals))))
    drift = np.linspace(0, 1, rows)
    values[:, list(signals).index("reward")] += 0.2 * drift
    values[:, list(signals).index("completions/mean_length")] += 30 * drift
    path = Path(folder) / f"{rows}.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for step, row in enumerate(values.tolist(), start=1):
            out.write(json.dumps({"step": step, "epoch": step / rows, **dict(zip(signals, row, strict=True))}) + "\n")
    return path


def console(folder):
    """What verl prints through Ray: a healthy run's rows between what its workers say."""
    rng = np.random.default_rng(0)
    path = Path(folder) / "verl.log"
    with path.open("w", encoding="utf-8") as out:
        for step in range(1, CONSOLE_LINES // 10 + 1):
            noise = rng.normal(size=len(VERL) + SIGNALS)
            said = [f"{k}:{abs(a + b * n):.6f}" for (k, (a, b)), n in zip(VERL.items(), noise[SIGNALS:], strict=True)]
            said += [
                f"timing_per_token_ms/part_{k}:{abs(0.4 + 0.05 * noise[k]):.6f}" for k in range(SIGNALS - len(VERL))
            ]
            out.write(f"(TaskRunner pid=7) step:{step} - {' - '.join(said)}\n")
            for worker in range(9):
                out.write(
                    f"(WorkerDict pid=1{worker}) INFO vllm engine: prompt throughput: 12.3 tokens/s, 3 requests\n"
                )
    return path


def timed(path):
    """CPU seconds of reading, detectors and diagnosis, and what was said."""
    start = process_time()
    (run,) = load([path]).runs
    read = process_time()
    said = list(run_detectors(run))
    detected = process_time()
    diagnose(run)
    return (read - start, detected - read, process_time() - detected), run, said


def main():
    rows, factor, turns = (int(a) for a in [*sys.argv[1:], *("10000", "10", "3")[len(sys.argv) - 1 :]])
    with tempfile.TemporaryDirectory() as folder:
        paths = [written(folder, rows), written(folder, factor * rows)]
        timed(paths[0])
        times = np.array([[timed(path)[0] for path in paths] for _ in range(turns)])
        middle = np.median(times, axis=0)
        growth = np.median(times[:, 1] / times[:, 0], axis=0)
        _, run, said = timed(paths[0])
        printed = np.median([timed(console(folder))[0] for _ in range(turns)], axis=0)
    findings = sum(isinstance(s, Finding) for s in said)
    print(f"{len(all_detectors())} detectors, {len(run.series)} known signals:")
    print(f"{findings} findings, {len(said) - findings} unchecked")
    print(f"| CPU seconds | {rows:,} rows | {factor * rows:,} rows | growth |")
    print("|---|---:|---:|---:|")
    for name, column, times_more in zip(
        ("reading", "detectors", "diagnosis, detectors included"), middle.T, growth, strict=True
    ):
        print(f"| {name} | {column[0]:.3f} | {column[1]:.3f} | {times_more:.1f}x |")
    reading, _, diagnosis = printed
    print(f"verl console of {CONSOLE_LINES:,} lines: {reading:.2f} s to read, {diagnosis:.2f} s to diagnose")


if __name__ == "__main__":
    main()
