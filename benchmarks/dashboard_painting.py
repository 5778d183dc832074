"""How soon a browser has painted many charts of many runs: the dashboard's overlay, and plotly over the same numbers.

python benchmarks/dashboard_painting.py [RUNS] [SIGNALS] [STEPS] [TURNS]

Both pages get the same answer of the same server, thinned to the same values, and draw every chart at once: the window is tall
enough for all of them and everything that is folded is opened. They take turns. Times are of the wall; beside them stands how
long the page's own thread worked, which a busy machine changes less. The server made its answer before, which took as long as
is printed first. Chromium by Playwright, plotly from ``npm install`` in ``web/``.
"""

import resource
import shutil
import socket
import statistics
import sys
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path

import httpx2 as httpx
import numpy as np
import uvicorn
from playwright.sync_api import sync_playwright
from starlette.applications import Starlette
from starlette.responses import FileResponse, HTMLResponse, Response
from starlette.routing import Mount, Route

from holter.dashboard.assets import assets
from holter.dashboard.entry import Entry
from holter.dashboard.server import application
from holter.monitor.pulse import Pulse
from holter.runs.build import run_of

PLOTLY = Path(__file__).parents[1] / "web" / "node_modules" / "plotly.js-dist-min" / "plotly.min.js"
PEER = (
    """<!doctype html><meta charset="utf-8"><body><script src="/plotly.js"></script><script src="/peer.js"></script>"""
)
PEER_SCRIPT = """
function decode(c, behind) {
  const at = (place, size, n = c.n) => behind.slice(place, place + size * n);
  if (c.f64 !== undefined) return new Float64Array(at(c.f64, 8));
  if (c.f32 !== undefined) return new Float64Array(new Float32Array(at(c.f32, 4)));
  const n = c.n - 1;
  const d = c.u8 !== undefined ? new Uint8Array(at(c.u8, 1, n)) : c.u16 !== undefined ? new Uint16Array(at(c.u16, 2, n))
    : c.u32 !== undefined ? new Uint32Array(at(c.u32, 4, n)) : null;
  const out = new Float64Array(c.n);
  for (let i = 0, v = c.start; i < c.n; i++) { out[i] = d ? v : c.start + i * c.by; v += d ? d[i] ?? 0 : 0; }
  return out;
}
(async () => {
  const answer = await (await fetch('/api/page' + location.search)).arrayBuffer();
  const charts = new Map();
  for (let at = 0; at < answer.byteLength;) {
    const [told, size] = new Uint32Array(answer.slice(at, at + 8));
    const { run, columns } = JSON.parse(new TextDecoder().decode(answer.slice(at + 8, at + 8 + told)));
    const numbers = columns.map((c) => decode(c, answer.slice(at + 8 + told, at + 8 + told + size)));
    at += 8 + told + size;
    for (const s of run?.series ?? []) {
      if (!charts.has(s.key)) charts.set(s.key, []);
      const [x, y] = [numbers[run.axes[s.axis]], numbers[s.values]];
      charts.get(s.key).push({ x, y, type: 'scatter', mode: 'lines', line: { width: 1 } });
    }
  }
  const all = [];
  for (const [key, traces] of charts) {
    const div = document.body.appendChild(document.createElement('div'));
    const margin = { l: 50, r: 10, t: 5, b: 20 };
    const layout = { width: 900, height: 116, showlegend: false, margin };
    all.push(Plotly.newPlot(div, traces, layout, { displayModeBar: false }));
  }
  await Promise.all(all);
  requestAnimationFrame(() => setTimeout(() => { window.painted = performance.now(); }));
})();
"""
WATCH = """(charts) => new Promise((done) => {
  const look = () => {
    for (const d of document.querySelectorAll('details.closed:not([open])')) d.open = true;
    if (window.painted) return done(window.painted);
    if (!document.querySelector('[aria-busy]') && document.querySelectorAll('.strip canvas').length >= charts)
      return requestAnimationFrame(() => setTimeout(() => done(performance.now())));
    requestAnimationFrame(look);
  };
  look();
})"""
ARRIVED = "performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/page'))[0].responseEnd"
HEAP = "performance.memory.usedJSHeapSize / 1e6"


@dataclass
class Made:
    """Runs that are there, where a fleet would look for them."""

    runs: dict

    closed = False
    looked = True
    mark = "made"
    version = 1
    refused = ()

    def __post_init__(self):
        self.known = {
            id: Entry(id=id, name=run.name, run=run, diagnosis=None, pulse=Pulse(), version=1)
            for id, run in self.runs.items()
        }

    def entries(self):
        """Every run."""
        return list(self.known.values())

    def get(self, id):
        """One run."""
        return self.known.get(id)

    def listen(self, _):
        """Nothing ever changes here."""
        return lambda: None


def made(runs, signals, steps):
    """Random walks with noise, each step logged."""
    random = np.random.default_rng(0)
    names = [f"rewards/f{k}/mean" for k in range(signals)]
    small = run_of([1.0], {name: [0.0] for name in names})
    at, axis = np.arange(steps), np.arange(1.0, steps + 1)
    out = {}
    for i in range(runs):
        series = {}
        for name in names:
            values = np.cumsum(random.normal(0, 0.01, steps)) + random.normal(0, 0.3, steps)
            series[name] = replace(small.series[name], at=at, steps=axis, values=values)
        out[f"{i:012x}"] = replace(small, name=f"run-{i:02d}", steps=axis, series=series)
    return out


def served(fleet):
    bound = socket.create_server(("127.0.0.1", 0))
    routes = [
        Route("/peer", lambda _: HTMLResponse(PEER)),
        Route("/plotly.js", lambda _: FileResponse(PLOTLY, media_type="text/javascript")),
        Route("/peer.js", lambda _: Response(PEER_SCRIPT, media_type="text/javascript")),
        Mount("/", app=application(fleet, assets(), hosts={"127.0.0.1"})),
    ]
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error", timeout_graceful_shutdown=1))
    threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True).start()
    return f"http://127.0.0.1:{bound.getsockname()[1]}", server


def main():
    runs, signals, steps, turns = ([int(a) for a in sys.argv[1:]] + [20, 60, 100_000, 5][len(sys.argv) - 1 :])[:4]
    fleet = Made(made(runs, signals, steps))
    address, server = served(fleet)
    query = "?" + "&".join(f"run={id}" for id in fleet.known) + "&points=600"
    began = time.perf_counter()
    answer = httpx.get(f"{address}/api/page{query}", timeout=120)
    taken = time.perf_counter() - began
    print(f"{runs} runs x {signals} signals x {steps:,} steps; server and data: ", end="")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    began = time.perf_counter()
    httpx.get(f"{address}/api/page{query}", timeout=120)
    again = time.perf_counter() - began
    print(f"first answer: {taken:.2f} s, {len(answer.content) / 1e6:.1f} MB; asked again: {again:.2f} s")
    found = {"Holter": [], "plotly": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(turns):
            for name, path in (("Holter", f"/overlay{query}"), ("plotly", f"/peer{query}")):
                page = browser.new_page(viewport={"width": 1280, "height": 200 * signals})
                session = page.context.new_cdp_session(page)
                session.send("Performance.enable", {"timeDomain": "threadTicks"})
                page.goto(address + path, wait_until="commit")
                painted = page.evaluate(WATCH, signals)
                counted = {m["name"]: m["value"] for m in session.send("Performance.getMetrics")["metrics"]}
                busy = 1000 * counted["TaskDuration"]
                found[name].append((painted - page.evaluate(ARRIVED), painted, busy, page.evaluate(HEAP)))
                page.close()
        browser.close()
    server.should_exit = True
    heads = ("data to paint, ms", "address to paint, ms", f"slowest of {turns}", "page's thread, ms", "heap, MB")
    print(f"| {signals} charts x {runs} runs | {' | '.join(heads)} |")
    print(f"|---|{'---:|' * len(heads)}")
    for name, rows in found.items():
        paint, whole, busy, heap = (list(c) for c in zip(*rows, strict=True))
        told = (statistics.median(paint), statistics.median(whole), max(whole), *map(statistics.median, (busy, heap)))
        print(f"| {name} | {' | '.join(f'{each:.0f}' for each in told)} |")


if __name__ == "__main__":
    main()
