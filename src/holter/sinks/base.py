"""What a sink is: it takes a run's rows and puts them somewhere."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from holter.sinks.naming import as_logged

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from holter.store.manifest import Manifest

Values: TypeAlias = "Mapping[str, float | int | None]"
"""One row: numbers by canonical name. NaN and infinities are values; None is a null; absent was not logged. ``time`` is the
wall-clock time of the row, seconds since 1970, later in each row than in the one before. Never changed by a sink."""
Sample: TypeAlias = "Mapping[str, object]"
"""One completion: ``prompt``, ``completion``, ``rewards/<name>``, ``advantage``, ``group``, ``truncated``, ..."""


@runtime_checkable
class Sink(Protocol):
    """Takes rows. Only the main process has sinks, and calls them from one thread at a time.

    A sink may raise and may be slow: whoever drives training wraps it in `Isolated`. The run folder alone is driven
    directly, and never raises once it is open.
    """

    name: str

    def open(self, manifest: Manifest) -> None:
        """Begin the run. Called once, before anything else."""
        ...

    def write(self, step: float, row: Values) -> None:
        """Take one row. Several rows may share a step (training and evaluation)."""
        ...

    def samples(self, step: float, rows: Sequence[Sample]) -> None:
        """Take completions of one step; a sink that has no tables does nothing."""
        ...

    def close(self) -> None:
        """Finish the run: what was taken is where it belongs when this returns."""
        ...


@runtime_checkable
class Configurable(Protocol):
    """A sink that keeps the hyper-parameters, and takes them anew where they change after the run was begun."""

    def configure(self, config: Mapping[str, object]) -> None:
        """Take all of them. May raise."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Destination:
    """Where and under what names a run is recorded; each sink takes from it what concerns it.

    Attributes:
        folder: The run folder.
        resume: Whether the run in `folder` goes on, instead of a new one beginning.
        resumed_step: Step of the checkpoint it goes on from, where that is known.
        logging_dir: Folder of TensorBoard's event files; ``<folder>/tensorboard`` when None.
        project: Project at trackers that have projects.
        run_name: Name of the run at trackers; the manifest's name when None.
        rename: How a metric is called at the trackers. The run folder keeps the canonical names.
        options: Settings of single trackers by tracker name: ``{"wandb": {"entity": "lab"}}``.
    """

    folder: Path
    resume: bool = False
    resumed_step: float | None = None
    logging_dir: Path | None = None
    project: str | None = None
    run_name: str | None = None
    rename: Callable[[str], str] = as_logged
    options: Mapping[str, Mapping[str, object]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """A kind of sink, as ``report_to`` names it. A module of this package offers one as a constant.

    Attributes:
        name: What ``report_to`` calls it.
        title: What it is, in a few words.
        create: Makes the sink; imports what it needs only here, and does not touch network or disk yet.
        package: Package that must be installed, empty for none; several separated by ``|`` where one of them will do.
        direct: Whether training writes to it directly instead of through a thread of its own.
        gives_way: Whether a trainer that drives this tracker itself, as its users know it, goes before.
    """

    name: str
    title: str
    create: Callable[[Destination], Sink]
    package: str = ""
    direct: bool = False
    gives_way: bool = False

    @property
    def installed(self) -> bool:
        """Whether what it needs is there. Imports nothing."""
        return not self.package or any(find_spec(name) is not None for name in self.package.split("|"))
