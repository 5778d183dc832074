"""Keeps secrets out of the run folder: by the name of a setting, and by the look of a value.

``max_tokens`` and ``eos_token`` are no secrets; ``token``, ``hub_token`` and ``WANDB_API_KEY`` are.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

HIDDEN = "<hidden>"
_NAME = re.compile(
    r"(^|[_\-.])(api[_-]?key|secrets?|(secret|access|private)[_-]?key|passwd|password|passphrase|credentials?|bearer|"
    r"(hub|hf|auth|access|refresh|api|github|gitlab|wandb|session|id)[_-]token)$|^-*token$",
    re.IGNORECASE,
)
_VALUE = re.compile(
    r"hf_[A-Za-z0-9]{20,}|sk-[A-Za-z0-9_\-]{20,}|gh[pousr]_[A-Za-z0-9]{20,}|glpat-[\w\-]{20,}|xox[abprs]-[\w\-]{10,}|AKIA[0-9A-Z]{16}"
    r"|(?<=://)[^/\s:@]*:[^/\s@]+(?=@)"
)


def names_secret(name: str) -> bool:
    """Whether a setting of this name holds a secret.

    >>> names_secret("hub_token"), names_secret("max_tokens"), names_secret("eos_token")
    (True, False, False)
    """
    return _NAME.search(name) is not None


def without_secrets(value: Any, name: str = "") -> Any:  # noqa: ANN401
    """`value` with every secret in it replaced.

    Args:
        value: Strings, numbers, and mappings and lists of such.
        name: Name of the setting that holds it.
    """
    if isinstance(value, Mapping):
        return {k: without_secrets(v, str(k)) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [without_secrets(v, name) for v in value]
    if isinstance(value, str):
        return HIDDEN if value and names_secret(name) else _VALUE.sub(HIDDEN, value)
    return value


def command_without_secrets(arguments: list[str]) -> list[str]:
    """A command line with the values of secret options replaced, in both forms: ``--key=value`` and ``--key value``."""
    out: list[str] = []
    hide = False
    for argument in arguments:
        option, equals, _ = argument.partition("=")
        if hide and not argument.startswith("-"):
            out.append(HIDDEN)
        elif equals and names_secret(option):
            out.append(f"{option}={HIDDEN}")
        else:
            out.append(_VALUE.sub(HIDDEN, argument))
        hide = not equals and argument.startswith("-") and names_secret(argument)
    return out
