"""What limits that DAGs share cost: python -m benchmarks.limits

1. A round in the directory: processor time with the files of so many DAGMans in it.
2. Many DAGs share a limit of jobs.  Each is a process with the real engine and the real process
   that asks for places; jobs are timers.  DAGs have layers of different width, one after another,
   so what they want changes all the time.  Lost is what is free though some DAG has a node for it,
   of the limit, in the second half of the run.
3. The engine alone, with and without a limit that leaves room for all.

Prints a table; figures are of one run on one machine.
"""

from __future__ import annotations

import argparse
import heapq
import mmap
import os
import random
import resource
import select
import struct
import sys
import tempfile
import time
from collections.abc import Sequence
from typing import Any

from condor_pydagman.adapters.helper_process import HelperProcess
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.node_states import IN_QUEUE, State
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.shared_limits.commands import LimitsOfDag, LimitUse
from condor_pydagman.features.shared_limits.definitions import Kind, Limit
from condor_pydagman.features.shared_limits.directory import (
    LimitsDirectory,
    OwnFile,
    file_name,
    make_round,
    open_directory,
)
from condor_pydagman.features.shared_limits.fair_shares import Demand, Grant
from condor_pydagman.features.shared_limits.helper import LimitHelper, Shared
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims
from condor_pydagman.features.shared_limits.messages import HELPER, PlacesGiven
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import EventKind
from tests import make

JOB_S = (2.0, 18.0)  # shortest and longest job
WIDTHS = (5, 15, 40, 60)  # nodes of a layer
SAMPLE_S = 0.02
ROUNDS = 100
KINDS = 10  # different DAGs; each is run by several DAGMans
_CELL = struct.Struct("iiii")  # in the queue, wanted, requests, nodes that have ended


def layered(rng: random.Random, nodes: int) -> Dag:
    """A DAG of layers, each of which waits for all of the one before."""
    layers, count = [], 0
    while count < nodes:
        width = rng.choice(WIDTHS)
        layers.append(" ".join(f"N{n}" for n in range(count, count + width)))
        count += width
    dag = make.dag(" -> ".join(layers))
    LimitsOfDag.put(dag).uses.append(LimitUse("many"))
    return dag


class Player:
    """A DAG in a process of its own; `cells` are seen by the process that measures."""

    def __init__(
        self, number: int, dag: Dag, place: str, most: int, cells: mmap.mmap, until: float
    ) -> None:
        self.rng = random.Random(number)
        self.number, self.cells, self.until = number, cells, until
        self.dag = dag
        self.engine = Engine(self.dag, make.QUIET, Throttles())
        self.epoll = select.epoll()
        self.ends: list[tuple[float, int]] = []
        self.inbox: list[inputs.Input] = []
        self.cluster = self.requests = 0
        own = OwnFile(file_name("here", number), lambda: open_directory(place, print))
        limits = {"many": Limit("many", {Kind.JOBS: most})}

        def share() -> Shared:  # in the process that makes rounds
            directory = open_directory(place, print)
            seen = LimitsDirectory(directory, "here", own.name, lambda asked: {})
            return Shared(lambda _: seen, lambda: (limits, []), f"{number}.dag", {})

        helper = LimitHelper({False: own}, (), share, print)
        self.process = HelperProcess(helper, self.epoll, time.monotonic, print)

    def play(self) -> None:
        """Run until the time is up."""
        self._handle(inputs.Begin(False))
        while time.monotonic() < self.until:
            now = time.monotonic()
            while self.ends and self.ends[0][0] <= now:
                self._handle(make.terminated(heapq.heappop(self.ends)[1]))
            deadline = self.engine.next_deadline()
            if deadline is not None and deadline <= now:
                self._handle(inputs.Wake())
                deadline = self.engine.next_deadline()
            times = [self.until, self.process.next_deadline() or self.until]
            times += [self.ends[0][0]] if self.ends else []
            times += [deadline] if deadline is not None else []
            self.epoll.poll(max(0.0, min(times) - time.monotonic()))
            for then, result in self.process.results():
                then(result)
            while self.inbox:
                self._handle(self.inbox.pop(0))
        self.process.end()

    def _handle(self, what: inputs.Input) -> None:
        todo = [what]
        while todo:
            for action in self.engine.handle(todo.pop(0), time.monotonic()):
                if isinstance(action, do.SubmitNode):
                    todo += self._submitted(action)
                elif isinstance(action, do.Ask):
                    self.requests += 1
                    self.process.ask(action.request, self._answer)
        counts = self.engine.run.nodes.counts
        queued = sum(counts[state] for state in IN_QUEUE)
        cell = (queued, queued + counts[State.READY], self.requests, counts[State.DONE])
        _CELL.pack_into(self.cells, self.number * _CELL.size, *cell)

    def _submitted(self, action: do.SubmitNode) -> list[inputs.Input]:
        self.cluster += 1
        heapq.heappush(self.ends, (time.monotonic() + self.rng.uniform(*JOB_S), self.cluster))
        return [
            inputs.Submitted(action.node, self.cluster, 1),
            make.submit(self.dag.names[action.node], self.cluster),
            make.of_job(EventKind.EXECUTE, self.cluster),
        ]

    def _answer(self, reply: Any) -> None:
        self.inbox.append(inputs.Answered(HELPER, reply))


def share(dags: int, most: int, seconds: float) -> tuple[float, int, float, float, float]:
    """What was lost, the most jobs at a time, rounds and nodes a second, processors used."""
    cells = mmap.mmap(-1, dags * _CELL.size)
    pids = []
    kinds = [layered(random.Random(number), 2000) for number in range(min(dags, KINDS))]
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o1777)  # as the directory that users share
        until = time.monotonic() + seconds
        for number in range(dags):
            pid = os.fork()
            if pid == 0:
                try:
                    Player(number, kinds[number % KINDS], place, most, cells, until).play()
                finally:
                    os._exit(0)
            pids.append(pid)
        lost, peak = _measure(cells, dags, most, until, seconds)
        for pid in pids:
            os.waitpid(pid, 0)
    rows = [_CELL.unpack_from(cells, number * _CELL.size) for number in range(dags)]
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    rounds, nodes = (sum(row[column] for row in rows) / seconds for column in (2, 3))
    return lost, peak, rounds, nodes, (used.ru_utime + used.ru_stime) / seconds


def _measure(
    cells: mmap.mmap, dags: int, most: int, until: float, seconds: float
) -> tuple[float, int]:
    lost = could = 0
    peak = 0
    while time.monotonic() < until:
        time.sleep(SAMPLE_S)
        # All at once: a place may go from one DAG to another while their cells are read in turn.
        rows = list(_CELL.iter_unpack(cells[: dags * _CELL.size]))
        queued, wanted = sum(row[0] for row in rows), sum(row[1] for row in rows)
        peak = max(peak, queued)
        if time.monotonic() > until - 0.5 * seconds:
            lost += max(0, min(most, wanted) - queued)
            could += min(most, wanted)
    return lost / could, peak


def round_s(dagmans: int) -> float:
    """Processor seconds that a round takes, on average."""
    limits = {"many": Limit("many", {Kind.JOBS: 10 * dagmans})}
    with tempfile.TemporaryDirectory() as place:
        os.chmod(place, 0o1777)
        opened = lambda: open_directory(place, print)  # noqa: E731
        files = [OwnFile(file_name("x", n), opened) for n in range(dagmans)]
        for file in reversed(files):
            file.keep()
            seen = LimitsDirectory(open_directory(place, print), "x", file.name, lambda asked: {})
            claims, wanted = LimitClaims("d", file.name, {}), [Demand(("many",), nodes=20)]
            make_round([seen], claims, limits, wanted)
            if file is not files[0]:
                seen.close()
        begun = time.process_time()
        for number in range(ROUNDS):
            used = (number % 10, 0, 0, 0)
            wanted = [Demand(("many",), used, used, 20)]
            make_round([seen], LimitClaims("d", "0", {}), limits, wanted)
        taken = (time.process_time() - begun) / ROUNDS
        seen.close()
        for file in files:
            file.close()
    return taken


def engine_s(nodes: int, *, limited: bool) -> float:
    """Processor seconds of an engine whose jobs end at once."""
    dag = make.dag("; ".join(f"N{n}" for n in range(nodes)))
    if limited:
        LimitsOfDag.put(dag).uses.append(LimitUse("many"))
    engine = Engine(dag, make.QUIET, Throttles())
    begun, cluster = time.process_time(), 0
    todo: list[inputs.Input] = [inputs.Begin(False)]
    while todo:
        fresh: list[inputs.Input] = []
        for one in todo:
            for action in engine.handle(one, cluster * 0.001):
                if isinstance(action, do.SubmitNode):
                    cluster += 1
                    fresh += [
                        inputs.Submitted(action.node, cluster, 1),
                        make.submit(dag.names[action.node], cluster),
                        make.terminated(cluster),
                    ]
                elif isinstance(action, do.Ask):
                    places = PlacesGiven([Grant((1000, -1, -1, -1), -1)])
                    fresh.append(inputs.Answered(HELPER, places))
        todo = fresh
    assert engine.report().done == nodes
    return time.process_time() - begun


def main(argv: Sequence[str] | None = None) -> int:
    """Print the figures."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.limits")
    parser.add_argument("--dags", type=int, default=100)
    parser.add_argument("--most", type=int, default=1000, help="jobs that they share")
    parser.add_argument("--seconds", type=float, default=100.0)
    options = parser.parse_args(argv)
    _, files = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(files, 10_000), files))
    for dagmans in (10, 100, 400):
        print(f"a round among {dagmans} DAGMans: {round_s(dagmans) * 1e3:.1f} ms of a processor")
    lost, peak, rounds, nodes, cpus = share(options.dags, options.most, options.seconds)
    print(f"{options.dags} DAGs share {options.most} jobs, {options.seconds:.0f} s:")
    print(f"  lost {100 * lost:.2f} %, {peak} jobs at a time at most, {nodes:.0f} nodes a second,")
    print(f"  {rounds:.0f} rounds a second, {cpus:.2f} processors for all of it")
    plain, limited = (engine_s(50_000, limited=limited) for limited in (False, True))
    print(f"engine, 50,000 nodes: {plain:.2f} s; under a shared limit {limited:.2f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())
