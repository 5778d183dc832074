"""From paths to runs: which files, which reader, which dialect."""

from __future__ import annotations

import difflib
import glob
import hashlib
import itertools
import os
import stat
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from holter.errors import UnreadableLogError, reason
from holter.language import listed, phrase, said
from holter.readers.base import Skipped, Source
from holter.readers.plausibility import NotALogError
from holter.readers.registry import read as read_logs
from holter.runs.canonical import canonical
from holter.runs.config_file import config_beside
from holter.runs.folder import logs_in
from holter.runs.remote import fetched, is_url
from holter.runs.selection import only

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

    from holter.readers.base import RawLog
    from holter.runs.run import Run

Read = Callable[[Source], "list[RawLog]"]
STANDARD_INPUT = "standard input"
MOST_INPUT = 1 << 30
"""Bytes taken from standard input, which has to be held in memory."""
MOST_NAMES = 2000
"""Files of a folder among which one is looked for that a mistyped path may mean."""
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


def logs_of(source: Source, read: Read = read_logs) -> list[RawLog]:
    """The raw logs in one file or stream, with the hyper-parameters that lie beside it where it carries none.

    Args:
        source: The bytes.
        read: What reads them.

    Raises:
        UnreadableLogError: When it cannot be read; names file, line and the way out.
    """
    try:
        logs = read(source)
    except OSError as error:
        raise UnreadableLogError.of(source.name, said("it cannot be read ({error}).", error=reason(error))) from error
    if source.path is None or any(log.config for log in logs):
        return logs
    config, file = config_beside(source.path)
    note = said("hyper-parameters are those of {file}", file=file)
    return [replace(log, config=config, notes=(*log.notes, note)) for log in logs] if config else logs


def load(
    paths: Iterable[str | Path],
    *,
    speaks: str | None = None,
    signals: Collection[str] | None = None,
    read: Read = read_logs,
) -> Loaded:
    """The runs in files, folders, patterns, URLs of either, and ``-`` for standard input.

    A folder is searched; what in it is plainly no log is passed over, and of the same run in several formats one is read.
    A file that is named and cannot be read is refused with its reason, and the others are read nevertheless.

    Args:
        paths: What the user typed.
        speaks: Name of the dialect, when the caller knows better than the signatures.
        signals: Keys, concepts or the log's own names of what is wanted; everything, unless given. Of JSON lines nothing else is
            held in memory, however large they are.
        read: What reads a file; another one may keep what it read before.

    Raises:
        UnreadableLogError: When nothing at all could be read; the message gives every reason.
    """
    if signals is not None:
        read = only(signals, speaks=speaks)
    runs: list[Run] = []
    refused: list[Skipped] = []
    asked = [str(p) for p in paths]
    for path in dict.fromkeys(one for each in asked for one in _expanded(each, refused)):
        found = (run for log in _logs(path, refused, read) for run in canonical(log, speaks=speaks))
        runs += _without_copies(found)
    if not runs:
        raise _nothing(asked, refused)
    return Loaded(tuple(_with_own_names(runs)), tuple(dict.fromkeys(refused)))


def raw_logs(path: str) -> list[RawLog]:
    """The raw logs in a file, a folder, a pattern, a URL of either, or ``-``: what `load` makes runs of.

    Raises:
        UnreadableLogError: When there is none; the message gives every reason.
    """
    refused: list[Skipped] = []
    found = [log for one in _expanded(path, refused) for log in _logs(one, refused)]
    if not found:
        raise _nothing([path], refused)
    return found


def _logs(path: str, refused: list[Skipped], read: Read = read_logs) -> list[RawLog]:
    return _behind(path, refused) if is_url(path) else _here(path, refused, read)


def _here(path: str, refused: list[Skipped], read: Read = read_logs) -> list[RawLog]:
    """The logs of a path on this machine."""
    no_logs: list[Skipped] = []
    found = [log for some in choices(path, refused) for log in _first_readable(some, refused, read, no_logs)]
    if not (found and Path(path).is_dir()):
        refused += no_logs
    return found


def _behind(url: str, refused: list[Skipped]) -> list[RawLog]:
    """The logs behind a URL."""
    found: list[RawLog] = []
    try:
        with fetched(url) as copies:
            not_read: list[Skipped] = []
            for path in copies.paths:
                found += map(copies.log, _here(path, not_read))
            refused += map(copies.skipped, not_read)
    except UnreadableLogError as error:
        refused.append(Skipped.of(url, error))
    return found


def _expanded(path: str, refused: list[Skipped]) -> list[str]:
    """The paths that a pattern stands for; shells do this, but not on every system and not inside quotes."""
    if path == "-" or is_url(path) or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))  # noqa: PTH207 - a pattern may be absolute, which Path.glob refuses
    if not found:
        refused.append(Skipped(path, None, "no file matches this pattern"))
    return found


Choices = list[tuple[Source, tuple[str, ...]]]
"""Sources of the same run, the best first, each with the remarks that belong to a run read from it."""


def choices(path: str, refused: list[Skipped]) -> Iterator[Choices]:
    """The sources behind a path on this machine, run by run; why there are none goes to `refused`."""
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
        why = "it is a link to a file that is gone" if os.path.lexists(path) else _not_there(Path(path))
        refused.append(Skipped(path, None, why))
    except UnreadableLogError as error:
        refused.append(Skipped.of(path, error))
    except (OSError, ValueError) as error:
        refused.append(Skipped(path, None, said("it cannot be opened ({error})", error=reason(error))))


def _not_there(path: Path) -> str:
    """That a path does not exist, and what in its folder is called nearly so."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in itertools.islice(entries, MOST_NAMES)]
    except OSError:
        return said("there is no such file or folder, nor is there a folder {folder}", folder=path.parent)
    near = difflib.get_close_matches(path.name, names, n=2, cutoff=0.8)
    if not near:
        return "there is no such file or folder"
    nearest = listed((str(path.parent / n) for n in near), " or ")
    return said("there is no such file or folder. Did you mean {nearest}?", nearest=nearest)


def _standard_input() -> Source:
    return Source(STANDARD_INPUT, data=_limited(sys.stdin.buffer.read(MOST_INPUT + 1), STANDARD_INPUT))


def _limited(data: bytes, name: str) -> bytes:
    if len(data) > MOST_INPUT:
        raise UnreadableLogError.of(
            name, said("more than {most} GiB came in.", most=MOST_INPUT >> 30), "Save it to a file and give the file."
        )
    return data


def _stream(path: str, mode: int) -> Source:
    """What a shell hands over as ``<(command)``. Any other pipe, socket or device may never end, so it is not opened."""
    if path.startswith(("/dev/fd/", "/dev/stdin", "/proc/self/fd/")):
        with open(path, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path on a disk
            return Source(path, data=_limited(stream.read(MOST_INPUT + 1), path))
    raise UnreadableLogError.of(
        path,
        "it is a named pipe, not a file."
        if stat.S_ISFIFO(mode)
        else "it is a socket, not a file."
        if stat.S_ISSOCK(mode)
        else "it is a device, not a file.",
        said("To read from it: `holter check - < {path}`.", path=path),
    )


def _first_readable(choices: Choices, refused: list[Skipped], read: Read, no_logs: list[Skipped]) -> list[RawLog]:
    """The logs of the first source that can be read. Sources that turn out to be no logs of training are told apart."""
    for source, remarks in choices:
        try:
            logs = logs_of(source, read)
        except NotALogError as error:
            no_logs.append(Skipped.of(source.name, error))
            continue
        except UnreadableLogError as error:
            refused.append(Skipped.of(source.name, error))
            continue
        if any(log.rows for log in logs):
            return [replace(log, notes=(*log.notes, *remarks)) if remarks else log for log in logs]
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
            note = said("left aside because it says exactly the same: {file}", file=run.path)
            out[key] = replace(first, notes=(*first.notes, note))
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


def _with_own_names(runs: Iterable[Run]) -> Iterator[Run]:
    """The runs, the second one of a name called ``name (2)``."""
    given: Counter[str] = Counter()
    for run in runs:
        name = run.name
        while name in given:
            given[run.name] += 1
            name = f"{run.name} ({given[run.name]})"
        given[name] = 1
        yield run if name == run.name else replace(run, name=name)


def _nothing(asked: list[str], refused: list[Skipped]) -> UnreadableLogError:
    if not refused:
        # "." and ".." are no names at the end of a sentence.
        places = [each if each.strip("./") else str(Path(each).resolve()) for each in asked]
        return UnreadableLogError(
            said("no log was found in {places}.", places=listed(places)) if asked else "no path was given.",
            _ASK,
        )
    if len(refused) == 1:
        says_more = "`" in refused[0].why or refused[0].why.endswith((".", "?"))
        why = phrase(refused[0].why)
        return UnreadableLogError(f"{refused[0].place}:", *([why] if says_more else [said("{why}.", why=why), _ASK]))
    lines = [said("  {place}: {why}", place=r.place, why=phrase(r.why)) for r in refused[:20]]
    if len(refused) > 20:
        lines.append(said("  and {n} more", n=len(refused) - 20))
    return UnreadableLogError(said("nothing could be read:\n{reasons}", reasons=listed(lines, "\n")))
