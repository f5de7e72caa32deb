"""A second user of the access point, who forges, plants and deletes while a DAG runs.

Her jobs say that they are nodes of the DAG: some are held for ever, some end at once, some have
ended long ago, if one believes them, so that a search in the history would end there.  The DAG's
directory is open to all, and she puts things at the names that DAGMan will write, and takes away
what it has written.  Whoever may write there can do what only the user should: to rewrite the DAG
or its nodes log, or to halt it (a halted DAG that has drained ends), is left out.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from tests.pool.second_user import Eve
from tests.torture.session import Session
from tests.torture.world import until

# What DAGMan does not need in order to go on, and what it makes on the way to it.
_RECORDS = ("t.status", "t.dot", "t.dag.metrics", "t.jobstate.log")
_ON_THE_WAY = tuple(f"{name}.tmp" for name in (*_RECORDS, "t.dag.rescue001", "t.dag.lock"))
_LOCK_CHECK_TIMEOUT_S = 130.0  # seconds in which DAGMan sees that its lock file is gone


def disturb(s: Session) -> None:
    """One attack after the other; after some of them DAGMan is killed, and its successor looks."""
    eve = Eve(s.world.access_point, s.work.parent)
    try:
        for _ in range(s.random.randint(5, 9)):
            if not s.rest():
                break
            attack = s.random.choice((_forge, _forge, _forge, _hide, _plant, _plant, _delete))
            with contextlib.suppress(AssertionError):  # the schedd may be too busy for her
                attack(s, eve)
            if s.random.random() < 0.5 and not s.over():
                s.kill()
    finally:
        eve.leave()


def _forge(s: Session, eve: Eve) -> None:
    node = s.random.choice(s.workload.nodes).name
    retry = s.random.choice((0, 0, 0, 1))
    kind = s.random.choice(("hold = true", "universe = scheduler"))
    cluster = eve.forge(s.cluster, node, kind, retry=retry)
    s.did(f"eve submitted {cluster} as run {retry} of {node} ({kind})")


def _hide(s: Session, eve: Eve) -> None:
    node = s.random.choice(s.workload.nodes).name
    cluster = eve.forge(s.cluster, node, "universe = scheduler", "leave_in_queue = true")
    this = f"ClusterId == {cluster} && JobStatus == 4"
    if until(lambda: s.world.access_point.queue(this) or s.over(), pause=0.5):
        eve.run("condor_qedit", str(cluster), "EnteredCurrentStatus", "1")
        eve.run("condor_qedit", str(cluster), "LeaveJobInQueue", "false")
        s.did(f"eve turned the end of {cluster} back by decades")


def _plant(s: Session, eve: Eve) -> None:
    name = s.random.choice((*_RECORDS, *_ON_THE_WAY))
    _take_away(s.work / name)
    shape = s.random.choice(("fifo", "directory", "link", "file"))
    path = str(s.work / name)
    with contextlib.suppress(FileExistsError):  # DAGMan was quicker
        if shape == "fifo":
            os.mkfifo(path, 0o666)
        elif shape == "directory":
            os.mkdir(path, 0o777)
        elif shape == "link":
            os.symlink(s.random.choice(("/dev/full", "nowhere", name)), path)
        else:
            Path(path).write_text("planted\n")
        s.did(f"a {shape} at {name}")


def _delete(s: Session, eve: Eve) -> None:
    """The lock file of a DAGMan that holds it: it makes it anew.  (Deleted while none does, it says
    that the user wants the DAG to begin anew.)"""
    lock = s.work / "t.dag.lock"
    log = s.work / "t.dag.dagman.out"
    last = log.read_text(errors="replace").rpartition("STARTING UP")[2] if log.exists() else ""
    if "Bootstrapping" not in last or not any(f"** PID = {pid}\n" in last for pid in s.pids()):
        _take_away(s.work / s.random.choice(_RECORDS))
        return
    lock.unlink(missing_ok=True)
    s.did("the lock file deleted")
    if not until(lambda: lock.exists() or s.over(), _LOCK_CHECK_TIMEOUT_S):
        s.wrong.append("a deleted lock file was not made anew")


def _take_away(path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink()
