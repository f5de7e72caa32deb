"""DAGMan obeys people and reads its log while something hangs: the schedd, its history, a credd.

What it is to do while the schedd hangs is seen before the schedd goes on.  How long it takes for
that is measured: `python -m benchmarks.run --only obeying`.

The pool is one of this module's own, since its schedd is stopped (SIGSTOP) now and then.
"""

from __future__ import annotations

import contextlib
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks.connections import has_connection
from condor_pydagman.pool.processes import stat_of
from tests.pool import dags
from tests.pool.access_point import AccessPoint
from tests.pool.conftest import running_pool
from tests.pool.dagmans import send
from tests.pool.scenes import Scene

EXECUTE = """\
001 ({cluster:03}.000.000) {stamp} Job executing on host: <127.0.0.1:1>
...
"""


@pytest.fixture(scope="module")
def point(place: Path) -> Iterator[AccessPoint]:
    """The access point of a pool whose daemons may be stopped."""
    with running_pool(place / "hanging-pool") as pool:
        yield AccessPoint(pool)


@pytest.fixture
def s(point: AccessPoint, work: Path) -> Iterator[Scene]:
    """A DAG that can be submitted; removed afterwards."""
    scene = Scene(point, work)
    yield scene
    if scene.cluster:
        for words in ([], ["-forcex"]):
            point.run("condor_rm", *words, str(scene.cluster), check=False)
        scene.until(lambda: not scene.pid(), "DAGMan to be gone", after_end=True)


@contextlib.contextmanager
def stopped_schedd(point: AccessPoint) -> Iterator[None]:
    """The schedd neither runs nor answers; connections to it are accepted by the kernel."""
    schedd = point.daemon("condor_schedd")
    send(schedd, signal.SIGSTOP)
    try:
        yield
    finally:
        send(schedd, signal.SIGCONT)


def hangs(s: Scene) -> None:
    """Wait until a request of DAGMan's hangs: it has no connection at other times."""
    s.until(lambda: has_connection(s.pid()), "a connection of DAGMan's")


def check_orders(s: Scene) -> None:
    """A log event, a halt and its end are heard; A's job is in the queue."""
    stamp = time.strftime("%Y-%m-%d %H:%M:%S")
    s.applied("EXECUTE", "A")
    before = s.out().count("ULOG_EXECUTE for HTCondor Node A")
    with open(s.work / "t.dag.nodes.log", "a", encoding="ascii") as log:
        log.write(EXECUTE.format(cluster=s.job("A"), stamp=stamp))
    s.says("ULOG_EXECUTE for HTCondor Node A", before + 1)
    s.touch("t.dag.halt")
    s.says("Halting DAGMan progess")
    (s.work / "t.dag.halt").unlink()
    s.says("Resuming DAG progress")


def check_leaves(s: Scene) -> None:
    """SIGTERM, which a condor_hold sends."""
    pid = s.signal(signal.SIGTERM)
    s.until(lambda: not stat_of(pid).alive, "DAGMan to leave", after_end=True)
    assert "EXITING WITH STATUS 3" in s.out()
    assert (s.work / "t.dag.lock").exists()


def check_is_removed(s: Scene) -> int:
    """SIGUSR1, which a condor_rm sends; returns DAGMan's process id."""
    pid = s.signal(signal.SIGUSR1)
    s.until((s.work / "t.dag.rescue001").exists, "a rescue file", after_end=True)
    s.until(lambda: "Received SIGUSR1" in s.out(), "its reason", after_end=True)
    return pid


# Jobs end when they are told to; B is submitted when its PRE script has been told to end.  The file
# that tells the script tells the job as well, if that is not taken away.
TWO = "JOB A told.sub\nJOB B told.sub\nSCRIPT PRE B wait.sh B\n"


def hang_in_submit(s: Scene) -> None:
    """B's submission is on its way to a schedd that does not answer."""
    s.touch("go.B")
    s.says(r"Submitting HTCondor Node B job\(s\)")
    (s.work / "go.B").unlink()
    hangs(s)


@contextlib.contextmanager
def hanging_submit(s: Scene) -> Iterator[None]:
    """A runs, the schedd is stopped, and B is being submitted."""
    s.submit(TWO, started="A 0")
    s.wrote("B")
    with stopped_schedd(s.access_point):
        hang_in_submit(s)
        yield


def test_orders_and_condor_hold_while_a_submit_hangs(s: Scene) -> None:
    with hanging_submit(s):
        check_orders(s)
        check_leaves(s)
    s.says("done with RECOVERY mode")
    s.touch("go.A", "go.B")
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1, "B 0": 1}


def test_condor_rm_while_the_schedd_does_not_come_back_for_long(s: Scene) -> None:
    """The wait for it has an end; the schedd removes what is left when it is back."""
    with hanging_submit(s):
        pid = check_is_removed(s)
        s.until(lambda: not stat_of(pid).alive, "DAGMan to end", after_end=True)
    s.gone()
    assert "EXITING WITH STATUS 2" in s.out()
    assert dags.runs(s.work) == {}
    assert not (s.work / "t.dag.lock").exists()


def test_orders_while_edits_of_the_job_ad_hang(s: Scene) -> None:
    s.submit("JOB A told.sub\nJOB B job.sub NOOP\nSCRIPT PRE B wait.sh B\n", started="A 0")
    s.wrote("B")
    with stopped_schedd(s.access_point):
        s.touch("go.B")  # its end is to be published
        s.says("completed successfully")
        hangs(s)
        check_orders(s)
        check_leaves(s)
    s.touch("go.A")
    assert s.ends() == 0
    assert dags.runs(s.work) == {"A 0": 1}


HELPER = """\
#!/bin/sh
# stands for condor_history, at a disk that hangs
touch {place}/asked
exec sleep 86400
"""


@pytest.fixture
def hanging_history(point: AccessPoint, work: Path) -> Iterator[Path]:
    """The schedd's searches in its history never end; `asked` appears there with the first."""
    helper = work / "history_helper"
    helper.write_text(HELPER.format(place=work))
    helper.chmod(0o755)
    knobs = point.pool.directory / "config.d" / "zz-history"
    knobs.write_text(f"HISTORY_HELPER = {helper}\n")
    before = reconfigured(point, str(helper))
    yield work / "asked"
    knobs.unlink()
    reconfigured(point, before)


def reconfigured(point: AccessPoint, helper: str) -> str:
    """Have the schedd read its configuration, in which it has this helper then; returns the one
    before."""
    ask = ("condor_config_val", "-schedd", "HISTORY_HELPER")
    before = point.run(*ask).stdout.strip()
    point.run("condor_reconfig")
    point.wait_for(lambda: point.run(*ask).stdout.strip() == helper, say=f"the helper {helper}")
    return before


def test_orders_while_a_search_of_the_history_hangs(s: Scene, hanging_history: Path) -> None:
    s.submit(TWO, started="A 0")
    s.wrote("B")
    s.kill()
    s.until(hanging_history.exists, "the history to be asked")
    hangs(s)
    check_orders(s)
    check_is_removed(s)
    s.gone()
    assert dags.runs(s.work) == {}


@pytest.fixture
def hanging_credd(work: Path) -> Iterator[str]:
    """Address of a daemon that takes connections and never answers."""
    listener = socket.create_server(("127.0.0.1", 0))
    kept: list[socket.socket] = []

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                kept.append(listener.accept()[0])

    threading.Thread(target=accept, daemon=True).start()
    yield f"<127.0.0.1:{listener.getsockname()[1]}>"
    listener.close()
    for connection in kept:
        connection.close()


def test_orders_while_a_credd_hangs(s: Scene, hanging_credd: str) -> None:
    credentials = "JOB A told.sub\nJOB B cred.sub\nSCRIPT PRE B wait.sh B\n#== cred.sub\n"
    s.write(credentials + "executable = job.sh\nuse_oauth_services = x\nqueue\n")
    environment = f"_CONDOR_CREDD_HOST={hanging_credd}"
    s.submit_again("-insert_env", environment)
    s.started("A 0")
    s.wrote("B")
    hang_in_submit(s)
    check_orders(s)
    check_is_removed(s)
    s.gone()
