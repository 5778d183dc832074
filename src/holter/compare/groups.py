"""Runs of one setting that differ only in their seed belong together: their spread is the noise to judge by."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

from holter.compare.settings_apart import SEEDS, apart, as_text, settings_of
from holter.compare.sweep import LEAST_RUNS
from holter.language import Said, said
from holter.runs.hyperparameters import flatten

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from holter.runs.run import Run

BY = ("auto", "config", "name", "none")
"""How runs can be grouped: by their configurations, by their names, or not at all."""

_TELLING = SEEDS | {"learning_rate", "lr", "optim.lr", "actor_learning_rate", "beta", "kl_coef", "init_kl_coef"}
"""Settings whose presence shows that a configuration is a trainer's, and not the few fields a log repeats."""

_SEED_IN_NAME = re.compile(r"[-_.=/ ](?:seed|s|rep|replica|trial)[-_.=]?\d+(?=$|[-_./ ])", re.I)
_NUMBER_AT_END = re.compile(r"(?P<stem>.*?(?P<word>[A-Za-z]{2,}))[-_](?P<number>\d{1,2})$")
_SWEPT = frozenset(
    [
        "lr",
        "beta",
        "kl",
        "bs",
        "batch",
        "size",
        "eps",
        "epsilon",
        "temp",
        "temperature",
        "lora",
        "rank",
        "len",
        "length",
        "gamma",
        "lam",
        "lambda",
        "coef",
        "vf",
        "mu",
        "iter",
        "iters",
        "epoch",
        "epochs",
        "ep",
        "step",
        "steps",
        "ckpt",
        "checkpoint",
        "gen",
        "gens",
        "group",
        "top",
        "layer",
        "layers",
        "version",
        "gpu",
        "gpus",
        "node",
        "nodes",
        "max",
        "min",
    ]
)
"""Words before a number that make it a setting and not a seed."""


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """Runs of one setting.

    Attributes:
        label: What to call it: what its setting has that others have not, or the runs' name.
        runs: Its runs, one a seed.
        baseline: Whether the others are held against it.
    """

    label: str
    runs: tuple[Run, ...]
    baseline: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Grouping:
    """All runs in their groups.

    Attributes:
        groups: The groups, the baseline first where there is one.
        how: How they were grouped, in a sentence.
    """

    groups: tuple[Group, ...]
    how: Said


def grouped(runs: Sequence[Run], *, by: str = "auto", baseline: Sequence[Run] = ()) -> Grouping:
    """Put runs of one setting together.

    Args:
        runs: The runs to compare.
        by: One of `BY`. ``auto`` takes the configurations where every log holds its trainer's, else the names as well.
        baseline: Runs that the others are held against; they form one group, whatever their settings.
    """
    if by == "auto":
        by = "config" if all(_has_config(run) for run in runs) else "name"
    shared = set.intersection(*(set(settings_of(run)) for run in runs)) if runs else set()
    keys: Mapping[str, Callable[[Run], Hashable]] = {
        "config": lambda run: _setting(run, None),
        "name": lambda run: (_setting(run, shared), stem(run.name)),
        "none": lambda run: run.name,
    }
    members: dict[Hashable, list[Run]] = {}
    for run in runs:
        members.setdefault(keys[by](run), []).append(run)
    groups = [
        Group(label, tuple(m)) for label, m in zip(_labels(list(members.values()), by), members.values(), strict=True)
    ]
    if not baseline:
        groups = _swept(groups)
    if baseline:
        groups.insert(0, Group("baseline", tuple(baseline), baseline=True))
    how = {
        "config": said("runs whose configurations differ only in seed, name and places are seeds of one setting"),
        "name": said(
            "runs whose names differ only in a seed are seeds of one setting, because the logs do not hold the "
            "trainer's configuration"
        ),
        "none": said("every run stands for itself"),
    }[by]
    return Grouping(tuple(groups), how)


def _swept(groups: list[Group]) -> list[Group]:
    """The settings of a sweep by the numbers they differ in. Where there is no sweep, the first named is the yardstick."""
    if len(groups) <= 2 or sum(len(group.runs) for group in groups) < LEAST_RUNS:
        return groups
    differing = apart([group.runs[0] for group in groups])
    numbers = [setting.numbers for setting in differing if setting.numbers is not None]
    order = sorted(range(len(groups)), key=lambda g: tuple(each[g] for each in numbers))
    return [groups[g] for g in order]


def stem(name: str) -> str:
    """A run's name without what looks like a seed: ``ppo-healthy-2/log.jsonl`` and ``ppo-healthy-0/log.jsonl`` are one."""
    place = PurePath(name)
    folder = str(place.parent) if place.suffix and place.parent.name else name
    without = _SEED_IN_NAME.sub("", folder)
    found = _NUMBER_AT_END.fullmatch(without)
    return found["stem"] if without == folder and found and found["word"].lower() not in _SWEPT else without


def short_name(run: Run) -> str:
    """The folder of a run, which is what people named it, or the file where there is no folder."""
    place = PurePath(run.name)
    return place.parent.name if place.suffix and place.parent.name else place.name


def _has_config(run: Run) -> bool:
    return any(path.rsplit(".", 1)[-1] in _TELLING or path in _TELLING for path, _ in flatten(run.config))


def _setting(run: Run, only: set[str] | None) -> Hashable:
    return tuple(sorted((n, as_text(v)) for n, v in settings_of(run).items() if only is None or n in only))


def _labels(groups: Sequence[Sequence[Run]], by: str) -> list[str]:
    """A label a group: the settings that tell it from the others, or the stem of its runs' names. No two are equal."""
    labels = [PurePath(stem(g[0].name)).name if len(g) > 1 or by == "name" else short_name(g[0]) for g in groups]
    if by == "config" and len(groups) > 1:
        settings = [settings_of(g[0]) for g in groups]
        names = dict.fromkeys(n for each in settings for n in each)
        telling = [n for n in names if len({as_text(each.get(n)) for each in settings}) > 1]
        if 0 < len(telling) <= 3:
            labels = [" ".join(f"{n.rsplit('.', 1)[-1]}={as_text(each.get(n))}" for n in telling) for each in settings]
    seen: Counter[str] = Counter()
    out = []
    for label, runs in zip(labels, groups, strict=True):
        seen[label] += 1
        own = label if labels.count(label) == 1 else f"{label} ({runs[0].name if len(runs) == 1 else seen[label]})"
        out.append(own)
    return out
