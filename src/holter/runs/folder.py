"""The logs in a folder: which files are logs, which of them are one run, and which form of a run to read.

A run folder holds the same run several times: event files, ``trainer_state.json``, one copy of it in every checkpoint, a
JSONL file. One of them is read, the others are named in the run's notes. Different runs stay different.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from holter.errors import UnreadableLogError, reason
from holter.language import said, some
from holter.readers.base import GatheringReader, Reader, Skipped, Source
from holter.readers.console.reader import CONSOLE
from holter.readers.encoding import is_text
from holter.readers.plausibility import NotALogError
from holter.readers.registry import read, readers_for
from holter.readers.stores.aim import FOLDER as AIM

PREFERENCE = ("run-folder", "trainer-state", "jsonl", "wandb", "swanlab", "tensorboard", "json", "csv")
"""Readers, the one whose files hold most of a run first; the others after them, by their priority."""
_LAST = "wandb-summary"
"""The reader whose files hold least of a run: the end of it."""
TAKES_ANY_TEXT = 900
"""Priority from which on a reader is not believed by a file's name alone: a console's output is a ``.txt`` too."""
MOST_ENTRIES = 500_000
"""Files and folders looked at below one folder."""

_PRINTED = (".log", ".out", ".txt")
"""Suffixes of what a trainer printed, rounded as a rule, also where every line of it is a record."""
_PASSED_FOLDERS = re.compile(r"\.(?!aim$).*|__pycache__|node_modules|site-packages|venv")
_LOG_SUFFIXES = (
    *(".jsonl", ".ndjson", ".json", ".csv", ".tsv", ".log", ".out", ".txt", ".wandb", ".ipynb"),
    *(".db", ".sqlite", ".sqlite3", ".parquet", ".swanlab", "meta.yaml"),
)
_NO_LOGS = re.compile(
    r"(?:config|meta|metadata|expect|run(?:-\d+)?|args|params|package|package-lock|tsconfig|vocab|merges|tokenizer.*|special_tokens_map"
    r"|added_tokens|generation_config|preprocessor_config|adapter_config|.*\.index|ds_config.*|accelerate.*|training_args"
    r"|hparams|wandb-metadata|all_results|train_results|eval_results|.*manifest.*|.*schema)\.json"
    r"|(?:requirements.*|license.*|readme.*|notice.*)\.txt|findings\.jsonl|debug(?:-internal|-core)?\.log"
    r"|(?:.*[_-])?(?:samples?|completions?|generations?|rollouts|trajector(?:y|ies)|predictions?|prompts?|dataset"
    r"|(?:train|val|test)_data_step)(?:[_-]?\d+)*\.\w+(?:\.gz)?",
    re.IGNORECASE,
)
_CHECKPOINT = re.compile(r"(?:checkpoint|ckpt|global_step|step)[-_]?(\d+)")
_WITHIN = re.compile(
    r"(?:runs?|logs?|logging|tb|tb_?logs?|tensorboard|tensorboard_?logs?|events?|metrics|wandb|offline-run-.*|files|train"
    r"|[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.*)"
)
"""Folders that trainers make inside a run's folder; the last one is how transformers calls a folder of event files."""
_ANONYMOUS = re.compile(
    r"(?:train(?:er|ing)?|eval)?[-_.]?(?:state|logs?|metrics|history|progress|logging|output|stdout|stderr|console|results"
    r"|wandb-summary|experiment_log|run|data|events.*|nohup|slurm|(?:run[-_]?)?terminal)?(?:[-_]\d+)?",
    re.IGNORECASE,
)
_STEP = re.compile(rb'"global_step"\s*:\s*(\d+)')
_SWANLAB_COLUMN = "_summary.json"
"""Stands in every folder in which SwanLab keeps the points of one name, all of which its run file holds as well."""
_LAST_STEP = re.compile(rb'"max_steps"\s*:\s*(\d+)')
_TAIL = 4096
_NAMED = 3
"""Files that a remark names."""


@dataclass(slots=True)
class Found:
    """The logs of a folder.

    Attributes:
        runs: For each run its sources, the best first, each with the remarks for a run read from it.
        refused: What looked like a log and could not even be opened.
    """

    runs: list[list[tuple[Source, tuple[str, ...]]]] = field(default_factory=list)
    refused: list[Skipped] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Log:
    """A source in the folder, with the reader that recognises it."""

    source: Source
    reader: Reader
    home: Path
    stem: str

    @property
    def order(self) -> tuple[int, int, str]:
        """Where it comes among the forms of one run, the fullest first."""
        name = self.reader.name
        rank = PREFERENCE.index(name) if name in PREFERENCE else len(PREFERENCE)
        if name == "trainer-state" and self._stops_early():
            rank = PREFERENCE.index("csv")
        if name == _LAST:
            rank = len(PREFERENCE) + 1
        if name == "jsonl" and self.source.name.endswith(_PRINTED):
            rank = len(PREFERENCE)
        return (rank, self.reader.priority, self.source.name)

    def _stops_early(self) -> bool:
        """Whether it is the copy of a checkpoint before the end: what came after it stands in the other forms only."""
        path = self.source.path
        if path is None or not _CHECKPOINT.fullmatch(path.parent.name):
            return False
        try:
            with path.open("rb") as stream:
                stream.seek(max(0, path.stat().st_size - _TAIL))
                last = _LAST_STEP.search(stream.read(_TAIL))
        except OSError:
            return True
        return last is None or _global_step(self.source) < int(last[1])


def logs_in(folder: Path) -> Found:
    """Every run below `folder`."""
    found = Found()
    logs = _gathered(_recognised(_files(folder, found), folder, found))
    for group in _grouped(_without_old_checkpoints(logs)).values():
        found.runs += _chosen(group)
    return found


def _files(folder: Path, found: Found) -> list[Path]:
    """Regular files below a folder that may be logs, by path. Every folder is visited once, however it is linked."""
    out: list[Path] = []
    seen: set[tuple[int, int]] = set()
    open_folders, linked, looked_at = [folder], deque[Path](), 0
    while open_folders or linked:
        # A folder that is linked to keeps the name that it has where it lies.
        here = open_folders.pop() if open_folders else linked.popleft()
        try:
            entries = _entries(here) if _is_new(here.stat(), seen) else []
        except OSError as error:
            why = said("this folder cannot be read ({error})", error=reason(error))
            found.refused.append(Skipped(str(here), None, why))
            continue
        looked_at += len(entries)
        if looked_at > MOST_ENTRIES:
            why = said("more than {most:,} files; name the runs' folders instead of this one", most=MOST_ENTRIES)
            found.refused.append(Skipped(str(folder), None, why))
            break
        below: list[Path] = []
        for entry in entries:
            path = Path(entry.path)
            try:
                if entry.is_dir():
                    if not _PASSED_FOLDERS.fullmatch(entry.name):
                        (linked if entry.is_symlink() else below).append(path)
                elif may_be_log(entry.name) and stat.S_ISREG(entry.stat().st_mode) and _is_new(entry.stat(), seen):
                    out.append(path)
            except OSError as error:
                if may_be_log(entry.name):
                    why = said("it cannot be opened ({error})", error=reason(error))
                    found.refused.append(Skipped(str(path), None, why))
        open_folders += reversed(below)
    return sorted(out)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    """What is in a folder, by name; without what a tracker keeps there for itself.

    Raises:
        OSError: When it cannot be read.
    """
    with os.scandir(folder) as found:
        entries = sorted(found, key=lambda entry: entry.name)
    if any(entry.name == _SWANLAB_COLUMN for entry in entries):
        return []
    return [entry for entry in entries if entry.is_file()] if folder.name == AIM else entries


def _is_new(status: os.stat_result, seen: set[tuple[int, int]]) -> bool:
    """Whether a file or folder was not seen before, under whatever name; it has been from now on."""
    before = len(seen)
    seen.add((status.st_dev, status.st_ino))
    return len(seen) > before


def may_be_log(name: str) -> bool:
    """Whether a file of a folder that is called `name` is looked at."""
    if ".tfevents." in name:
        return not name.endswith((".profile-empty", ".cfl"))
    return name.lower().removesuffix(".gz").removesuffix(".zst").endswith(_LOG_SUFFIXES) and not _NO_LOGS.fullmatch(
        name
    )


def _recognised(files: list[Path], folder: Path, found: Found) -> list[_Log]:
    logs = []
    for path in files:
        source = Source.of(path)
        try:
            head = source.head()
        except (OSError, UnreadableLogError) as error:
            found.refused.append(Skipped(str(path), None, said("it cannot be opened ({error})", error=reason(error))))
            continue
        reader = next(readers_for(path.name, head), None) if head.strip() else None
        if reader is not None and (reader.priority < TAKES_ANY_TEXT or reader.recognises("", head)):
            logs.append(_Log(source, reader, _home(path, folder), own_name(path)))
    return logs


def _home(path: Path, folder: Path) -> Path:
    """The folder of the run that a file belongs to: above the folders that trainers make inside it."""
    here = path.parent
    while here != folder and (_CHECKPOINT.fullmatch(here.name) or _WITHIN.fullmatch(here.name)):
        here = here.parent
    return here


def own_name(path: Path) -> str:
    """The run's own name in the name of its log; empty for names that any run's log may have."""
    stem = path.name.removesuffix(".gz").removesuffix(".zst")
    stem = stem.rsplit(".", 1)[0] if ".tfevents." not in stem else ""
    return "" if _ANONYMOUS.fullmatch(stem) else stem


def _gathered(logs: list[_Log]) -> list[_Log]:
    """The logs, with the parts of one run that a reader gathers made one source."""
    together: dict[tuple[str, Path], list[_Log]] = {}
    out: list[_Log] = []
    for log in logs:
        path = log.source.path
        assert path is not None
        if isinstance(log.reader, GatheringReader) and log.reader.gathers(path.name):
            together.setdefault((log.reader.name, path.parent), []).append(log)
        else:
            out.append(log)
    for (_, parent), parts in together.items():
        first = parts[0]
        paths = tuple(p.source.path for p in parts if p.source.path is not None)
        source = Source(str(parent), path=paths[0], parts=paths) if len(paths) > 1 else first.source
        out.append(_Log(source, first.reader, first.home, first.stem))
    return out


def _without_old_checkpoints(logs: list[_Log]) -> list[_Log]:
    """The logs, of those that checkpoints of one run hold copies of only the one that goes furthest."""
    furthest: dict[tuple[Path, str, str], tuple[tuple[int, bool], _Log]] = {}
    out = []
    for log in logs:
        path = log.source.path
        assert path is not None
        if log.reader.name != "trainer-state" or log.source.parts:
            out.append(log)
            continue
        inside = _CHECKPOINT.fullmatch(path.parent.name)
        rank = (_global_step(log.source), inside is None)
        key = (log.home, path.name, log.stem)
        if key not in furthest or rank > furthest[key][0]:
            furthest[key] = (rank, log)
    return out + [log for _, log in furthest.values()]


def _global_step(source: Source) -> int:
    try:
        found = _STEP.search(source.head())
    except (OSError, UnreadableLogError):
        return 0
    return int(found[1]) if found and len(found[1]) < 19 else 0


def _grouped(logs: list[_Log]) -> dict[tuple[Path, str], list[_Log]]:
    """Logs of one run's folder and name. What carries no name belongs to the only name that its folder has."""
    names: dict[Path, set[str]] = {}
    for log in logs:
        if log.stem:
            names.setdefault(log.home, set()).add(log.stem)
    groups: dict[tuple[Path, str], list[_Log]] = {}
    for log in sorted(logs, key=lambda log: log.source.name):
        own = names.get(log.home, set())
        stem = log.stem or (next(iter(own)) if len(own) == 1 else "")
        groups.setdefault((log.home, stem), []).append(log)
    return groups


def _chosen(group: list[_Log]) -> list[list[tuple[Source, tuple[str, ...]]]]:
    """The sources to read of one group: all of its best format, the other formats where that one fails."""
    ordered = sorted(group, key=lambda log: log.order)
    best = [log for log in ordered if log.reader.name == ordered[0].reader.name]
    best, copies = _without_copies(best)
    others = [log for log in ordered if log.reader.name != ordered[0].reader.name]
    if len(best) == 1:
        return [[(log.source, _remarks([*(o for o in ordered if o is not log)])) for log in (best[0], *others)]]
    remarks = _remarks([*others, *copies])
    return [[(log.source, remarks if index == 0 else ())] for index, log in enumerate(best)]


def _remarks(aside: list[_Log]) -> tuple[str, ...]:
    """What was not read beside a run. Of a text nobody knows whether it is the run's output before all of it is read."""
    forms = [log for log in aside if log.reader is not CONSOLE and _begins_as_log(log)]
    texts = [log for log in aside if log.reader is CONSOLE]
    out = []
    if forms:
        out.append(said("left aside as another form of this run: {files}", files=_first_names(forms)))
    if texts:
        out.append(said("text beside this run, not read: {files}", files=_first_names(texts)))
    return tuple(out)


def _first_names(logs: list[_Log]) -> str:
    return some([log.source.name for log in logs], _NAMED)


def _begins_as_log(log: _Log) -> bool:
    """Whether the first bytes of a file do not show already that it is no log: the results of an evaluation, samples."""
    try:
        head = log.source.head()
        if is_text(head) and not log.source.parts:
            read(Source(log.source.name, data=head))
    except NotALogError:
        return False
    except (OSError, UnreadableLogError):
        # What was cut off may be all that is wrong with them.
        return True
    return True


def _without_copies(logs: list[_Log]) -> tuple[list[_Log], list[_Log]]:
    """The logs whose bytes differ, and those that are byte for byte one of them."""
    kept: list[_Log] = []
    copies: list[_Log] = []
    seen: set[tuple[int, bytes]] = set()
    sizes = [_size(log) for log in logs]
    for log, size in zip(logs, sizes, strict=True):
        if size is None or sizes.count(size) == 1:
            kept.append(log)
            continue
        identity = (size, _digest(log))
        (copies if identity in seen else kept).append(log)
        seen.add(identity)
    return kept, copies


def _size(log: _Log) -> int | None:
    try:
        return log.source.path.stat().st_size if log.source.path is not None and not log.source.parts else None
    except OSError:
        return None


def _digest(log: _Log) -> bytes:
    assert log.source.path is not None
    with log.source.path.open("rb") as stream:
        return hashlib.file_digest(stream, "blake2b").digest()
