"""The measurements of how soon DAGMan does what people and the clock ask of it."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from benchmarks import dags, events
from benchmarks.connections import has_connection
from benchmarks.place import TIMEOUT_S, Failed, Place, log_tail
from benchmarks.sizes import Numbers, Sizes
from condor_pydagman.engine.rules import retry_delay_s
from condor_pydagman.graph.model import Retry
from condor_pydagman.pool import processes

LOOK_S = 0.005
LIMIT_S = 2  # of a job that may not run for longer, and before a retry

# B is submitted when the file `go` is there.
TWO = """\
JOB A n.sub
JOB B n.sub
SCRIPT PRE B wait.sh
"""
WAIT = """\
#!/bin/sh
until test -e go; do sleep 0.1; done
"""
EXECUTE = """\
001 ({cluster:03}.000.000) {stamp} Job executing on host: <127.0.0.1:1>
...
"""
# A has TRIES runs, B is removed.
TRIES = 3
TIMED = f"""\
JOB A fails.sub
RETRY A {TRIES - 1} DELAY {LIMIT_S}
JOB B n.sub
TIMEOUT B RUNNING {LIMIT_S}
"""
FAILS = "universe = scheduler\nexecutable = /bin/false\nqueue\n"


def obeying(place: Place, subject: str, _: Sizes) -> Numbers:
    """Seconds that DAGMan takes for a log event, a halt file and a condor_hold while the schedd
    does not answer a submission."""
    directory = place.new_directory(f"obeying-{subject}")
    (directory / "n.sub").write_text(f"{dags.SLEEPER}queue\n", encoding="ascii")
    (directory / "wait.sh").write_text(WAIT, encoding="ascii")
    (directory / "wait.sh").chmod(0o755)
    (directory / dags.NAME).write_text(TWO, encoding="ascii")
    log = directory / f"{dags.NAME}.nodes.log"
    try:
        place.submit([directory], subject)
        place.wait_events(log, events.EXECUTE, 1, TIMEOUT_S)
        pid = place.dagman_pid(directory)
        with _stopped_schedd(place):
            (directory / "go").touch()
            _seconds(directory, lambda: has_connection(pid), "a request that hangs")
            return _orders(directory, log, pid)
    finally:
        place.remove_all()


@contextlib.contextmanager
def _stopped_schedd(place: Place) -> Iterator[None]:
    master = place.pool.master()
    family = processes.family(master) if master else {}
    found = [pid for pid in family if processes.stat_of(pid).name == "condor_schedd"]
    if not found:
        raise Failed("there is no condor_schedd")
    os.kill(min(found), signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(min(found), signal.SIGCONT)


def _orders(directory: Path, log: Path, pid: int) -> Numbers:
    out = directory / f"{dags.NAME}.dagman.out"

    def says(text: str, times: int = 1) -> Callable[[], bool]:
        return lambda: out.read_text(encoding="utf-8", errors="replace").count(text) >= times

    found: Numbers = {}
    cluster = next(one.cluster for one in events.read(log) if one.kind == events.EXECUTE)
    with log.open("a", encoding="ascii") as file:
        file.write(EXECUTE.format(cluster=cluster, stamp=time.strftime("%Y-%m-%d %H:%M:%S")))
    seen = says("ULOG_EXECUTE for HTCondor Node A", 2)
    found["obeyed event"] = [_seconds(directory, seen, "a log event")]
    (directory / f"{dags.NAME}.halt").touch()
    found["obeyed halt"] = [_seconds(directory, says("Halting DAGMan"), "a halt")]
    os.kill(pid, signal.SIGTERM)
    left = _seconds(directory, lambda: not processes.stat_of(pid).alive, "the end of DAGMan")
    return {**found, "obeyed hold": [left]}


def _seconds(directory: Path, look: Callable[[], bool], what: str) -> float:
    begin = time.monotonic()
    while not look():
        if time.monotonic() - begin > TIMEOUT_S:
            raise Failed(f"waited in vain for {what}; {log_tail(directory)}")
        time.sleep(LOOK_S)
    return time.monotonic() - begin


def punctual(place: Place, subject: str, _: Sizes) -> Numbers:
    """Seconds by which retries, and the removal of a job that runs for too long, come late."""
    directory = place.new_directory(f"punctual-{subject}")
    (directory / "n.sub").write_text(f"{dags.SLEEPER}queue\n", encoding="ascii")
    (directory / "fails.sub").write_text(FAILS, encoding="ascii")
    (directory / dags.NAME).write_text(TIMED, encoding="ascii")
    try:
        place.submit([directory], subject, by=subject)
        place.wait_end(directory, TIMEOUT_S)
    finally:
        place.remove_all()
    found = lateness(events.read(directory / f"{dags.NAME}.nodes.log"))
    if len(found["retry late"]) < TRIES - 1 or not found["timeout late"]:
        raise Failed(f"not all has happened; {log_tail(directory)}")
    return found


def lateness(log: list[events.Event]) -> Numbers:
    """By the nodes log of TIMED: from when something was due to when it was done."""
    when = {(one.cluster, one.kind): one.time for one in log}
    tries = [one.cluster for one in log if one.kind == events.TERMINATED]
    retry = Retry(TRIES - 1, delay=LIMIT_S)
    retries = [
        when[later, events.SUBMIT] - when[earlier, events.TERMINATED] - retry_delay_s(retry, n, "A")
        for n, (earlier, later) in enumerate(zip(tries, tries[1:]), 1)
    ]
    removals = [
        one.time - when[one.cluster, events.EXECUTE] - LIMIT_S
        for one in log
        if one.kind == events.ABORTED
    ]
    return {"retry late": retries, "timeout late": removals}
