"""What a run was made with: code, packages, machine, command. Nothing here imports a framework or raises."""

from __future__ import annotations

import hashlib
import os
import platform
import subprocess
import sys
from importlib import metadata
from typing import TYPE_CHECKING, Any

from holter.store.redaction import command_without_secrets

if TYPE_CHECKING:
    from pathlib import Path

PACKAGES = (
    "accelerate",
    "datasets",
    "deepspeed",
    "flash-attn",
    "holter",
    "jax",
    "liger-kernel",
    "mlx",
    "numpy",
    "openrlhf",
    "peft",
    "ray",
    "sglang",
    "tokenizers",
    "torch",
    "transformers",
    "trl",
    "verl",
    "vllm",
)
"""Packages whose version can change what a run does."""
GIT_SECONDS = 3.0
"""A work tree on a slow disk must not hold up training."""


def packages() -> dict[str, str]:
    """Installed versions of the packages that matter, Python's own among them."""
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = metadata.version(name)
        except Exception:
            # A half-removed package may raise anything, and must not keep a run from beginning.
            continue
    return found


def _git(folder: Path, *arguments: str) -> bytes | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            timeout=GIT_SECONDS,
            check=True,
            env={**os.environ, "GIT_OPTIONAL_LOCKS": "0"},
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout


def git_state(folder: Path) -> dict[str, Any] | None:
    """Commit of the work tree around `folder`, whether it was changed, and a hash of the changes.

    Two runs with the same commit and the same ``diff`` ran the same tracked code.

    Returns:
        ``commit``, ``branch``, ``dirty`` and ``diff`` (SHA-256 of ``git diff HEAD``, None when clean); None outside git. Values
        that git did not give in time are None.
    """
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    branch = _git(folder, "rev-parse", "--abbrev-ref", "HEAD")
    diff = _git(folder, "diff", "--no-ext-diff", "--binary", "HEAD")
    return {
        "commit": commit.decode().strip(),
        "branch": branch.decode().strip() if branch is not None else None,
        "dirty": bool(diff) if diff is not None else None,
        "diff": hashlib.sha256(diff).hexdigest() if diff else None,
    }


def hardware() -> dict[str, Any]:
    """The machine, and the accelerators if torch is already there and can say."""
    found: dict[str, Any] = {
        "host": platform.node(),
        "system": platform.platform(),
        "machine": platform.machine(),
        "cpus": os.cpu_count(),
    }
    try:
        found["memory_bytes"] = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        found["memory_bytes"] = None
    torch = sys.modules.get("torch")
    if torch is not None:
        try:
            cuda = torch.cuda
            if cuda.is_available():
                found["accelerators"] = [cuda.get_device_name(i) for i in range(cuda.device_count())]
        except Exception:
            # A driver that does not fit raises its own kinds of errors.
            found["accelerators"] = None
    return found


def command() -> list[str]:
    """The command line of this process, without the secrets in it."""
    return command_without_secrets([sys.executable, *sys.argv])


def processes() -> int:
    """Number of training processes, as the launcher says it."""
    try:
        return int(os.environ.get("WORLD_SIZE", "1"))
    except ValueError:
        return 1
