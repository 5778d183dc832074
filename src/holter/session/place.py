"""Where a run lies: the folder that a path, a project, a name or an id stands for."""

from __future__ import annotations

import itertools
import re
from pathlib import Path

from holter.errors import HolterError, UnreadableLogError
from holter.language import said
from holter.store.layout import MANIFEST, free_folder, is_run_folder
from holter.store.manifest import read_manifest

ROOT = Path("runs")
"""Where runs without a path lie, from the working folder."""
_NOT_IN_NAMES = re.compile(r"[^\w.\-]+")


class NoSuchRunError(HolterError, FileNotFoundError):
    """A run that was to be resumed and is not there."""


def folder_called(project: str | None, name: str) -> Path:
    """The folder of a run that was given no path: ``runs/<project>/<name>``."""
    return (ROOT / _plain(project) if project else ROOT) / _plain(name)


def new_folder(project: str | None, name: str | None) -> Path:
    """A folder that is free: ``runs/<project>/<name>``, or with the next free number behind it; ``run-<n>`` without a name."""
    if name:
        return free_folder(folder_called(project, name))
    unnamed = (folder_called(project, f"run-{number}") for number in itertools.count(1))
    return next(folder for folder in unnamed if not folder.exists())


def folder_of(given: str | Path, root: Path = ROOT) -> Path:
    """The folder of the run that a path or an id names.

    Raises:
        NoSuchRunError: When there is none.
    """
    path = Path(given)
    if path.is_dir() and is_run_folder(path):
        return path
    for manifest in sorted(root.rglob(MANIFEST)) if root.is_dir() else ():
        try:
            if read_manifest(manifest).id == str(given):
                return manifest.parent
        except UnreadableLogError:
            continue
    raise NoSuchRunError(
        said(
            "no run to resume: {run} is neither the folder of a run nor the id of one below {root}.",
            run=given,
            root=root,
        ),
        'resume="allow" begins one where there is none.',
    )


def _plain(name: str) -> str:
    """A name that can be a folder, and is none above this one."""
    return _NOT_IN_NAMES.sub("-", name).strip("-.") or "run"
