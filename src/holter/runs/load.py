"""From paths to runs: which files, which reader, which dialect."""

from __future__ import annotations

import glob
import hashlib
import os
import stat
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError
from holter.readers.base import Skipped, Source
from holter.readers.plausibility import NotALogError
from holter.readers.registry import read as read_logs
from holter.runs.canonical import canonical
from holter.runs.folder import logs_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holter.runs.run import Run

STANDARD_INPUT = "standard input"
MOST_INPUT = 1 << 30
"""Bytes taken from standard input, which has to be held in memory."""
_ASK = (
    "Give a log (JSON lines, CSV, trainer_state.json, event files, W&B files, console output), the folder of a run, "
    "or `-` and paste a table of metrics."
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """What paths gave.

    Attributes:
        runs: The runs, in the order of their paths. No two share a name.
        refused: Files that were not read, each with its reason.
    """

    runs: tuple[Run, ...]
    refused: tuple[Skipped, ...] = ()


def load_source(source: Source, *, speaks: str | None = None) -> Loaded:
    """The runs in one file or stream.

    Args:
        source: The bytes.
        speaks: Name of the dialect, when the caller knows better than the signatures.

    Raises:
        UnreadableLogError: When it cannot be read; names file, line and the way out.
    """
    try:
        return Loaded(tuple(run for log in read_logs(source) for run in canonical(log, speaks=speaks)))
    except OSError as error:
        raise UnreadableLogError.of(source.name, f"it cannot be read ({error.strerror or error}).") from error


def load(paths: Iterable[str | Path], *, speaks: str | None = None) -> Loaded:
    """The runs in files, folders, patterns and ``-`` for standard input.

    A folder is searched; what in it is plainly no log is passed over, and of the same run in several formats one is read.
    A file that is named and cannot be read is refused with its reason, and the others are read nevertheless.

    Args:
        paths: What the user typed.
        speaks: Name of the dialect, when the caller knows better than the signatures.

    Raises:
        UnreadableLogError: When nothing at all could be read; the message gives every reason.
    """
    runs: list[Run] = []
    refused: list[Skipped] = []
    asked = [str(p) for p in paths]
    given = dict.fromkeys(one for path in asked for one in _expanded(path, refused))
    for path in given:
        no_logs: list[Skipped] = []
        found = [_first_readable(choices, speaks, refused, no_logs) for choices in _choices(path, refused)]
        read = _without_copies(run for each in found for run in each)
        runs += read
        if not (read and Path(path).is_dir()):
            refused += no_logs
    if not runs:
        raise _nothing(asked, refused)
    return Loaded(tuple(_with_own_names(runs)), tuple(dict.fromkeys(refused)))


def _expanded(path: str, refused: list[Skipped]) -> list[str]:
    """The paths that a pattern stands for; shells do this, but not on every system and not inside quotes."""
    if path == "-" or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute, which Path.glob refuses
    if not found:
        refused.append(Skipped(path, None, "no file matches this pattern"))
    return found


Choices = list[tuple[Source, tuple[str, ...]]]
"""Sources of the same run, the best first, each with the remarks that belong to a run read from it."""


def _choices(path: str, refused: list[Skipped]) -> Iterator[Choices]:
    if path == "-":
        yield [(_standard_input(), ())]
        return
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            found = logs_in(Path(path))
            refused += found.refused
            yield from found.runs
            return
        if not stat.S_ISREG(status.st_mode):
            yield [(_stream(path, status.st_mode), ())]
            return
        yield [(Source.of(Path(path)), ())]
    except FileNotFoundError:
        why = "it is a link to a file that is gone" if os.path.lexists(path) else "there is no such file or folder"
        refused.append(Skipped(path, None, why))
    except (OSError, ValueError) as error:
        refused.append(Skipped(path, None, f"it cannot be opened ({getattr(error, 'strerror', None) or error})"))
    except UnreadableLogError as error:
        refused.append(_reason(path, error))


def _standard_input() -> Source:
    return Source(STANDARD_INPUT, data=_limited(sys.stdin.buffer.read(MOST_INPUT + 1), STANDARD_INPUT))


def _limited(data: bytes, name: str) -> bytes:
    if len(data) > MOST_INPUT:
        raise UnreadableLogError.of(
            name, f"more than {MOST_INPUT >> 30} GiB came in.", "Save it to a file and give the file."
        )
    return data


def _stream(path: str, mode: int) -> Source:
    """What a shell hands over as ``<(command)``. Any other pipe, socket or device may never end, so it is not opened."""
    if path.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")):
        with open(path, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path on a disk
            return Source(path, data=_limited(stream.read(MOST_INPUT + 1), path))
    kind = "a named pipe" if stat.S_ISFIFO(mode) else "a socket" if stat.S_ISSOCK(mode) else "a device"
    raise UnreadableLogError.of(path, f"it is {kind}, not a file.", f"To read from it: `holter check - < {path}`.")


def _first_readable(choices: Choices, speaks: str | None, refused: list[Skipped], no_logs: list[Skipped]) -> list[Run]:
    """The runs of the first source that can be read. Sources that turn out to be no logs of training are told apart."""
    for source, remarks in choices:
        try:
            runs = load_source(source, speaks=speaks).runs
        except NotALogError as error:
            no_logs.append(_reason(source.name, error))
            continue
        except UnreadableLogError as error:
            refused.append(_reason(source.name, error))
            continue
        if runs:
            return [replace(run, notes=(*run.notes, *remarks)) if remarks else run for run in runs]
    return []


def _without_copies(runs: Iterable[Run]) -> list[Run]:
    """The runs of one folder, without those of which another file of the same folder says exactly the same."""
    out: dict[tuple[str, str, int], Run] = {}
    for index, run in enumerate(runs):
        digest = _digest(run)
        key = (str(Path(run.path).parent), digest, 0)
        if key not in out:
            out[key] = run
        elif out[key].path == run.path:
            out[(*key[:2], index)] = run
        else:
            first = out[key]
            out[key] = replace(first, notes=(*first.notes, f"left aside because it says exactly the same: {run.path}"))
    return list(out.values())


def _digest(run: Run) -> str:
    """The same for runs with the same values at the same steps under the same names."""
    digest = hashlib.blake2b(run.steps.tobytes())
    for key, series in sorted(run.series.items()):
        digest.update(f"{key}\0{series.metric}\0".encode())
        digest.update(series.at.tobytes() + series.values.tobytes())
    for metric, unknown in sorted(run.unknown.items()):
        digest.update(f"{metric}\0".encode() + unknown.at.tobytes() + unknown.values.tobytes())
    return digest.hexdigest()


def _reason(file: str, error: UnreadableLogError) -> Skipped:
    """The error as a refusal, which names the file by itself."""
    return Skipped(file, None, str(error).removeprefix(f"{file}: "))


def _with_own_names(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs, the second one of a name called ``name (2)``."""
    taken: Counter[str] = Counter()
    for run in runs:
        name, number = run.name, taken[run.name] + 1
        while number > 1 and (name in taken):
            name = f"{run.name} ({number})"
            number += 1
        taken[run.name] = max(taken[run.name], 1)
        taken[name] = max(taken[name], 1)
        yield run if name == run.name else replace(run, name=name)


def _nothing(asked: list[str], refused: list[Skipped]) -> UnreadableLogError:
    if not refused:
        return UnreadableLogError(f"no log was found in {', '.join(asked) or 'nothing'}. {_ASK}")
    if len(refused) == 1:
        return UnreadableLogError(str(refused[0]) + ("" if "`" in refused[0].why else f". {_ASK}"))
    shown = "\n".join(f"  {r}" for r in refused[:20])
    more = f"\n  and {len(refused) - 20} more" if len(refused) > 20 else ""
    return UnreadableLogError(f"nothing could be read:\n{shown}{more}")
