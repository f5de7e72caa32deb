"""DAGMans that sleep on a real pool."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from condor_pydagman.compiled import WAITER
from condor_pydagman.records.own_ad import LIMITS
from tests.installation import COMPILES
from tests.pool import dags
from tests.pool.scenes import Scene, Stage

STAGE = Stage()
SLEEPY = """\
CONFIG t.config
JOB A told.sub
JOB B job.sub
PARENT A CHILD B
CACHE A
SCRIPT POST A script.sh 0 post A
#== t.config
PYDAGMAN_SLEEP_AFTER = 1
DAGMAN_CHECK_QUEUE_INTERVAL = 1800
"""
ONCE = {"A 0": 1, "B 0": 1}
KILOBYTES = 300  # of its own memory that a DAGMan may take asleep


def asleep(s: Scene, times: int = 1) -> int:
    """Wait until DAGMan sleeps for that time; returns its process, which holds the lock."""
    s.says("Nothing to do: asleep", times)
    pid: int = s.until(s.pid, "its process")  # which has no name while it becomes another program
    s.until(lambda: os.readlink(f"/proc/{pid}/exe") == WAITER, "the waiter")
    assert holds_lock(s, pid)
    return pid


def holds_lock(s: Scene, pid: int) -> bool:
    """Whether the process holds the lock of the DAG, as the kernel says."""
    inode = (s.work / "t.dag.lock").stat().st_ino
    locks = [line.split() for line in Path("/proc/locks").read_text().splitlines()]
    return any(words[4] == str(pid) and words[5].endswith(f":{inode}") for words in locks)


def own_kilobytes(pid: int) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private"))


@STAGE.scene
def what_wakes_it(s: Scene) -> None:
    s.submit(SLEEPY, started="A 0")
    pid = asleep(s)
    assert own_kilobytes(pid) < KILOBYTES
    assert Path(f"/proc/{pid}/comm").read_text() == "condor_dagman\n"
    s.touch("t.dag.halt")
    s.says("Awake: halt file")
    s.has(DAG_Status=6)
    opened = len(os.listdir(f"/proc/{asleep(s, 2)}/fd"))
    (s.work / "t.dag.halt").unlink()
    s.says("Awake: halt file", 2)
    s.has(DAG_Status=0)
    assert len(os.listdir(f"/proc/{asleep(s, 3)}/fd")) == opened
    s.run("condor_pydagman", "steer", "limits", "t.dag", "--jobs", "7")
    s.says("Awake: request or signal")
    assert asleep(s, 4) == pid
    s.touch("go.A")
    s.says("Awake: nodes log")
    assert s.ends() == 0
    assert dags.runs(s.work) == ONCE
    assert dags.scripts(s.work) == ["post A"]
    assert "RECOVERY" not in s.out()


ASK = """
import sys
from condor_pydagman.adapters import renewal
from condor_pydagman.adapters.schedd import ScheddAdapter
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.records.own_ad import LIMITS
own, job, *limits = map(int, sys.argv[1:])
renewal.renew(own)
limits = Throttles(**dict(zip(LIMITS.values(), limits)))
print(renewal.is_same(own, ScheddAdapter(own).memory(), [[job, 0]], list(limits)))
"""


@STAGE.scene
def what_it_asks_asleep(s: Scene) -> None:
    """In vain: it sleeps on, nobody having woken it."""
    s.submit(SLEEPY, started="A 0")
    asleep(s)
    ad = s.ad()
    job, limits = s.job("A"), [str(ad[name]) for name in LIMITS]

    def ask(job: int) -> str:
        return s.run(sys.executable, "-c", ASK, str(s.cluster), str(job), *limits)

    s.edit("DAG_AdUpdateTime", 1)
    assert ask(job) == "True\n"
    assert s.ad()["DAG_AdUpdateTime"] > 1
    assert ask(job + 1000) == "False\n"
    s.edit("DAGMan_MaxJobs", 7)
    assert ask(job) == "False\n"
    s.hold()
    s.says("EXITING WITH STATUS 3")
    assert "Awake" not in s.out()
    s.remove()
    s.gone()


@STAGE.scene
def what_ends_it(s: Scene) -> None:
    s.submit(SLEEPY, started="A 0")
    asleep(s)
    s.kill()
    s.says("Running in RECOVERY mode")
    asleep(s, 2)
    s.hold()
    s.says("EXITING WITH STATUS 3")
    s.release()
    asleep(s, 3)
    s.remove()
    s.gone()
    assert dags.starts(s.work) == {"A 0": 1}
    assert "EXITING WITH STATUS 2" in s.out()


test_sleep = pytest.mark.skipif(
    not COMPILES, reason="there is no C compiler to build the waiter with"
)(STAGE.tests())
test_sleep = pytest.mark.long(test_sleep)
