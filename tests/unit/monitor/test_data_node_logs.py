"""What DATA nodes that run wait for, read from the logs of their workers."""

from __future__ import annotations

import time
from pathlib import Path

from condor_pydagman.follow.notices.facts import DataWait
from condor_pydagman.follow.run_model import Attempt, NodeRun
from condor_pydagman.monitor.data_node_logs import data_waits
from condor_pydagman.monitor.found_dag import find_dag
from tests.make import dag

STARTED = time.mktime((2026, 11, 27, 10, 0, 0, 0, 0, -1))
TEXT = """\
11/27/26 09:59:59 waits for what the worker before waited for
no stamp at all
11/27/26 10:00:07 waits for 1.0 GB of scratch: 2.0 MB are free
"""


def running(name: str) -> NodeRun:
    run, attempt = NodeRun(name), Attempt(0)
    attempt.running, attempt.started = 1, STARTED + 0.5
    run.attempts = [attempt]
    return run


def test_what_the_workers_of_nodes_that_run_say(work_directory: Path) -> None:
    text = "DATA in in.dap\nDATA idle in.dap\nDATA done in.dap\nJOB a a.sub\n"
    Path("t.dag").write_text(text)
    found, graph = find_dag("t.dag", ask=False), dag(text)
    runs = [running("in"), NodeRun("idle"), running("done"), running("a")]
    assert data_waits(found, graph, runs) == [], "no worker has begun"
    logs = Path(found.paths.placements)
    logs.mkdir()
    for name in ("in", "idle", "a"):
        (logs / f"{name}.out").write_text(TEXT)
    (logs / "done.out").write_text(f"{TEXT}11/27/26 10:00:09 1 placement done; 9 s\n")
    what = "1.0 GB of scratch: 2.0 MB are free"
    wait = DataWait("in", what, STARTED + 7, "t.dag.placements/in.out")
    assert data_waits(found, graph, runs) == [wait]
    assert data_waits(found, None, runs) == []
