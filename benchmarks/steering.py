"""What it costs a DAGMan to be watched on pages, and how fast many nodes are steered.

    .venv/bin/python -m benchmarks.steering [--jobs N] [--nodes N] [--pages N] [--rounds N]

A pool of its own is started.  A page is a client that takes in what a browser does when it opens a
DAG, and then its stream of changes.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks import dags, events
from benchmarks.place import Place, started_place
from benchmarks.subjects import OURS

PROGRAM = [sys.executable, "-m", "condor_pydagman.cli.pydagman"]
TIMEOUT_S = 600.0
CHAIN = 40  # nodes one after another, whose pace is looked at while others are steered


class Page(threading.Thread):
    """Somebody looks at a DAG."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        parts = urlsplit(url)
        self._host = f"{parts.hostname}:{parts.port}"
        first = http.client.HTTPConnection(self._host)
        first.request("GET", f"/?{parts.query}")
        self._cookie = (first.getresponse().getheader("Set-Cookie") or "").partition(";")[0]
        self.bytes = 0

    def get(self, path: str) -> bytes:
        """The answer to a request."""
        return self._response(path).read()

    def dag(self) -> str:
        """The path of the first DAG in the list."""
        return f"/api/dags/{json.loads(self.get('/api/dags'))['dags'][0]['id']}"

    def _response(self, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection(self._host, timeout=TIMEOUT_S)
        connection.request("GET", path, headers={"Cookie": self._cookie})
        return connection.getresponse()

    def run(self) -> None:
        """Take in the DAG, then what changes, to the end."""
        dag = self.dag()
        for what in ("", "/picture", "/states", "/nodes"):
            self.bytes += len(self.get(dag + what))
        stream = self._response(f"{dag}/live?since=0")
        with contextlib.suppress(OSError, http.client.HTTPException):
            while data := stream.read1(65536):
                self.bytes += len(data)


@contextlib.contextmanager
def web(place: Place, directory: Path) -> Iterator[tuple[str, int]]:
    """The server of the page: the address that it prints, and its process id."""
    server = _started(place, directory, "web", "--no-browser", dags.NAME)
    assert server.stdout is not None
    try:
        yield server.stdout.readline().strip(), server.pid
    finally:
        server.send_signal(signal.SIGTERM)
        server.communicate(timeout=30)


def _started(place: Place, directory: Path, *words: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        place.pool.command([*PROGRAM, *words]),
        env={**place.environment(), "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
        cwd=directory,
        stdout=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def watchers(place: Place, directory: Path, pages: int) -> Iterator[None]:
    """So many pages, and a stream of events."""
    if not pages:
        yield
        return
    with web(place, directory) as (url, _):
        for _ in range(pages):
            Page(url).start()
        stream = subprocess.Popen(
            place.pool.command([*PROGRAM, "events", "--follow", dags.NAME]),
            env={**place.environment(), "PYTHONPATH": str(Path(__file__).resolve().parents[1])},
            cwd=directory,
            stdout=subprocess.DEVNULL,
        )
        try:
            yield
        finally:
            stream.terminate()
            stream.wait()


def watched(place: Place, jobs: int, pages: int) -> tuple[float, float]:
    """Events a second in the nodes log of a bag of jobs, and DAGMan's CPU for one in microseconds.

    A held job keeps them waiting until all who watch are there.
    """
    directory = place.new_directory(f"pages-{pages}")
    bag = dags.bag(jobs, dags.NOOP)
    nodes = {**bag.nodes, "G": "gate"}
    kinds = {**bag.jobs, "gate": dags.NOOP + "hold = true\n"}
    dags.Workload(kinds, nodes, [(["G"], list(bag.nodes))]).write(directory)
    place.submit([directory], OURS)
    place.wait_events(directory / f"{dags.NAME}.nodes.log", events.SUBMIT, 1, TIMEOUT_S)
    pid = place.dagman_pid(directory)
    with watchers(place, directory, pages):
        time.sleep(8 if pages else 1)
        before = cpu = _cpu_s(pid)
        place.run("condor_release", "-all")
        with contextlib.suppress(OSError):
            while True:
                cpu = _cpu_s(pid)
                time.sleep(0.05)
        place.wait_end(directory, TIMEOUT_S)
    found = events.read(directory / f"{dags.NAME}.nodes.log")[1:]
    seconds = found[-1].time - found[0].time
    return len(found) / seconds, (cpu - before) / len(found) * 1e6


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    if fields[0] in "ZX":
        raise ProcessLookupError
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def steered(place: Place, nodes: int) -> tuple[float, float, float]:
    """Seconds of a request that skips many nodes; the longest and the median time from the end of a
    node to its child's submission in a chain that runs meanwhile."""
    directory = place.new_directory("steered")
    chain = dags.chain(CHAIN)
    names = {f"S{number}": "held" for number in range(nodes)}
    work = dags.Workload(
        {**chain.jobs, "held": dags.HELD},
        {**chain.nodes, "H": "held", **names},
        [*chain.edges, (["H"], list(names))],
    )
    work.write(directory)
    place.submit([directory], OURS)
    log = directory / f"{dags.NAME}.nodes.log"
    place.wait_events(log, events.TERMINATED, 5, TIMEOUT_S)
    begun = time.monotonic()
    words = ["steer", "skip", dags.NAME, "--pattern", "S*"]
    said, _ = _started(place, directory, *words).communicate(timeout=TIMEOUT_S)
    seconds = time.monotonic() - begun
    assert f"{nodes} nodes skipped" in said, said
    place.wait_events(log, events.TERMINATED, CHAIN, TIMEOUT_S)
    _started(place, directory, "steer", "cancel", dags.NAME, "H").communicate(timeout=TIMEOUT_S)
    place.wait_end(directory, TIMEOUT_S)
    found = events.read(log)
    ends, starts = events.times(found, events.TERMINATED), events.times(found, events.SUBMIT)
    gaps = [
        min(start for start in starts if start >= end) - end
        for end in ends[: CHAIN - 1]
        if end < starts[-1]
    ]
    return seconds, max(gaps), statistics.median(gaps)


def first_picture(place: Place, nodes: int) -> tuple[float, float, float]:
    """Seconds to the first picture of a large DAG, and to the second; MB of the server."""
    directory = place.new_directory("picture")
    work = dags.fan(nodes)
    dags.Workload(dict.fromkeys(work.jobs, dags.HELD), work.nodes, work.edges).write(directory)
    place.submit([directory], OURS)
    place.dagman_pid(directory)
    with web(place, directory) as (url, pid):
        page = Page(url)
        dag = page.dag()
        page.get(dag)
        times = []
        for _ in range(2):
            begun = time.monotonic()
            page.get(f"{dag}/picture")
            times.append(time.monotonic() - begun)
        memory = _memory_mb(pid)
    place.remove_all()
    return times[0], times[1], memory


def _memory_mb(pid: int) -> float:
    """Of the process, or of the one that its wrapper has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    own = Path(f"/proc/{pid}/status").read_text()
    mine = float(own.partition("VmHWM:")[2].split()[0]) / 1024
    return max([mine, *(_memory_mb(int(child)) for child in children)])


def main() -> None:
    """Print a table, as docs/performance.md has it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2000)
    parser.add_argument("--nodes", type=int, default=10_000)
    parser.add_argument("--pages", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    with started_place() as place:
        for line in rows(place, arguments):
            print(line, flush=True)


def rows(place: Place, arguments: argparse.Namespace) -> Iterator[str]:
    """The rows of the table."""
    yield "| what | figure |\n|---|---:|"
    alone, seen = [], []
    for _ in range(arguments.rounds):
        alone.append(watched(place, arguments.jobs, 0))
        seen.append(watched(place, arguments.jobs, arguments.pages))
    for name, found in (("nobody watches", alone), (f"{arguments.pages} pages, a stream", seen)):
        rate, cpu = (statistics.median(values) for values in zip(*found))
        yield f"| {arguments.jobs} jobs, {name}: events a second | {rate:.0f} |"
        yield f"| {arguments.jobs} jobs, {name}: CPU of DAGMan for an event | {cpu:.0f} µs |"
    seconds, longest, usual = steered(place, arguments.nodes)
    yield f"| {arguments.nodes} nodes skipped by one request | {seconds:.2f} s |"
    yield f"| end of a node to its child's submission meanwhile: longest | {longest * 1e3:.0f} ms |"
    yield f"| the same: median | {usual * 1e3:.0f} ms |"
    first, second, memory = first_picture(place, 10 * arguments.nodes)
    yield f"| first picture of {10 * arguments.nodes} nodes | {first:.2f} s |"
    yield f"| second picture | {second:.2f} s |"
    yield f"| memory of the page's server | {memory:.0f} MB |"


if __name__ == "__main__":
    main()
