"""What a raw name means in a dialect: its tables, read with patience for prefixes and rewritten separators."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from holter.dialects.base import Dialect, Fit, Name
from holter.dialects.lineage import GENERIC, all_dialects, dialect, lineage
from holter.dialects.names import LONGEST, loosened, plain, snake, spoken_snake
from holter.signals import catalog

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

TRAINING = ("train/",)
"""Prefixes that trackers put before training metrics, whatever the framework."""

EVALUATION = ("eval/", "eval_")
"""Prefixes of evaluation metrics that are believed in every dialect."""
_STANDARD_ERROR = re.compile(r"(?P<score>.+?)[_/](?:std_?err(?:or)?|standard_error|sem)")
"""The standard error of an evaluation score, by its name."""
ANY_SCORE = "eval/{name}"
"""Key of the signal that stands for every evaluation score without a signal of its own."""

ALWAYS_IGNORED = re.compile(
    r"(?:(?:train|trainer|training|rollout|eval|val)/)?(?:_?step|global_step|_?timestamp)"
    r"|_runtime|time|wall[_ ]time|recorded_at|_wandb(?:/.*)?|.*__(?:MIN|MAX)",
    re.IGNORECASE,
)
MOST_REMEMBERED = 1 << 15
"""Names whose meaning is remembered, so that of a log that is looked at again and again none is looked up twice."""
DISTINCTIVE = 4
"""Words of a framework's name from which on it is taken for that framework's wherever it stands."""
_NOT_A_SCORE = re.compile(
    r"(?:.*_)?(?:runtime|time|times|seconds?|secs?|per_s|samples|steps?|iterations?|epoch|episodes?|tokens|memory|batch_size"
    r"|num|count|size|n)|(?:num|n|time|timing|count|total)_.*"
)
"""Snake-case evaluation names that count or time the evaluation instead of scoring the policy."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a raw name means.

    Attributes:
        name: The table's entry.
        key: Canonical key with its labels filled in, without an ``eval/`` of its own.
        evaluation: Whether the raw name is an evaluation's.
    """

    name: Name
    key: str
    evaluation: bool

    @property
    def full_key(self) -> str:
        """The key, with ``eval/`` before it where the raw name is an evaluation's."""
        return f"eval/{self.key}" if self.evaluation and not self.key.startswith("eval/") else self.key


@cache
def _flattened(spoken_name: str) -> dict[str, str]:
    """Exact raw names of a lineage by their flattened form; a form that two names share is left out."""
    forms: dict[str, set[str]] = {}
    for table in lineage(dialect(spoken_name)):
        for name in table.names:
            if not name.pattern:
                forms.setdefault(snake(name.raw), set()).add(name.raw)
    return {form: raws.pop() for form, raws in forms.items() if len(raws) == 1}


@cache
def _loose_patterns(spoken_name: str) -> tuple[tuple[re.Pattern[str], Name], ...]:
    """Patterns of a lineage that hold a ``/``, with free separators."""
    return tuple(
        (re.compile(loosened(name.raw)), name)
        for table in lineage(dialect(spoken_name))
        for name in table.names
        if name.pattern and "/" in name.raw and not table.snake
    )


@cache
def _loose_ignored(spoken_name: str) -> tuple[re.Pattern[str], ...]:
    """Ignored patterns of a lineage that hold a ``/`` in their literal part, with free separators."""
    return tuple(
        re.compile(loosened(p))
        for table in lineage(dialect(spoken_name))
        for p in table.ignored
        if re.match(r"[\w()|?]+/", p) and not table.snake
    )


def _forms(spoken: Dialect, raw: str, *, flat: bool = False) -> list[tuple[str, bool]]:
    """The name without the prefixes the lineage knows, with whether it is an evaluation's; the surest form first.

    With `flat`, the name and the prefixes in snake case, as exporters flatten them.
    """
    text = spoken_snake(raw) if spoken.snake else snake(raw) if flat else raw
    prefixes, eval_prefixes = _prefixes(spoken.name, flat)
    bare = _stripped(text, prefixes)
    out = []
    for form in bare:
        for prefix in eval_prefixes:
            if form.startswith(prefix) and len(form) > len(prefix):
                rest = form[len(prefix) :].lstrip("_" if spoken.snake else "")
                out += [(f, True) for f in _stripped(rest, prefixes)]
    return out + [(form, False) for form in bare]


@cache
def _prefixes(spoken_name: str, flat: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:  # noqa: FBT001
    """Training and evaluation prefixes of a lineage, each once."""

    def once(found: Iterator[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(f"{snake(p)}_" if flat else p for p in found))

    tables = list(lineage(dialect(spoken_name)))
    prefixes = [*(p for t in tables for p in t.prefixes), *(() if tables[0].snake else TRAINING)]
    return once(iter(prefixes)), once(p for t in tables for p in t.eval_prefixes)


def _stripped(text: str, prefixes: tuple[str, ...]) -> list[str]:
    """The text, then the text with one prefix after another taken off."""
    out = [text]
    for _ in range(3):
        for prefix in prefixes:
            if out[-1].startswith(prefix) and len(out[-1]) > len(prefix):
                out.append(out[-1][len(prefix) :])
                break
        else:
            break
    return out


@lru_cache(maxsize=MOST_REMEMBERED)
def tabled(spoken: Dialect, raw: str) -> Meaning | None:
    """What the lineage's tables say of a name: as it stands, then without what exports add, then with free separators."""
    for name in dict.fromkeys((raw, plain(raw))):
        found = _as_listed(spoken, name)
        if found is not None:
            return found
    return _as_flattened(spoken, plain(raw))


def _as_listed(spoken: Dialect, raw: str) -> Meaning | None:
    """The entry for a name, whole or without its prefixes.

    A name written with an evaluation prefix is looked up as it stands first: a framework's own ``eval/accuracy`` entry
    wins over "accuracy, evaluated".
    """
    whole = spoken_snake(raw) if spoken.snake else raw
    for bare, evaluation in [(whole, False), *_forms(spoken, raw)]:
        for table in lineage(spoken):
            found = table.own(bare)
            if found is not None and not (evaluation and table.snake and _is_named_score(found[1], bare)):
                return Meaning(found[0], found[1], evaluation)
    return None


def _as_flattened(spoken: Dialect, raw: str) -> Meaning | None:
    """The entry for a name whose separators an exporter rewrote."""
    for bare, evaluation in [*_forms(spoken, raw), *_forms(spoken, raw, flat=True)]:
        exact = _flattened(spoken.name).get(snake(bare))
        found = _as_listed(spoken, exact) if exact is not None else None
        if found is not None:
            return Meaning(found.name, found.key, evaluation or found.evaluation)
        for pattern, name in _loose_patterns(spoken.name):
            match = pattern.fullmatch(bare)
            if match:
                return Meaning(name, name.filled(match), evaluation)
    return None


@lru_cache(maxsize=MOST_REMEMBERED)
def meaning(spoken: Dialect, raw: str) -> Meaning | None:
    """What `raw` means in a dialect, or None when the dialect does not know it.

    The generic dialect also speaks Holter's own keys, where they hold a ``/`` and so cannot be there by accident, and long
    names that frameworks use and no one else. What a tracker counts and times on its own (``_step``, ``_runtime``) is no
    metric of any framework.
    """
    if len(raw) > LONGEST or (raw.startswith("_") and ALWAYS_IGNORED.fullmatch(raw)):
        return None
    if spoken.snake and "/" in raw:
        ours = catalog.find(raw)
        if ours is not None and ours[0].key != ANY_SCORE:
            return Meaning(Name(raw, raw, fit=Fit.CLOSE), raw, evaluation=False)
    found = tabled(spoken, raw)
    if found is not None:
        return found
    if is_ignored(spoken, raw):
        return None
    return _evaluation(spoken, plain(raw)) or (_borrowed().get(plain(raw)) if spoken.snake else None)


@cache
def _borrowed() -> dict[str, Meaning]:
    """Frameworks' names that tell their own meaning in a log that gives no framework away, as a few pasted columns do.

    These are long names that no two frameworks use differently. Their fit is close at best, because the version is unknown.
    """
    found: dict[str, Meaning] = {}
    disputed: set[str] = set()
    for table in all_dialects().values():
        if table.snake:
            continue
        for name in table.names:
            if name.pattern or len(snake(name.raw).split("_")) < DISTINCTIVE:
                continue
            taken = Meaning(
                replace(name, fit=max(name.fit, Fit.CLOSE, key=list(Fit).index)), name.key, evaluation=False
            )
            for raw in {name.raw, *(p + name.raw for p in (*table.prefixes, *TRAINING))}:
                before = found.setdefault(raw, taken)
                if _says(before.name) != _says(name):
                    disputed.add(raw)
    return {raw: taken for raw, taken in found.items() if raw not in disputed and not taken.key.startswith("eval/")}


def _says(name: Name) -> tuple[object, ...]:
    return name.key, name.scale, name.power, name.offset, name.estimator, name.reduction, name.unit


def _evaluation(spoken: Dialect, raw: str) -> Meaning | None:
    """An evaluation metric that the framework's own table does not name: a known quantity, or a score of that name.

    What counts or times the evaluation itself (``eval_samples_per_second``) is no score and stays unknown.
    """
    usual = [(raw.removeprefix(p), True) for p in EVALUATION if raw.startswith(p) and raw != p]
    for bare, evaluation in [*_forms(spoken, raw), *usual]:
        if not evaluation:
            continue
        words = spoken_snake(bare)
        found = dialect(GENERIC).own(words)
        if found is not None and not found[1].startswith("eval/") and not _is_named_score(found[1], words):
            return Meaning(found[0], found[1], evaluation=True)
        error = _STANDARD_ERROR.fullmatch(bare)
        if error is not None:
            key = f"eval/{error['score']}/standard_error"
            return Meaning(Name(raw, key, fit=Fit.CLOSE), key, evaluation=True)
        if _NOT_A_SCORE.fullmatch(words):
            return None
        return Meaning(Name(raw, f"eval/{bare}", fit=Fit.CLOSE), f"eval/{bare}", evaluation=True)
    return None


def _is_named_score(key: str, words: str) -> bool:
    """Whether a name such as ``gold_score`` is an evaluation's own score rather than a reward function evaluated."""
    return key.startswith("rewards/") and not words.startswith("rewards")


def told_apart(meanings: Mapping[str, Meaning | None]) -> dict[str, Meaning | None]:
    """The meanings of a log's names, where ``eval_score`` beside ``eval_reward`` is a score of its own.

    Alone it is taken for the reward, evaluated. Beside it, the one is what is wanted and the other what is paid, and evidence
    that is independent of the reward must not be taken for the reward.
    """
    both = [raw for raw, found in meanings.items() if found is not None and found.full_key == "eval/reward"]
    out = dict(meanings)
    if len(both) > 1:
        for raw in both:
            if spoken_snake(plain(raw)).removeprefix("eval_") == "score":
                out[raw] = Meaning(Name(raw, "eval/score", fit=Fit.CLOSE), "eval/score", evaluation=True)
    return out


def has_evaluation_form(spoken: Dialect, raw: str) -> bool:
    """Whether a name carries an evaluation prefix of the dialect."""
    return any(evaluation for _, evaluation in _forms(spoken, raw))


@lru_cache(maxsize=MOST_REMEMBERED)
def is_ignored(spoken: Dialect, raw: str) -> bool:
    """Whether the dialect knows `raw` as a name that carries no signal."""
    if len(raw) > LONGEST:
        return False
    for name in dict.fromkeys((raw, plain(raw))):
        if ALWAYS_IGNORED.fullmatch(name):
            return True
        if any(table.ignores(bare) for bare, _ in _forms(spoken, name) for table in lineage(spoken)):
            return True
        if any(p.fullmatch(bare) for bare, _ in _forms(spoken, name, flat=True) for p in _loose_ignored(spoken.name)):
            return True
    return False
