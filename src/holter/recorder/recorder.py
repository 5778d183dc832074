"""The recorder: a training loop tells it what it saw, and it makes one row a logged step of it."""

from __future__ import annotations

import logging
import math
import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

from holter.language import listed, said, told
from holter.recorder import fold, ranks
from holter.recorder.reductions import RecordError
from holter.recorder.samples import SampleBuffer
from holter.recorder.window import Window
from holter.signals.masked import widened
from holter.sinks.holter import RunFolderSink

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from torch import Tensor

    from holter.recorder.fold import Kind
    from holter.recorder.ranks import Ranks
    from holter.recorder.window import Layout, Scalar
    from holter.sinks.base import Sample, Sink
    from holter.store.manifest import Manifest

log = logging.getLogger("holter")


class Recorder:
    """Folds metrics over micro-batches, steps and processes, and sends one row a logged step to the sinks.

    Every process records; the main one alone has sinks. ``record*`` may be called any number of times for a key before
    `dump`; nothing is looked at on the device until then, and then everything at once::

        recorder = Recorder(sinks)
        recorder.open(describe(algorithm="grpo", config=config))
        for step, batch in enumerate(batches, start=1):
            for part in batch.split(8):
                recorder.record("kl", *kl_per_token(part.logprobs, part.ref_logprobs, part.mask))
                recorder.record_max("val/ratio_max", part.ratio, part.mask)
            recorder.record_last("learning_rate", rate)
            recorder.dump(step, episode=512 * step)
        recorder.close()

    Keys are canonical (`holter.signals.catalog`), ``eval/...`` for evaluations. Tensors that are to be reduced wait for others of
    their shape, at most until their metric comes again: do not change them in place meanwhile.
    """

    def __init__(
        self,
        sinks: Sequence[Sink] = (),
        *,
        processes: Ranks | None = None,
        clock: Callable[[], float] = time.time,
        samples_per_dump: int | None = None,
    ) -> None:
        """Record to `sinks`.

        Args:
            sinks: Where rows go, the run folder first; ignored on all but the main process.
            processes: The processes that record together; those of torch's default group when None.
            clock: Wall-clock time, seconds since 1970.
            samples_per_dump: Most completions that one process contributes to a dump, the newest; None for all.
        """
        self.processes = processes if processes is not None else ranks.current()
        self.sinks: tuple[Sink, ...] = tuple(sinks) if self.processes.main else ()
        self._clock = clock
        self._time = -math.inf
        self._window = Window()
        self._agreed: Layout = ()
        self._samples = SampleBuffer(samples_per_dump)

    def open(self, manifest: Manifest) -> None:
        """Begin the run at every sink. A run that goes on keeps its id: the run folder, which comes first, knows it."""
        for sink in self.sinks:
            sink.open(manifest)
            if isinstance(sink, RunFolderSink):
                manifest = replace(manifest, id=sink.folder.manifest.id)

    def record(self, key: str, total: Scalar, count: Scalar) -> None:
        """A mean, by the sum and the count of its values: ``record("kl", *tally(kl, mask))``.

        Args:
            key: Canonical key.
            total: Sum of the values. A number or a tensor of one element.
            count: How many they are; 0 is fine, and if it stays 0 the metric is absent from the row.
        """
        self._window.add(key, fold.MEAN, total, count)

    def record_mean(self, key: str, values: Tensor | float, mask: Tensor | None = None) -> None:
        """A mean over all values that count: tokens for ``(B, T)``, sequences for ``(B,)``."""
        self._record(key, fold.MEAN, values, mask)

    def record_sum(self, key: str, values: Tensor | float, mask: Tensor | None = None) -> None:
        """A sum over micro-batches and processes."""
        self._record(key, fold.SUM, values, mask)

    def record_min(self, key: str, values: Tensor | float, mask: Tensor | None = None) -> None:
        """The least value that counts, of the whole window: not a mean of minima."""
        self._record(key, fold.MIN, values, mask)

    def record_max(self, key: str, values: Tensor | float, mask: Tensor | None = None) -> None:
        """The greatest value that counts, of the whole window."""
        self._record(key, fold.MAX, values, mask)

    def record_variance(self, key: str, values: Tensor, mask: Tensor | None = None) -> None:
        """The unbiased variance of all values that count, over the whole window."""
        self._record(key, fold.VARIANCE, values, mask)

    def record_std(self, key: str, values: Tensor, mask: Tensor | None = None) -> None:
        """The standard deviation (n - 1) of all values that count, over the whole window."""
        self._record(key, fold.DEVIATION, values, mask)

    def record_last(self, key: str, value: Scalar) -> None:
        """The newest value of the main process: a learning rate, a coefficient, a running total."""
        self._window.add(key, fold.LAST, value, 1)

    def record_explained_variance(self, key: str, values: Tensor, returns: Tensor, mask: Tensor | None = None) -> None:
        """How much of the returns the values explain, over the whole window; absent where the returns do not vary."""
        target = widened(returns.detach())
        self._window.reduce(key, fold.EXPLAINED_VARIANCE, (target, target - values.detach()), mask)

    def record_samples(self, columns: Mapping[str, Sequence[object] | Tensor]) -> None:
        """Completions, by column: ``prompt``, ``completion``, ``rewards/<name>``, ``advantage``, ``group``, ``truncated``.

        Args:
            columns: Texts and numbers, each of length ``B``. Tensors of shape ``(B,)`` stay on their device until the dump.
        """
        self._samples.add(columns)

    def dump(self, step: float, **axes: float) -> dict[str, float]:
        """Fold what was recorded into one row and send it to the sinks. Every process must call it.

        Costs one collective and one look at the device, whatever was recorded; when metrics appear for the first time the
        processes of a run exchange their names once more.

        A process that dies does not end the recording: from then on each of the others folds what it measured itself, and the
        main one, if it still lives, writes that. One that is stopped, or hangs, is waited for as long as the process group
        waits (its ``timeout``), since it may only be slow, saving a checkpoint.

        Args:
            step: The step that the row belongs to.
            axes: Other axes of the row: ``episode``, ``num_tokens``, ``epoch``.

        Returns:
            The row, the same on every process, without its step and time. NaN and infinities are kept.

        Raises:
            RecordError: When processes recorded one key in two ways, or what was recorded has been changed in place since.
        """
        values = self._fold()
        self._window.clear()
        row: dict[str, float] = {**axes, **values}
        if not row:
            return row
        self.write(step, row)
        return row

    def write(self, step: float, row: Mapping[str, float | int | None]) -> None:
        """Send a row that is already made, on the main process; others do nothing."""
        if not self.sinks:
            return
        # Trackers that missed rows find them again by their times, so no two are alike.
        self._time = max(self._clock(), math.nextafter(self._time, math.inf))
        stamped = dict(row)
        stamped["time"] = self._time
        for sink in self.sinks:
            sink.write(step, stamped)

    def dump_samples(self, step: float) -> list[Sample]:
        """Send the completions recorded since the last time to the sinks. Every process must call it.

        Returns:
            All of them on the main process, none on others.
        """
        rows: list[Sample] = list(self._samples.take())
        if self.processes.size > 1:
            try:
                rows = [row for part in self.processes.exchange(rows) for row in part]
            except RuntimeError as error:
                self._go_on_alone(error)
        if not self.processes.main:
            return []
        if rows:
            for sink in self.sinks:
                sink.samples(step, rows)
        return rows

    def discard(self) -> None:
        """Forget what was recorded since the last dump: a step that is done over."""
        self._window.clear()
        self._samples.take()

    def state(self) -> dict[str, tuple[str, tuple[float, ...]]]:
        """What was measured since the last row, for a checkpoint: kind and lanes of each metric. Looks at the device.

        Each process keeps its own. Completions that were not logged are in `samples_state`.
        """
        return self._window.state()

    def restore(self, state: Mapping[str, tuple[str, Sequence[float]]]) -> None:
        """Go on from what `state` gave: the next row holds what was measured before and after the checkpoint.

        Raises:
            RecordError: For a kind of fold that this version does not have.
        """
        self._window.clear()
        for key, (kind, lanes) in state.items():
            if kind not in fold.KINDS:
                raise RecordError(
                    said(
                        "{key!r} was recorded as {kind}, which is none of {names}",
                        key=key,
                        kind=kind,
                        names=listed(fold.KINDS),
                    )
                )
            self._window.add(key, fold.KINDS[kind], *lanes)

    def samples_state(self) -> str:
        """Completions recorded since the last `dump_samples`, for a checkpoint. Each process keeps its own."""
        return self._samples.state()

    def restore_samples(self, state: str) -> None:
        """Go on from what `samples_state` gave."""
        self._samples.restore(state)

    def close(self) -> None:
        """Finish the run at every sink."""
        for sink in self.sinks:
            sink.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _record(self, key: str, kind: Kind, values: Any, mask: Tensor | None) -> None:  # noqa: ANN401
        if _plain(values):
            self._window.add(key, kind, values, 1)
        else:
            self._window.reduce(key, kind, (values.detach() if values.requires_grad else values,), mask)

    def _fold(self) -> dict[str, float]:
        mine = self._window.layout()
        if self.processes.size > 1:
            try:
                return self._together(mine)
            except RuntimeError as error:
                self._go_on_alone(error)
        if not mine:
            return {}
        vectors = self.processes.gather(self._window.folded(mine))
        return self._window.slots(mine).finished(vectors)

    def _go_on_alone(self, error: RuntimeError) -> None:
        """Another process died, and with it the collectives. What this one measures is recorded all the same."""
        log.warning(
            told(
                "the other processes cannot be reached any more ({why}); from here on rows hold what this one measured",
                why=str(error).partition("\n")[0],
            )
        )
        alone = ranks.Alone()
        alone.main = self.processes.main
        self.processes = alone

    def _together(self, mine: Layout) -> dict[str, float]:
        # All processes send vectors of one length, laid out as they agreed before. One that has metrics the others may not
        # know raises its flag, and all see it in the same collective.
        flagged = not set(mine) <= set(self._agreed)
        vectors = self.processes.gather(_flagged(self._window.folded(self._agreed), flagged=flagged))
        if any(vector[0] for vector in vectors):
            self._agreed = _union([self._agreed, *self.processes.exchange(mine)])
            vectors = self.processes.gather(_flagged(self._window.folded(self._agreed), flagged=False))
        return self._window.slots(self._agreed).finished([vector[1:] for vector in vectors])


def _plain(values: object) -> bool:
    return not hasattr(values, "detach")


def _flagged(vector: Any, *, flagged: bool) -> Any:  # noqa: ANN401
    """The vector with a flag before it."""
    if isinstance(vector, list):
        return [float(flagged), *vector]
    import torch

    return torch.cat([vector.new_full((1,), float(flagged)), vector])


def _union(parts: Iterable[Layout]) -> Layout:
    """All metrics of all processes, in the same order everywhere."""
    union: dict[str, Kind] = {}
    for part in parts:
        for key, kind in part:
            if union.setdefault(key, kind) != kind:
                raise RecordError(
                    said(
                        "{key!r} is recorded as {first} by one process, as {second} by another",
                        key=key,
                        first=union[key].name,
                        second=kind.name,
                    )
                )
    return tuple(union.items())
