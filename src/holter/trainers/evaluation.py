"""Evidence beside the proxy: what a policy that only learns to please its reward would fail.

Held-out perplexity says whether the language model is still one, alignment scorers what the reward is bought with, a set of
preferences whether the reward still tells good from bad, and every reward function on held-out prompts whether training
prompts are merely remembered. Each mean comes with its standard error, because without one a short series of evaluations
cannot be told from noise.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

import torch

from holter.errors import SettingsError
from holter.language import listed, said
from holter.signals import tally
from holter.trainers.prompts import is_conversation
from holter.trainers.rewards import Texts, called
from holter.trainers.scoring import score, sequences

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from holter.sinks.base import Sample
    from holter.trainers.on_policy import OnPolicyTrainer
    from holter.trainers.prompts import Row


class Evaluation:
    """What a run is held against, besides its reward."""

    def __init__(
        self,
        trainer: OnPolicyTrainer,
        *,
        prompts: Any,  # noqa: ANN401
        texts: Any,  # noqa: ANN401
        scorers: Mapping[str, Callable[..., Any]],
        preferences: Any,  # noqa: ANN401
    ) -> None:
        """Evaluate `trainer`.

        Args:
            trainer: Whose policy and rewards.
            prompts: Rows with ``prompt``, or several such datasets by name.
            texts: Rows with ``text``, or plain texts, for the perplexity.
            scorers: Functions like reward functions by name; higher is better.
            preferences: Rows with ``prompt``, ``chosen`` and ``rejected``.
        """
        self.trainer, self.scorers = trainer, dict(scorers)
        self.prompts = prompts
        self.texts = [_text(t) for t in texts] if texts is not None else []
        self.preferences = list(preferences) if preferences is not None else []
        for row in self.preferences[:1]:
            if missing := {"prompt", "chosen", "rejected"} - row.keys():
                raise SettingsError(said("preference_dataset has no column {names}", names=listed(sorted(missing))))

    @property
    def size(self) -> int:
        """Held-out prompts of one evaluation; of the smallest dataset, where there are several."""
        if self.prompts is None:
            return 0
        parts = self.prompts.values() if isinstance(self.prompts, dict) else [self.prompts]
        return min(len(p) for p in parts)

    def __call__(self, prompts: Any = None) -> dict[str, float]:  # noqa: ANN401
        """All there is to evaluate, by name without ``eval/``. Every process must call it, and gets the same."""
        began = time.perf_counter()
        out: dict[str, float] = {}
        given = prompts if prompts is not None else self.prompts
        for name, rows in given.items() if isinstance(given, dict) else [("", given)]:
            if rows is not None:
                found = self._held_out([dict(r) for r in rows])
                out |= {f"{name}_{key}" if name else key: value for key, value in found.items()}
        if self.texts:
            out |= self._perplexity()
        if self.preferences:
            out |= self._preference()
        out["time"] = time.perf_counter() - began
        return out

    def samples(self, most: int) -> list[Sample]:
        """Completions of the first held-out prompts with what they are worth. Every process must call it, and samples its own."""
        trainer = self.trainer
        given = next(iter(self.prompts.values())) if isinstance(self.prompts, dict) else self.prompts
        rows = [dict(row) for row in islice(given if given is not None else [], most)]
        if not rows:
            return []
        completions = trainer.complete(trainer.tokens([row["prompt"] for row in rows]))
        texts = _told(trainer.texts(rows, completions.tokens), {})
        scores = trainer.rewards(texts, trainer.args.device)
        columns = {f"rewards/{name}": scores[:, k].tolist() for k, name in enumerate(trainer.rewards.names)}
        columns |= {"prompt": list(texts.prompts), "completion": list(texts.completions)}
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    def _mine(self, items: Sequence[Any]) -> list[Any]:
        """This process' share."""
        return list(items[self.trainer.accelerator.process_index :: self.trainer.accelerator.num_processes])

    def _chunks(self, items: Sequence[Any], size: int) -> Iterator[tuple[list[Any], bool]]:
        """This process' share in parts of `size`, and whether a part counts.

        Where passes gather parameters from all processes each has to make as many: one with a smaller share goes over
        something again, which does not count.
        """
        mine, others = self._mine(items), self.trainer.accelerator.num_processes
        longest = -(-len(items) // others) if self.trainer.sampling.synchronised else len(mine)
        for first in range(0, longest, size):
            part = mine[first : first + size]
            yield part or list(items[:size]), bool(part)

    def _all(self, mine: list[Any]) -> list[Any]:
        """Every process' results."""
        return [r for part in self.trainer.metrics.processes.exchange(mine) for r in part]

    def _held_out(self, rows: list[Row]) -> dict[str, float]:
        """Rewards, alignment and lengths of completions of held-out prompts."""
        trainer = self.trainer
        group = trainer.group_size_eval
        size = max(1, trainer.args.per_device_eval_batch_size // group)
        results: list[_Prompt] = []
        for part, counts in self._chunks(rows, size):
            chunk = [row for row in part for _ in range(group)]
            completions = trainer.complete(trainer.tokens([r["prompt"] for r in chunk]))
            said: dict[str, list[float]] = {}
            texts = _told(trainer.texts(chunk, completions.tokens), said)
            scores = trainer.rewards(texts, trainer.args.device)
            columns = {"reward": trainer.rewards.total(scores).tolist()}
            columns |= {f"rewards/{n}/mean": scores[:, k].tolist() for k, n in enumerate(trainer.rewards.names)}
            columns |= {f"alignment/{n}": _listed(s, texts, n) for n, s in self.scorers.items()}
            for g in range(0, len(chunk) if counts else 0, group):
                here = slice(g, g + group)
                scored = {name: _mean(values[here]) for name, values in columns.items()}
                lengths = [len(tokens) for tokens in completions.tokens[here]]
                # What functions said of the chunk is kept with its first prompt.
                results.append(_Prompt(scored, lengths, completions.ended[here], said if g == 0 else {}))
        found: list[_Prompt] = self._all(results)
        out: dict[str, float] = {}
        for name in found[0].scores if found else ():
            out |= with_error(name, [prompt.scores[name] for prompt in found])
        lengths, ended = [n for p in found for n in p.lengths], [e for p in found for e in p.ended]
        out["completions/mean_length"] = _mean(lengths)
        out["completions/clipped_ratio"] = 1 - _mean(ended)
        for name in dict.fromkeys(n for p in found for n in p.said):
            out[name] = _mean([v for p in found for v in p.said.get(name, ())])
        return out

    def _perplexity(self) -> dict[str, float]:
        """Exponential of the mean surprisal of held-out texts, each token weighing the same."""
        trainer, limit = self.trainer, self.trainer.args.perplexity_max_length
        tokenizer = trainer.tokens.tokenizer
        total, count = 0.0, 0.0
        size = trainer.args.per_device_eval_batch_size
        told = [tokenizer(text=text)["input_ids"][:limit] for text in self.texts]
        was_training = trainer.model.training
        trainer.model.eval()
        for ids, counts in self._chunks([ids for ids in told if len(ids) > 1], size):
            batch = sequences([i[:1] for i in ids], [i[1:] for i in ids], trainer.args.device, pad=trainer.sampling.pad)
            with torch.no_grad(), trainer.accelerator.autocast():
                part = tally(score(trainer.model, batch, temperature=1.0).logprobs, batch.mask)
            if counts:
                total, count = total - float(part.total), count + float(part.count)
        trainer.model.train(was_training)
        parts = self._all([(total, count)])
        total, count = sum(t for t, _ in parts), sum(c for _, c in parts)
        return {"perplexity": math.exp(total / count) if count and total / count < 700 else math.inf}

    def _preference(self) -> dict[str, float]:
        """How often, and by how much, the reward prefers the chosen completion."""
        trainer = self.trainer
        margins: list[float] = []
        size = trainer.args.per_device_eval_batch_size
        for rows, counts in self._chunks(self.preferences, size):
            chosen, rejected = (
                trainer.rewards.total(trainer.rewards(self._given(rows, side), trainer.args.device))
                for side in ("chosen", "rejected")
            )
            margins += (chosen - rejected).tolist() if counts else []
        known = [m for m in self._all(margins) if not math.isnan(m)]
        wins = [1.0 if m > 0 else 0.5 if m == 0 else 0.0 for m in known]
        return {**with_error("preference_accuracy", wins), **with_error("preference_margin", known)}

    def _given(self, rows: list[Row], side: str) -> Texts:
        """Completions that were not sampled but given, as reward functions see them."""
        prompts = [row["prompt"] for row in rows]
        said = [row[side][-1]["content"] if isinstance(row[side], list) else row[side] for row in rows]
        completions = [
            [{"role": "assistant", "content": s}] if is_conversation(p) else s
            for p, s in zip(prompts, said, strict=True)
        ]
        ids = [list(self.trainer.tokens.tokenizer(text=s, add_special_tokens=False)["input_ids"]) for s in said]
        names = [n for n in rows[0] if n not in ("prompt", "chosen", "rejected", "completion", "completion_ids")]
        columns: dict[str, Any] = {n: [row[n] for row in rows] for n in names}
        columns["trainer_state"] = self.trainer.state
        return _told(Texts(prompts, completions, ids, columns), {})


@dataclass(frozen=True)
class _Prompt:
    """What a held-out prompt came to.

    Attributes:
        scores: Mean over its completions, by name.
        lengths: Tokens of each completion.
        ended: Whether each one ended.
        said: What reward functions logged meanwhile.
    """

    scores: dict[str, float]
    lengths: list[int]
    ended: list[bool]
    said: dict[str, list[float]]


def _told(texts: Texts, said: dict[str, list[float]]) -> Texts:
    """The same for reward functions that log: metrics go to `said` instead of the row of training, columns nowhere."""
    talk = {
        "log_metric": lambda name, value: said.setdefault(name, []).append(float(value)),
        "log_extra": lambda *_: None,
    }
    return replace(texts, columns={**texts.columns, **talk})


def with_error(name: str, values: Sequence[float]) -> dict[str, float]:
    """A mean and its standard error, over the values that are numbers; nothing where there are none.

    >>> with_error("score", [1.0, 3.0])
    {'score': 2.0, 'score/standard_error': 1.0}
    """
    known = [v for v in values if not math.isnan(v)]
    if not known:
        return {}
    mean = sum(known) / len(known)
    out = {name: mean}
    if len(known) > 1:
        variance = sum((v - mean) ** 2 for v in known) / (len(known) - 1)
        out[f"{name}/standard_error"] = math.sqrt(variance / len(known))
    return out


def _mean(values: Sequence[float]) -> float:
    known = [v for v in values if not math.isnan(v)]
    return sum(known) / len(known) if known else math.nan


def _listed(scorer: Callable[..., Any], texts: Texts, name: str) -> list[float]:
    result = called(scorer, texts)
    values = [math.nan if v is None else float(v) for v in result]
    if len(values) != len(texts.completions):
        raise SettingsError(
            said(
                "alignment scorer {name!r} returned {n} scores for {count} completions",
                name=name,
                n=len(values),
                count=len(texts.completions),
            )
        )
    return values


def _text(row: Any) -> str:  # noqa: ANN401
    if isinstance(row, str):
        return row
    if "text" not in row:
        raise SettingsError(said("perplexity_dataset has no column 'text', only {names}", names=listed(row)))
    return str(row["text"])
