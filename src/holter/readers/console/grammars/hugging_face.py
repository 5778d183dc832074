"""Dictionaries that the Hugging Face Trainer prints, and what builds on it: TRL, Unsloth, ms-swift, LLaMA-Factory.

transformers 4 prints numbers, 5 prints them as texts of four digits. Progress bars stand in the same line.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holter.readers.console.forms import IN_CODE, STEP_BEFORE, json_object, open_braces, python_dict
from holter.readers.console.grammar import Grammar

if TYPE_CHECKING:
    from holter.readers.console.grammar import Values


def _dictionary(body: str) -> Values:
    return json_object(body) if body.startswith('{"') else python_dict(body)


HUGGING_FACE_DICT = Grammar(
    name="hugging-face-dict",
    family="hugging-face",
    frameworks=(
        *("trl-grpo", "trl-rloo", "trl-ppo", "trl-async-grpo", "open-r1", "axolotl", "verifiers-grpo", "verifiers-rl"),
        *("unsloth", "ms-swift", "llama-factory", "hf-trainer"),
    ),
    hint="{",
    # Behind it may come the end of the line or of a list, a bar, or another dictionary; behind a wrapped one nothing.
    begins=re.compile(r"""(?P<body>\{(?=['"])[^{}]*(?:\{[^{}]*\}[^{}]*)*(?:\}(?=\s*(?:\d+%\||\{|\[|[,\]]*\s*$))|$))"""),
    not_before=IN_CODE,
    step_before=STEP_BEFORE,
    values=_dictionary,
    unfinished=open_braces,
    between=", ",
    closing="}",
    require=re.compile(r"""['"](?:train/)?(?:loss|reward|objective/kl|eval_\w+|train_runtime|train_loss)['"]: """),
)
