"""How soon a browser has painted many charts of many runs: the dashboard's overlay, and plotly over the same numbers.

python benchmarks/dashboard_painting.py [RUNS] [SIGNALS] [STEPS] [TURNS]

Both pages get the same answer of the same server, thinned to the same values, and draw every chart at once: the window is tall
enough for all of them and everything that is folded is opened. They take turns. Chromium by Playwright, plotly from
``npm install`` in ``web/``.
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
from holter.dashboard.fleet import Entry
from holter.dashboard.server import application
from holter.monitor.pulse import Pulse
from holter.runs.build import run_of

PLOTLY = Path(__file__).parents[1] / "web" / "node_modules" / "plotly.js-dist-min" / "plotly.min.js"
PEER = (
    """<!doctype html><meta charset="utf-8"><body><script src="/plotly.js"></script><script src="/peer.js"></script>"""
)
PEER_SCRIPT = """
const bytes = (text) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
function decode(c) {
  if (c.f64 !== undefined) return new Float64Array(bytes(c.f64));
  if (c.f32 !== undefined) return Float64Array.from(new Float32Array(bytes(c.f32)));
  const d = c.u8 !== undefined ? new Uint8Array(bytes(c.u8)) : c.u16 !== undefined ? new Uint16Array(bytes(c.u16))
    : c.u32 !== undefined ? new Uint32Array(bytes(c.u32)) : null;
  const out = new Float64Array(c.n);
  for (let i = 0, v = c.start; i < c.n; i++) { out[i] = d ? v : c.start + i * c.by; v += d ? d[i] ?? 0 : 0; }
  return out;
}
(async () => {
  const { page } = await (await fetch('/api/page' + location.search)).json();
  const charts = new Map();
  for (const run of page.runs) for (const s of run.series) {
    if (!charts.has(s.key)) charts.set(s.key, []);
    const [x, y] = [decode(run.axes[s.axis]), decode(s.values)];
    charts.get(s.key).push({ x, y, type: 'scatter', mode: 'lines', line: { width: 1 } });
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
    if (document.querySelectorAll('.strip canvas').length >= charts)
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
    print(f"{runs} runs x {signals} signals x {steps:,} steps; server and data: ", end="")
    print(f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB")
    print(f"first answer: {time.perf_counter() - began:.2f} s, {len(answer.content) / 1e6:.1f} MB")
    found = {"Holter": [], "plotly": []}
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        for _ in range(turns):
            for name, path in (("Holter", f"/overlay{query}"), ("plotly", f"/peer{query}")):
                page = browser.new_page(viewport={"width": 1280, "height": 200 * signals})
                page.goto(address + path, wait_until="commit")
                painted = page.evaluate(WATCH, signals)
                found[name].append((painted - page.evaluate(ARRIVED), painted, page.evaluate(HEAP)))
                page.close()
        browser.close()
    server.should_exit = True
    print(
        f"| {signals} charts x {runs} runs | data to paint, ms | slowest of {turns} | address to paint, ms | heap, MB |"
    )
    print("|---|---:|---:|---:|---:|")
    for name, rows in found.items():
        paint, whole, heap = (list(c) for c in zip(*rows, strict=True))
        middle = statistics.median
        print(f"| {name} | {middle(paint):.0f} | {max(paint):.0f} | {middle(whole):.0f} | {middle(heap):.0f} |")


if __name__ == "__main__":
    main()
