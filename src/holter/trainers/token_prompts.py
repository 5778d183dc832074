"""Prompts that come as tokens, in a column ``input_ids``, as datasets made for TRL's PPO have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import torch

from holter.errors import SettingsError
from holter.language import said
from holter.trainers.prompts import PromptTokenizer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from transformers import PreTrainedTokenizerBase

    from holter.trainers.prompts import Prompt, Row

IDS, ATTENTION = "input_ids", "attention_mask"


class TokenizedPrompt(str):
    """The text of a prompt that came as tokens, with the tokens: text again made tokens may be other tokens."""

    tokens: list[int]

    def __new__(cls, text: str, tokens: Sequence[int]) -> Self:
        """Keep `tokens` with `text`."""
        prompt = super().__new__(cls, text)
        prompt.tokens = list(tokens)
        return prompt

    def __getnewargs__(self) -> tuple[str, list[int]]:  # type: ignore[override]
        return str(self), self.tokens


class TokenizedPromptTokenizer(PromptTokenizer):
    """A `PromptTokenizer` that leaves tokens as they are."""

    def _tokens(self, prompt: Prompt) -> list[int]:
        if not isinstance(prompt, TokenizedPrompt):
            return super()._tokens(prompt)
        return prompt.tokens if self.max_length is None else prompt.tokens[-self.max_length :]


class _Prompted:
    """A dataset of tokens whose rows are given with a ``prompt``."""

    def __init__(self, rows: Any, tokenizer: PreTrainedTokenizerBase) -> None:  # noqa: ANN401
        self.rows, self.tokenizer = rows, tokenizer

    def __iter__(self) -> Iterator[Row]:
        return (prompted(row, self.tokenizer) for row in self.rows)


class TokenizedRows(_Prompted):
    """One whose rows can be had in any order."""

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, at: int) -> Row:
        return prompted(self.rows[at], self.tokenizer)


class TokenizedStream(_Prompted, torch.utils.data.IterableDataset):
    """One that can only be gone through in order."""

    def set_epoch(self, epoch: int) -> None:
        """Order of the next pass, where the dataset has orders."""
        if hasattr(self.rows, "set_epoch"):
            self.rows.set_epoch(epoch)


def with_prompts(rows: Any, tokenizer: PreTrainedTokenizerBase) -> Any:  # noqa: ANN401
    """A dataset as it is where it has prompts; with prompts made from its tokens where it has tokens only.

    Args:
        rows: A dataset, several by name, or None.
        tokenizer: The policy's.
    """
    if isinstance(rows, dict):
        return {name: with_prompts(part, tokenizer) for name, part in rows.items()}
    first = next(iter(rows), None) if rows is not None else None
    if first is None or "prompt" in first or IDS not in first:
        return rows
    return TokenizedRows(rows, tokenizer) if hasattr(rows, "__len__") else TokenizedStream(rows, tokenizer)


def prompted(row: Row, tokenizer: PreTrainedTokenizerBase) -> Row:
    """A row with the prompt that its tokens are, padding left out.

    Raises:
        SettingsError: When it has no tokens.
    """
    ids = [int(t) for t in row[IDS]]
    if ATTENTION in row:
        ids = [t for t, real in zip(ids, row[ATTENTION], strict=True) if real]
    if not ids:
        raise SettingsError(
            said(
                "a row of the dataset has no tokens in {column!r}: a completion needs something to begin after",
                column=IDS,
            )
        )
    rest = {name: value for name, value in row.items() if name not in (IDS, ATTENTION)}
    return {**rest, "prompt": TokenizedPrompt(str(tokenizer.decode(ids, skip_special_tokens=True)), ids)}
