"""From paths to diagnoses: what ``holter check`` does, for programs and notebooks."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holter.findings.diagnosis import diagnose_in_place
from holter.runs.load import load
from holter.settings import find_settings

if TYPE_CHECKING:
    from holter.findings.diagnosis import Diagnosis
    from holter.readers.base import Skipped
    from holter.settings import Settings


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """What was found in some logs.

    Attributes:
        diagnoses: One a run, in the order of the logs.
        refused: Files that could not be read, each with the reason.
    """

    diagnoses: tuple[Diagnosis, ...]
    refused: tuple[Skipped, ...]


def check(*logs: str | Path, settings: Settings | None = None, dialect: str | None = None) -> Checked:
    """Read logs and say what is wrong with each run in them.

    Args:
        logs: Files, folders, patterns, URLs of either, and ``-`` for standard input.
        settings: Which detectors, with which limits; those that hold in the working folder by default.
        dialect: Name of the framework that wrote the logs, where they cannot tell.

    Raises:
        UnreadableLogError: When nothing at all could be read; the message gives every reason.
        SettingsError: When a file of settings is broken.
        UnknownNameError: When there is no such dialect, or no detector that the settings name.
    """
    loaded = load(logs, speaks=dialect)
    chosen = settings if settings is not None else find_settings(Path.cwd())
    return Checked(tuple(diagnose_in_place(run, chosen) for run in loaded.runs), loaded.refused)
