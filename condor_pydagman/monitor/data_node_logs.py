"""The logs of DATA nodes: where they are, and what nodes that run wait for."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from itertools import islice

from condor_pydagman.data_requests.work_order import file_stem
from condor_pydagman.errors import PydagmanError
from condor_pydagman.follow.notices.data_waits import wait_of
from condor_pydagman.follow.notices.facts import DataWait
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.graph.model import Dag
from condor_pydagman.monitor.file_facts import shown
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.found_state import tail_of
from condor_pydagman.vocabulary import NodeKind

MAX_LOOKED_AT = 2000  # nodes with jobs in the queue
MAX_LOGS = 20  # that are read at a look
TAIL_BYTES = 8192  # of each
_STAMP = "%m/%d/%y %H:%M:%S"


def output_of_worker(found: FoundDag, dag: Dag, node: int) -> str:
    """What the worker of a DATA node, or of a FINAL node, has printed; '' if it has none."""
    if dag.kinds[node] not in (NodeKind.DATA, NodeKind.FINAL):
        return ""
    directory = os.path.join(found.directory, found.paths.placements)
    path = os.path.join(directory, file_stem(dag.names[node]) + ".out")
    return path if os.path.exists(path) else ""


def data_waits(found: FoundDag, dag: Dag | None, runs: Iterable[NodeRun]) -> list[DataWait]:
    """What DATA nodes of a DAG wait for, of these that have jobs in the queue: of the first few
    that run."""
    if dag is None or not os.path.isdir(os.path.join(found.directory, found.paths.placements)):
        return []
    running = _running(dag, islice(runs, MAX_LOOKED_AT))
    waits = (_wait(found, dag, run, node) for run, node in islice(running, MAX_LOGS))
    return [wait for wait in waits if wait is not None]


def _running(dag: Dag, runs: Iterable[NodeRun]) -> Iterator[tuple[NodeRun, int]]:
    for run in runs:
        node = dag.find(run.name) if run.attempts and run.attempts[-1].running else None
        if node is not None and dag.kinds[node] == NodeKind.DATA:
            yield run, node


def _wait(found: FoundDag, dag: Dag, run: NodeRun, node: int) -> DataWait | None:
    path = output_of_worker(found, dag, node)
    lines = _lines(path, int(run.attempts[-1].started))
    return wait_of(run.name, shown(path), lines) if path else None


def _lines(path: str, since: int) -> Iterator[tuple[float, str]]:
    """Lines at the end of a worker's log, without those of workers before."""
    try:
        text = tail_of(path, TAIL_BYTES)[0].decode("utf-8", "surrogateescape")
    except PydagmanError:
        return
    for line in text.splitlines():
        stamp, text = line[:17], line[18:]
        try:
            when = time.mktime(time.strptime(stamp, _STAMP))
        except ValueError:
            continue
        if when >= since:
            yield when, text
