"""How soon after a planted fault a warning names it: Holter beside two others that read training logs, rlprobe and rl-doctor.

    python benchmarks/first_warning.py [FOLDER] [--every N]

FOLDER holds `runs/synthetic` and `bench/kinds.json`; it is the argument, else $HOLTER_LABELLED, else `shared` beside the
repository. Every log is handed over as it grew, N rows more at a time (5), as to somebody who watches; a peer's own statement
of when the trouble began, made after it has seen the end, is no warning. A warning counts from the onset on and where its kind
names the fault. A kind that a peer also says, at any time, of a healthy run of the same algorithm is left out: whoever cries
wolf is always early. Peers that are not installed are left out (`pip install rlprobe==0.1.0 rldoctor==0.2.0`).
"""

import argparse
import json
import math
import os
from collections import defaultdict
from pathlib import Path
from statistics import median

from labelled.judged import judged
from labelled.logs import labels

ROOT = Path(__file__).parents[1]
SET = "runs/synthetic"
RLPROBE_NAMES = {
    "reward": "reward_mean",
    "objective/scores": "reward_mean",
    "reward_std": "reward_std",
    "kl": "kl_mean",
    "objective/kl": "kl_mean",
    "entropy": "entropy_mean",
    "policy/entropy_avg": "entropy_mean",
    "loss": "loss",
    "frac_reward_zero_std": "zero_variance_group_frac",
    "completions/mean_length": "completion_len_mean",
    "completions/clipped_ratio": "truncation_rate",
    "clip_ratio/region_mean": "clip_fraction",
    "lr": "lr",
    "policy/clipfrac_avg": "clip_fraction",
    "val/ratio": "ratio_mean",
    "loss/value_avg": "value_loss",
    "loss/policy_avg": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "lr",
    "step_time": "step_time_s",
}
"""TRL's names and the fields of rlprobe's step record that mean the same."""
RIGHT = {
    "rlprobe": {
        "KL_BLOWUP": ("kl_explosion",),
        "ENTROPY_COLLAPSE": ("entropy_collapse",),
        "REWARD_HACK_LENGTH": ("reward_hacking", "length_explosion"),
        "FORMAT_GAMING": ("reward_hacking",),
        "CLIP_SATURATION": ("ratio_explosion",),
        "DEGENERATE_GROUPS": ("zero_reward_std", "no_learning"),
        "REWARD_STD_DEATH": ("zero_reward_std",),
        "VALUE_DIVERGENCE": ("value_divergence",),
        "GRAD_PATHOLOGY": ("grad_explosion", "nan"),
        "TRUNCATION_STARVE": ("truncation", "length_explosion"),
    },
    "rl-doctor": {
        "advantage_collapse": ("zero_reward_std", "no_learning"),
        "entropy_collapse": ("entropy_collapse",),
        "reward_hacking": ("reward_hacking",),
        "length_pathology": ("length_explosion", "truncation"),
        "clip_saturation": ("ratio_explosion",),
        "kl_drift": ("kl_explosion",),
        "gradient_pathology": ("grad_explosion", "nan"),
        "plateau": ("no_learning", "reward_collapse"),
    },
}
"""Faults that each kind of finding names rightly, generously."""


def rlprobe():
    """A function from rows to the kinds of rlprobe's findings at warning or above."""
    from rlprobe.doctor.engine import diagnose_view
    from rlprobe.doctor.runview import RunView
    from rlprobe.schemas import RunManifest, StepRecord

    manifest = RunManifest(run_id="run", created_at="2026-01-01T00:00:00", algorithm="grpo")

    def record(row):
        known = {RLPROBE_NAMES[k]: v for k, v in row.items() if k in RLPROBE_NAMES and _finite(v)}
        parts = {k.split("/")[1]: v for k, v in row.items() if k.startswith("rewards/") and k.endswith("/mean")}
        return StepRecord(step=int(row["step"]), reward_components=parts, **known)

    def kinds(rows):
        training = [record(row) for row in rows if not any(k.startswith("eval") for k in row)]
        if not training:
            return set()
        return {f.signature_id for f in diagnose_view(RunView(manifest, training)) if f.severity != "info"}

    return kinds


def rl_doctor():
    """A function from rows to the kinds of rl-doctor's findings at warning or above."""
    from rl_doctor import diagnose, run_from_records

    def kinds(rows):
        found = diagnose(run_from_records(rows)).findings if len(rows) > 7 else ()
        return {f.detector for f in found if f.severity.name in ("WARNING", "CRITICAL")}

    return kinds


PEERS = {"rlprobe": rlprobe, "rl-doctor": rl_doctor}


def _finite(value):
    return isinstance(value, int | float) and math.isfinite(value)


def watched(kinds, rows, steps, every):
    """By kind, the rows after which it was said; `every` rows between two looks."""
    said = defaultdict(list)
    for n in sorted({*range(every, len(steps) + 1, every), len(steps)}):
        for kind in kinds([row for row in rows if row["step"] <= steps[n - 1]]):
            said[kind].append(n)
    return said


def peers():
    """Those of `PEERS` that are installed, ready to read rows."""
    out = {}
    for name, make in PEERS.items():
        try:
            out[name] = make()
        except ImportError:
            print(f"{name} is not installed")
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("HOLTER_LABELLED", ROOT.parent / "shared"))
    parser.add_argument("folder", nargs="?", type=Path, default=default, help="where the labelled sets lie")
    parser.add_argument("--every", type=int, default=5, help="rows between two looks")
    asked = parser.parse_args()
    known = peers()
    seen, wolves, delays = [], {name: set() for name in known}, defaultdict(dict)
    for label in labels(asked.folder, SET) or ():
        rows = [json.loads(line) for line in label.log.read_text(encoding="utf-8").splitlines()]
        steps = sorted({row["step"] for row in rows})
        algorithm = "ppo" if any("objective/kl" in row for row in rows) else "grpo"
        said = {name: watched(kinds, rows, steps, asked.every) for name, kinds in known.items()}
        seen.append((label, algorithm, sum(step <= (label.onset or 0) for step in steps), said))
        for name in known if label.healthy else ():
            wolves[name] |= {(algorithm, kind) for kind in said[name]}
    for label, algorithm, onset, said in seen:
        if not label.sick:
            continue
        own = judged(label)
        ours = own.delay()
        if ours is not None:
            delays[label.id]["holter"] = -(-(onset + ours) // asked.every) * asked.every - onset
        for name, found in said.items():
            right = [
                n
                for kind, at in found.items()
                if label.says in RIGHT[name].get(kind, ()) and (algorithm, kind) not in wolves[name]
                for n in at
                if n >= onset
            ]
            if right:
                delays[label.id][name] = min(right) - onset
    _print(known, {label.id: label.says for label, *_ in seen}, delays, wolves)


def _print(known, faults, delays, wolves):
    for name in known:
        print(f"{name} says of healthy runs as well: {sorted(' '.join(w) for w in wolves[name]) or 'nothing'}")
    heads = [cell for name in known for cell in (name, "holter there")]
    print(f"\n| fault | runs | {' | '.join([*heads, 'holter'])} |\n|---|---:|{'---:|' * (len(heads) + 1)}")
    for fault in dict.fromkeys(faults.values()):
        runs = [d for run, d in delays.items() if faults[run] == fault]
        cells = [
            _median([d[who] for d in runs if name in d and who in d]) for name in known for who in (name, "holter")
        ]
        if runs:
            print(
                f"| {fault} | {len(runs)} | {' | '.join([*cells, _median([d['holter'] for d in runs if 'holter' in d])])} |"
            )
    print("\nMedian delay in rows, on the runs that each one names, and Holter's on the same:")
    for name in known:
        both = [d for d in delays.values() if name in d and "holter" in d]
        print(f"- {name}: {_median([d[name] for d in both])}; Holter {_median([d['holter'] for d in both])}")
    earliest = [
        (min(d[n] for n in known if n in d), d["holter"]) for d in delays.values() if "holter" in d and len(d) > 1
    ]
    print(f"- the earlier of them: {_median([a for a, _ in earliest])}; Holter {_median([b for _, b in earliest])}")


def _median(values):
    return f"{median(values):g} ({len(values)})" if values else "-"


if __name__ == "__main__":
    main()
