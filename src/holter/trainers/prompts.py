"""From a dataset to prompts: in which order, in which batches, as which tokens."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from holter.errors import SettingsError
from holter.language import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from transformers import PreTrainedTokenizerBase

Prompt = str | list[dict[str, Any]]
"""Plain text, or messages of a conversation."""
Row = dict[str, Any]
"""One row of a dataset: ``prompt``, and whatever reward functions want to know."""


def is_conversation(prompt: object) -> bool:
    """Whether a prompt is a list of messages."""
    return isinstance(prompt, list) and bool(prompt) and isinstance(prompt[0], dict) and "role" in prompt[0]


@dataclass(frozen=True)
class PromptTokenizer:
    """Turns prompts into tokens, plain ones by the tokenizer and conversations by its chat template.

    Attributes:
        tokenizer: The tokenizer.
        max_length: Most tokens of a prompt, the last ones are kept; None for all.
        template: Arguments of the chat template.
    """

    tokenizer: PreTrainedTokenizerBase
    max_length: int | None
    template: Mapping[str, Any]

    def __call__(self, prompts: Sequence[Prompt]) -> list[list[int]]:
        """Tokens of each prompt. A prompt that occurs several times is tokenised once."""
        known: dict[str, list[int]] = {}
        out = []
        for prompt in prompts:
            key = prompt if isinstance(prompt, str) else repr(prompt)
            if key not in known:
                known[key] = self._tokens(prompt)
            out.append(known[key])
        return out

    def _tokens(self, prompt: Prompt) -> list[int]:
        if is_conversation(prompt):
            tokens = self.tokenizer.apply_chat_template(
                prompt,
                add_generation_prompt=prompt[-1]["role"] != "assistant",  # type: ignore[index]
                continue_final_message=prompt[-1]["role"] == "assistant",  # type: ignore[index]
                tokenize=True,
                return_dict=True,
                **self.template,
            )["input_ids"]
        else:
            if not isinstance(prompt, str):
                raise SettingsError(said("a prompt is a text or a list of messages, not {prompt!r}", prompt=prompt))
            tokens = self.tokenizer(text=prompt)["input_ids"]
        tokens = list(tokens)
        if not tokens:
            raise SettingsError(
                said("the prompt {prompt!r} has no tokens: a completion needs something to begin after", prompt=prompt)
            )
        return tokens if self.max_length is None else tokens[-self.max_length :]

    def completions(self, prompts: Sequence[Prompt], texts: Sequence[str]) -> list[Any]:
        """Completions as reward functions get them: text after plain prompts, a message after conversations."""
        return [
            [{"role": "assistant", "content": text}] if is_conversation(prompt) else text
            for prompt, text in zip(prompts, texts, strict=True)
        ]

    def joined(self, prompt: Prompt, completion: Any, tokenizer: PreTrainedTokenizerBase) -> str:  # noqa: ANN401
        """Prompt and completion as one text, by the template of `tokenizer` for conversations."""
        if is_conversation(prompt):
            return str(tokenizer.apply_chat_template([*prompt, *completion], tokenize=False, **self.template))
        return f"{prompt}{completion}"


class GenerationBatches:
    """A batch sampler: rows of the dataset for one process, one batch a micro-step.

    Every generation takes the next prompts, each repeated ``group`` times, and spreads them over the processes. Its batch is
    given out once for every micro-step that the generation lasts, so that transformers' count of batches, and with it
    epochs and the data position of a resumed run, counts micro-steps.
    """

    def __init__(
        self,
        rows: int,
        *,
        group: int,
        batch: int,
        repeats: int,
        shuffle: bool,
        seed: int,
        rank: int = 0,
        ranks: int = 1,
    ) -> None:
        """Sample from `rows` rows.

        Args:
            rows: Rows of the dataset.
            group: Completions of each prompt.
            batch: Completions of one generation, over all processes.
            repeats: Micro-steps that a generation lasts.
            shuffle: Whether each epoch has an order of its own.
            seed: Seed of the order.
            rank: This process.
            ranks: How many there are.

        Raises:
            SettingsError: When the dataset has fewer prompts than one generation needs.
        """
        self.rows, self.group, self.repeats = rows, group, repeats
        self.prompts = batch // group
        self.shuffle, self.seed, self.epoch = shuffle, seed, 0
        self.mine = slice(rank * (batch // ranks), (rank + 1) * (batch // ranks))
        if rows < self.prompts:
            raise SettingsError(
                said(
                    "the dataset has {rows} prompts, and one generation takes {prompts}",
                    rows=rows,
                    prompts=self.prompts,
                )
            )

    def set_epoch(self, epoch: int) -> None:
        """Order of the next pass."""
        self.epoch = epoch

    def __len__(self) -> int:
        return self.rows // self.prompts * self.repeats

    def __iter__(self) -> Iterator[list[int]]:
        if self.shuffle:
            generator = torch.Generator().manual_seed(self.seed + self.epoch)
            order = torch.randperm(self.rows, generator=generator).tolist()
        else:
            order = list(range(self.rows))
        for first in range(0, self.rows - self.prompts + 1, self.prompts):
            repeated = [i for i in order[first : first + self.prompts] for _ in range(self.group)]
            for _ in range(self.repeats):
                yield repeated[self.mine]


class PromptLoader(torch.utils.data.DataLoader):
    """A loader whose order can be told the epoch."""

    def set_epoch(self, epoch: int) -> None:
        """Order of the next pass."""
        self.batch_sampler.set_epoch(epoch)


class PromptStream(torch.utils.data.IterableDataset):
    """Like `GenerationBatches`, of a dataset that can only be gone through in order: batches of rows."""

    def __init__(self, rows: Any, *, group: int, batch: int, repeats: int, rank: int, ranks: int) -> None:  # noqa: ANN401
        """Stream from `rows`; the arguments are those of `GenerationBatches`."""
        self.rows, self.group, self.repeats = rows, group, repeats
        self.prompts = batch // group
        self.mine = slice(rank * (batch // ranks), (rank + 1) * (batch // ranks))

    def set_epoch(self, epoch: int) -> None:
        """Order of the next pass, where the dataset has orders."""
        if hasattr(self.rows, "set_epoch"):
            self.rows.set_epoch(epoch)

    def __iter__(self) -> Iterator[list[Row]]:
        waiting: list[Row] = []
        for row in self.rows:
            waiting.append(row)
            if len(waiting) == self.prompts:
                repeated = [r for r in waiting for _ in range(self.group)]
                for _ in range(self.repeats):
                    yield repeated[self.mine]
                waiting = []
