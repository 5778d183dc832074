"""What the dashboard answers: a page, the list of runs, one run, a stretch of curves, completions, and what changes."""

from __future__ import annotations

import asyncio
import contextlib
import math
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import orjson
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from holter.compare.curves import AXES
from holter.dashboard import samples
from holter.dashboard.along import placed
from holter.dashboard.frames import MEDIA_TYPE, Columns, changed, frame, whole
from holter.dashboard.interpreter import Interpreter
from holter.dashboard.prepared import Shelf
from holter.dashboard.safety import Guard
from holter.dashboard.summary import summary
from holter.language import LANGUAGES, spoken, told
from holter.reports.html.page import texts
from holter.reports.html.payload import payload
from holter.reports.html.thinning import MOST, middles, thinned
from holter.reports.json import finite

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
    from concurrent.futures import Executor

    from numpy.typing import NDArray
    from starlette.datastructures import QueryParams
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from holter.dashboard.entry import Entry
    from holter.dashboard.fleet import Fleet
    from holter.runs.run import Run

    Compute = Callable[[Fleet, Request], dict[str, Any] | bytes]
    Endpoint = Callable[[Request], Awaitable[Response]]

HEARTBEAT = 15.0
"""Seconds after which a stream says the version again, so that a browser knows that it is alive."""
MOST_POINTS = 5000
MOST_CURVES = 2000
MOST_RUNS = 40
"""Runs laid over each other in one page."""
MAKERS = 2
"""Runs of all pages together that are made ready at a time."""


class _RefusedError(Exception):
    """A request that cannot be answered; its text is the answer."""

    def __init__(self, why: str, status: int = 400) -> None:
        super().__init__(why)
        self.status = status


def application(
    fleet: Fleet,
    assets: Mapping[str, tuple[str, bytes]],
    *,
    hosts: Collection[str],
    token: str | None = None,
    by_address: bool = False,
) -> ASGIApp:
    """The dashboard as an ASGI application.

    Args:
        fleet: The runs.
        assets: Files of the front end by name: media type and bytes. ``index.html`` is the page.
        hosts: Names under which it may be asked for.
        token: What a browser must show; None for anybody.
        by_address: Whether it may be asked for by any address in numbers.
    """

    def asset(request: Request) -> Response:
        # Only names that the package holds are known, so no path of an address can lead anywhere.
        name = request.path_params.get("name", "index.html")
        if name not in assets:
            return PlainTextResponse(told("There is no such page."), 404)
        kind, content = assets[name]
        return Response(content, media_type=kind)

    def events(request: Request) -> Response:
        return StreamingResponse(_events(fleet, request), media_type="text/event-stream")

    shelf, makers = Shelf(), ThreadPoolExecutor(MAKERS, thread_name_prefix="holter-makes")

    async def page(request: Request) -> Response:
        try:
            first, jobs = await run_in_threadpool(_page, fleet, shelf, request)
        except _RefusedError as refused:
            return PlainTextResponse(str(refused), refused.status)
        return StreamingResponse(_as_made(first, jobs, makers), media_type=MEDIA_TYPE)

    language = spoken()

    def words(_fleet: Fleet, _request: Request) -> dict[str, Any]:
        return {"language": language, "languages": dict(LANGUAGES), "texts": texts({}, page="dashboard")}

    routes = [
        Route("/", asset),
        Route("/run/{id}", asset),
        Route("/overlay", asset),
        Route("/assets/{name}", asset),
        Route("/api/words", _answer(fleet, words)),
        Route("/api/runs", _answer(fleet, _runs)),
        Route("/api/page", page),
        Route("/api/runs/{id}/samples", _answer(fleet, _samples)),
        Route("/api/curves", _answer(fleet, _curves)),
        Route("/api/events", events),
    ]
    return Interpreter(Guard(Starlette(routes=routes), hosts=hosts, token=token, by_address=by_address))


def _answer(fleet: Fleet, compute: Compute) -> Endpoint:
    """An endpoint that computes in a thread, so that a large run does not hold up the others."""

    async def endpoint(request: Request) -> Response:
        try:
            found = await run_in_threadpool(compute, fleet, request)
        except _RefusedError as refused:
            return PlainTextResponse(str(refused), refused.status)
        if isinstance(found, bytes):
            return Response(found, media_type=MEDIA_TYPE)
        return Response(orjson.dumps(found, default=str), media_type="application/json")

    return endpoint


def _runs(fleet: Fleet, request: Request) -> dict[str, Any]:
    """Every run in a line; with ``?since=VERSION`` only the lines that changed since that answer."""
    since = _since(fleet, request.query_params.get("since", ""))
    stamp, entries = _stamp(fleet), fleet.entries()
    runs = [summary(e) for e in entries if e.since > since]
    return {
        "version": stamp,
        "root": fleet.root.name,
        "looked": fleet.looked,
        "ids": [e.id for e in entries],
        "runs": runs,
        "texts": texts([*(r["title"] for r in runs), *(r.why for r in fleet.refused)]),
        "refused": [{"file": r.file, "line": r.line, "why": r.why} for r in fleet.refused],
    }


def _page(fleet: Fleet, shelf: Shelf, request: Request) -> tuple[bytes, list[Callable[[], bytes]]]:
    """Some runs as the report's page shows them: ``?run=..&run=..&points=..&have=RUN:VERSION``.

    The first frame says which runs there are and how they do; the others are one a run that was read, made when they are called
    for: nothing of a run of which the browser has the newest version, and of one of which it has an older one what is new.
    """
    query = request.query_params
    ids = list(dict.fromkeys(query.getlist("run")))
    if not 0 < len(ids) <= MOST_RUNS:
        raise _RefusedError(told("Ask for one run or more, and for {n} at most.", n=MOST_RUNS))
    points, stamp = _points(query, MOST), _stamp(fleet)
    entries = [e for id in ids if (e := fleet.get(id)) is not None]
    if not entries:
        raise _unknown(fleet)
    have = dict(each.split(":", 1) for each in query.getlist("have") if ":" in each)
    page = payload([])
    first = {
        "version": stamp,
        "summaries": [summary(e) for e in entries],
        "samples": [e.run is not None and samples.has_samples(e.run) for e in entries],
        "page": {**page, "refused": [], "language": spoken(), "languages": dict(LANGUAGES)},
        "texts": texts(page),
    }
    return frame(first), [partial(_run, shelf, e, points, have.get(e.id)) for e in entries if e.run is not None]


def _run(shelf: Shelf, entry: Entry, points: int, have: str | None) -> bytes:
    """The frame of a run for a browser that has a version of it."""
    newest = shelf.newest(entry, points)
    if have == newest.version:
        return b""
    base = None if have is None else shelf.older(entry.id, points, have)
    return whole(newest) if base is None else changed(newest, base)


async def _as_made(first: bytes, jobs: Sequence[Callable[[], bytes]], makers: Executor) -> AsyncIterator[bytes]:
    """Frames in the order in which they are ready."""
    yield first
    loop = asyncio.get_running_loop()
    made = [loop.run_in_executor(makers, copy_context().run, job) for job in jobs]
    try:
        for each in asyncio.as_completed(made):
            if frame := await each:
                yield frame
    finally:
        # Who left does not wait for the others.
        for future in made:
            future.cancel()


def _curves(fleet: Fleet, request: Request) -> bytes:
    """Stretches of curves, thinned to their extremes: ``?run=..&run=..&key=..&key=..&along=..&from=..&to=..&points=..``.

    The ends are places on an axis of `holter.compare.curves`, and so are the ``steps`` of the answer. Curves of a run that does
    not count the axis are left out.
    """
    query = request.query_params
    first, last = _float(query.get("from"), -math.inf), _float(query.get("to"), math.inf)
    points = _points(query, 1000)
    runs, keys = query.getlist("run"), query.getlist("key")
    axis = query.get("along", "step")
    if axis not in AXES:
        raise _RefusedError(told("Curves lie along one of these: {axes}.", axes=", ".join(AXES)))
    if not runs or len(runs) * max(len(keys), 1) > MOST_CURVES:
        raise _RefusedError(told("Ask for one run or more, and for {n} curves at most.", n=MOST_CURVES))
    columns = Columns()
    curves = [
        {"run": id, "key": key, **_stretch(steps, values, points, columns)}
        for id in runs
        for key, steps, values in _asked(_read(fleet, id), keys, axis, first, last)
    ]
    return frame({"curves": curves}, columns)


def _asked(
    run: Run, keys: Sequence[str], axis: str, first: float, last: float
) -> Iterator[tuple[str, NDArray[np.float64], NDArray[np.float64]]]:
    """The stretches of curves from `first` to `last` and one value beyond at either end. Unknown names are keys too."""
    for key in keys or run.series:
        if (series := run.series.get(key)) is not None:
            steps, values = series.steps, series.values
        elif (unknown := run.unknown.get(key)) is not None:
            steps, values = run.steps[unknown.at], unknown.values
        else:
            continue
        if (places := placed(run, axis, steps)) is None:
            continue
        low = max(int(np.searchsorted(places, first)) - 1, 0)
        high = int(np.searchsorted(places, last, side="right")) + 1
        yield key, places[low:high], values[low:high]


def _stretch(steps: NDArray[np.float64], values: NDArray[np.float64], points: int, columns: Columns) -> dict[str, Any]:
    kept = thinned(values, points)
    at, medians = middles(values, points)
    return {
        "whole": len(kept) == len(values),
        "steps": columns.put(steps[kept]),
        "values": columns.put(values[kept]),
        "middle": {"steps": columns.put(steps[at]), "values": columns.put(medians)} if len(at) else None,
    }


def _points(query: QueryParams, default: int) -> int:
    return max(2, int(min(_float(query.get("points"), default), MOST_POINTS)))


def _samples(fleet: Fleet, request: Request) -> dict[str, Any]:
    query = request.query_params
    group = query.get("group")
    found = samples.page(
        _read(fleet, request.path_params["id"]),
        samples.Wanted(
            first=_float(query.get("from"), -math.inf),
            last=_float(query.get("to"), math.inf),
            group=_float(group, math.nan) if group else None,
            least=_float(query.get("least"), -math.inf),
            most=_float(query.get("most"), math.inf),
            text=query.get("text", ""),
        ),
        begin=int(_float(query.get("begin"), 0)),
        size=int(_float(query.get("size"), 50)),
    )
    rows = [
        {
            "step": finite(s.step),
            "prompt": s.prompt,
            "completion": s.completion,
            "numbers": {k: None if v is None else finite(v) for k, v in s.numbers.items()},
        }
        for s in found.samples
    ]
    return {"rows": rows, "next": found.next}


async def _events(fleet: Fleet, request: Request) -> AsyncIterator[bytes]:
    """Server-sent events: the version whenever something changed. The page then asks for what it shows."""
    changed, loop = asyncio.Event(), asyncio.get_running_loop()

    def _tell() -> None:
        with contextlib.suppress(RuntimeError):  # the loop ended before the fleet did
            loop.call_soon_threadsafe(changed.set)

    stop = fleet.listen(_tell)
    try:
        yield f"event: version\ndata: {_stamp(fleet)}\n\n".encode()
        while not fleet.closed and not await request.is_disconnected():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), HEARTBEAT)
            changed.clear()
            yield f"event: version\ndata: {_stamp(fleet)}\n\n".encode()
    finally:
        stop()


def _read(fleet: Fleet, id: str) -> Run:
    """A run that was read.

    Raises:
        _RefusedError: When there is none of this name, or it was not read yet.
    """
    entry = fleet.get(id)
    if entry is None:
        raise _unknown(fleet)
    if entry.run is None:
        raise _RefusedError(told("The run is being read for the first time."), 503)
    return entry.run


def _unknown(fleet: Fleet) -> _RefusedError:
    """Why there is no run of some name: so far, where the folder was not looked through yet."""
    if fleet.looked:
        return _RefusedError(told("There is no such run."), 404)
    return _RefusedError(told("The folder is being read for the first time."), 503)


def _stamp(fleet: Fleet) -> str:
    """A fleet's version as browsers know it: that of no other fleet."""
    return f"{fleet.mark}.{fleet.version}"


def _since(fleet: Fleet, stamp: str) -> int:
    """The version of a stamp; -1 for one of another fleet, of whose versions nothing is known."""
    mark, _, version = stamp.partition(".")
    return int(version) if mark == fleet.mark and version.isdecimal() else -1


def _float(asked: str | None, default: float) -> float:
    """A number of the address.

    Raises:
        _RefusedError: When it is none.
    """
    if not asked:
        return default
    try:
        value = float(asked)
    except ValueError:
        raise _RefusedError(told("A number was expected in the address.")) from None
    if math.isnan(value):
        raise _RefusedError(told("A number was expected in the address."))
    return value
