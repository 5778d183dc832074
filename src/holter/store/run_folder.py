"""Writing a run folder: creating it, resuming it, and the lines that go into it."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from holter.errors import HolterError, reason
from holter.language import said
from holter.store import layout
from holter.store.encoding import encode, joined
from holter.store.line_file import LineFile
from holter.store.manifest import Manifest, Parent, read_manifest, rewrite_manifest, write_manifest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path


LONGEST_REASON = 2000
"""Characters of an error's message that are kept."""


def why_it_failed(error: BaseException) -> str:
    """What ended a run, as the last line of its ``findings.jsonl`` says it."""
    # The line is English in every language.
    why = reason(error) if isinstance(error, HolterError) else error
    return f"{type(error).__name__}: {why}"[:LONGEST_REASON]


class RunFolderError(HolterError, FileExistsError):
    """A folder that already holds a run, where a new one was to begin, or none where one was to be resumed."""


class RunFolder:
    """One segment of a run, open for writing. One process writes it; readers need no lock."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        """Open the files of a segment whose manifest stands. `create` and `resume` are the ways in."""
        self.path = path
        self.manifest = manifest
        self._metrics = LineFile(layout.metrics_file(path, manifest.segment))
        self._samples: LineFile | None = None
        self._findings: LineFile | None = None
        # Entered again by a signal's handler that says something while the same thread does.
        self._saying = threading.RLock()

    @classmethod
    def create(cls, path: Path, manifest: Manifest) -> Self:
        """Begin a run in `path`, which is made where it is missing.

        Raises:
            RunFolderError: When there is a run already.
            OSError: When the folder cannot be made or written.
        """
        path.mkdir(parents=True, exist_ok=True)
        if layout.is_run_folder(path):
            raise RunFolderError(said("{folder} already holds a run: resume it, or choose another folder", folder=path))
        first = replace(manifest, segment=0, parent=None)
        try:
            write_manifest(layout.manifest_file(path, 0), first)
        except FileExistsError as error:
            raise RunFolderError(
                said("{folder} already holds a run: another process began it just now", folder=path)
            ) from error
        return cls(path, first)

    @classmethod
    def resume(cls, path: Path, manifest: Manifest, *, step: float | None = None) -> Self:
        """Begin the next segment of the run in `path`; it keeps the run's id.

        Args:
            path: Folder of the run.
            manifest: What this segment is made with; its id and number are replaced.
            step: Step of the checkpoint that training goes on from. Older rows after it count no more.

        Raises:
            RunFolderError: When there is no run.
            OSError: When the folder cannot be written.
        """
        if not path.is_dir() or not layout.is_run_folder(path):
            raise RunFolderError(said("{folder} holds no run to resume", folder=path))
        while True:
            newest = layout.segment_numbers(path)[-1]
            file = layout.manifest_file(path, 0)
            known = read_manifest(file).id if file.exists() else manifest.id
            after = replace(manifest, id=known, segment=newest + 1, parent=Parent(segment=newest, step=step))
            try:
                write_manifest(layout.manifest_file(path, newest + 1), after)
            except FileExistsError:
                continue
            return cls(path, after)

    @property
    def metrics_file(self) -> Path:
        """The file this segment's rows go to."""
        return self._metrics.path

    def write(self, step: float, row: Mapping[str, object], *, now: float | None = None) -> None:
        """Log one step; the line is in the file when this returns. Never raises.

        Args:
            step: The step, which is the line's first entry whatever `row` says.
            row: Values by name. A name that is absent was not logged; None is a null that was logged.
            now: Wall-clock time, seconds since 1970, where `row` has no ``time``; the current one by default.
        """
        rest = dict(row)
        rest.pop("step", None)
        at = rest.pop("time", None) if "time" in rest else now
        head = {"step": step, "time": time.time() if at is None else at}
        self._metrics.append(joined(encode(head), encode(rest)))

    def samples(self, step: float, rows: Iterable[Mapping[str, object]]) -> None:
        """Log completions of one step, one line each. Never raises once the file is open."""
        if self._samples is None:
            self._samples = LineFile(layout.samples_file(self.path, self.manifest.segment))
        for row in rows:
            self._samples.append(encode({"step": step, **row}))

    def finding(self, event: Mapping[str, object], *, now: float | None = None) -> None:
        """Log what happened beside the metrics: an alert opened, worsened or resolved, the run ended. Any thread may."""
        # The file is made by the first line.
        with self._saying:
            if self._findings is None:
                self._findings = LineFile(layout.findings_file(self.path))
        self._findings.append(
            encode({"time": time.time() if now is None else now, "segment": self.manifest.segment, **event})
        )

    def configure(self, config: Mapping[str, Any]) -> None:
        """Write down the hyper-parameters anew, in this segment's manifest.

        Raises:
            OSError: When the disk refuses; the manifest is left as it was.
        """
        self.manifest = replace(self.manifest, config=dict(config))
        rewrite_manifest(layout.manifest_file(self.path, self.manifest.segment), self.manifest)

    def close(self) -> None:
        """Write what still waits for the disk and close the files. Never raises."""
        for file in (self._metrics, self._samples, self._findings):
            if file is not None:
                file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
