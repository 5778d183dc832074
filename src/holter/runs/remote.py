"""Logs behind a URL (``s3://bucket/runs/*``), fetched through fsspec into a folder of this machine and read there.

A log is read more than once (its head decides who reads it, its neighbours belong to it), which over a network costs more than
one copy. Only what may be a log, or belongs to one, is fetched. What is said of the copies names the URLs.
"""

from __future__ import annotations

import re
import tempfile
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from holter.errors import UnreadableLogError
from holter.language import Said, said
from holter.readers.base import Skipped
from holter.runs.folder import MOST_ENTRIES, may_be_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holter.readers.base import RawLog

MOST_FETCHED = 64 << 30
"""Bytes of everything that is fetched for one URL."""
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*(?:::[A-Za-z][A-Za-z0-9+.\-]*)*://")
_COMPANION = re.compile(r"run(?:-\d+)?\.json|config\.(?:ya?ml|json)")
_STORE = "meta.yaml"
"""The file of an MLflow run, whose metrics lie below it in files that have no suffix."""
_STORE_FOLDERS = ("metrics", "params", "tags")
_MAGIC = re.compile(r"[*?\[]")
_CHANGES = ("size", "mtime", "LastModified", "last_modified", "updated", "ETag", "etag")
"""What file systems of fsspec tell of a file that changes with it."""
_UNSAFE = frozenset({"", ".", ".."})


def is_url(path: str) -> bool:
    """Whether a path names a place on another machine, or in another store, instead of a file here."""
    return _URL.match(path) is not None


def state_of(url: str) -> object:
    """The same as long as what is behind a URL does not change; None where that cannot be told without fetching it."""
    try:
        import fsspec

        files, place = fsspec.core.url_to_fs(url)
        files.invalidate_cache()
        found = files.glob(place) if _MAGIC.search(place) else [place]
        entries = [
            entry
            for each in found
            for entry in (files.find(each, detail=True).values() if files.isdir(each) else [files.info(each)])
        ]
    except Exception:
        # Whoever fetches it says what is wrong.
        return None
    told = sorted((str(e.get("name")), *(str(e[k]) for k in _CHANGES if e.get(k) is not None)) for e in entries)
    return None if any(len(each) == 1 for each in told) else told


class Fetched:
    """Copies of what a URL stands for.

    Attributes:
        paths: The copies to read: files, or folders of a run.
        root: The folder of the copies.
        prefix: What stands before a copy's path within that folder, to make the URL of it.
    """

    def __init__(self, root: Path, prefix: str) -> None:
        self.root = root
        self.prefix = prefix
        self.paths: list[str] = []

    def of_url(self, sentence: str) -> str:
        """A text about the copies, as one about their URLs."""
        plain = sentence.replace(f"{self.root}/", self.prefix).replace(str(self.root), self.prefix)
        if not isinstance(sentence, Said):
            return plain
        values = sentence.values.items()
        return Said(sentence.template, {n: self.of_url(v) if isinstance(v, str) else v for n, v in values}, plain)

    def skipped(self, skipped: Skipped) -> Skipped:
        """Something that was not read, with the URL."""
        return Skipped(self.of_url(skipped.file), skipped.line, self.of_url(skipped.why))

    def log(self, log: RawLog) -> RawLog:
        """A log of a copy, as one of its URL."""
        return replace(
            log,
            name=self.of_url(log.name),
            skipped=tuple(map(self.skipped, log.skipped)),
            notes=tuple(map(self.of_url, log.notes)),
        )


@contextmanager
def fetched(url: str) -> Iterator[Fetched]:
    """Copies of what `url` stands for, a file, a folder or a pattern; gone at the end.

    Raises:
        UnreadableLogError: When it cannot be reached, does not exist, or is too large; says what to do.
    """
    with tempfile.TemporaryDirectory(prefix="holter-") as folder:
        yield _fetched(url, Path(folder).resolve())


def _fetched(url: str, root: Path) -> Fetched:
    try:
        import fsspec
    except ImportError:
        raise UnreadableLogError.of(
            url,
            "reading from a URL needs a package that is not installed.",
            "Install it: `pip install 'holter[remote]'`; or copy the log here and give the copy.",
        ) from None
    try:
        files, place = fsspec.core.url_to_fs(url)
        found = sorted(files.glob(place)) if _MAGIC.search(place) else [place]
        copies = Fetched(root, _prefix(files, place))
        size = 0
        for each in found:
            remote, is_folder = _wanted(files, each)
            copies.paths.append(str(_local(root, each)))
            if is_folder:
                _local(root, each).mkdir(parents=True, exist_ok=True)
            for path in remote:
                size += files.size(path) or 0
                if size > MOST_FETCHED:
                    raise UnreadableLogError.of(
                        url,
                        said("it holds more than {most} GiB of logs.", most=MOST_FETCHED >> 30),
                        "Give the runs one by one.",
                    )
                target = _local(root, path)
                target.parent.mkdir(parents=True, exist_ok=True)
                files.get_file(path, str(target))
    except UnreadableLogError:
        raise
    except FileNotFoundError:
        raise UnreadableLogError.of(url, "there is nothing under this URL.", "Look at how it is written.") from None
    except Exception as error:
        # What a store raises is its own affair: wrong keys, no network, no such bucket, a package that it lacks.
        why = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UnreadableLogError.of(
            url,
            said("it cannot be fetched ({why}).", why=why),
            "If another program can, copy the log here and give the copy.",
        ) from error
    if not found:
        raise UnreadableLogError.of(url, "nothing matches this pattern.", "Look at how it is written.")
    return copies


def _prefix(files: Any, place: str) -> str:  # noqa: ANN401 - a file system of fsspec, which has no types
    """What makes a URL of a copy's path within the folder of the copies."""
    whole, relative = str(files.unstrip_protocol(place)), "/".join(_parts(place))
    return whole.removesuffix("/").removesuffix(relative) if relative else whole


def _wanted(files: Any, place: str) -> tuple[list[str], bool]:  # noqa: ANN401 - a file system of fsspec, which has no types
    """The files to fetch for a path, and whether it is a folder."""
    if not files.isdir(place):
        return [place], False
    below = files.find(place)
    if len(below) > MOST_ENTRIES:
        raise UnreadableLogError.of(
            place, said("more than {most:,} files.", most=MOST_ENTRIES), "Name the runs' folders instead."
        )
    stores = {str(PurePosixPath(path).parent) for path in below if PurePosixPath(path).name == _STORE}
    return [path for path in below if _belongs(path, stores)], True


def _belongs(path: str, stores: set[str]) -> bool:
    """Whether a file may be a log, or belongs to one."""
    file = PurePosixPath(path)
    if may_be_log(file.name) or _COMPANION.fullmatch(file.name):
        return True
    if not stores:
        return False
    return any(
        str(above) in stores and file.relative_to(above).parts[0] in _STORE_FOLDERS for above in list(file.parents)[1:]
    )


def _local(root: Path, path: str) -> Path:
    """Where a copy lies: nothing in a name leads out of the folder of the copies."""
    return root.joinpath(*_parts(path))


def _parts(path: str) -> list[str]:
    return [part for part in path.split("://", 1)[-1].split("/") if part not in _UNSAFE]
