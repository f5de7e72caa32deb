"""The disturbances: what is done to a DAG while it runs, or to the pool under many DAGs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from condor_pydagman.pool import processes
from tests.torture import damage, faults, intruder
from tests.torture.session import Session
from tests.torture.world import World, until

DISK = 3 << 20  # bytes of the disk that is filled


class Disturbance(NamedTuple):
    """One kind of disturbance.

    Attributes:
        does: what, for the report.
        act: does it to one DAG until that has ended or has had enough.
        to_all: does it to the pool under all DAGs of a batch; told when they are over.
        plan: faults that DAGMan's own process is to suffer.
        sure: for DAGs all of whose nodes succeed.
        retries: that every node has left over, where jobs may be lost.
        resubmitted: DAGMan may give up with an error; then the user submits again.
        disk: the DAG lies on a small disk of its own.
        ours_only: stock can't suffer it.
        knobs: that the DAG is run with.
        seconds: how long each job takes; 0 if they are to differ.
        records: the DAG asks for the files that DAGMan writes only then.
        bundles: in how many of the DAGs nodes run many to a job.
    """

    does: str
    act: Callable[[Session], None] = lambda _: None
    to_all: Callable[[World, Random, Callable[[], bool], float], list[str]] | None = None
    plan: Callable[[Random], list[faults.Fault]] | None = None
    sure: bool = False
    retries: int = 0
    resubmitted: bool = False
    disk: bool = False
    ours_only: bool = False
    knobs: tuple[str, ...] = ()
    seconds: float = 0.0
    records: bool = False
    bundles: float = 0.5


# Jobs whose end HTCondor could not write down are looked for after 5 minutes; stock: 8 hours.
FREQUENT_QUEUE_CHECKS = ("DAGMAN_CHECK_QUEUE_INTERVAL = 20",)

# DAGMan's own process


def kill(s: Session) -> None:
    for _ in range(s.random.randint(5, 11)):
        if not s.rest() or not s.kill():
            return


def stop(s: Session) -> None:
    for _ in range(s.random.randint(1, 2)):
        if not s.rest():
            return
        pid = s.pid()
        if not pid or not s.signal(pid, signal.SIGSTOP):
            return
        seconds = s.random.uniform(0.3, 1.0) * s.stop_seconds
        s.did(f"stopped DAGMan {pid} for {seconds:.0f} s")
        time.sleep(seconds)
        s.signal(pid, signal.SIGCONT)


def hold(s: Session) -> None:
    for _ in range(s.random.randint(1, 3)):
        if not s.rest() or not s.run("condor_hold", str(s.cluster)):
            return
        s.did("held")
        until(lambda: not s.pids() or s.over())
        time.sleep(s.random.uniform(0, 3))
        s.run("condor_release", str(s.cluster))


def vacate(s: Session) -> None:
    for _ in range(s.random.randint(1, 4)):
        pids = s.pids()
        if not s.rest() or not s.run("condor_vacate_job", str(s.cluster)):
            return
        s.did("vacated")
        until(partial(_gone, s, pids))


def _gone(s: Session, pids: list[int]) -> bool:
    return not set(pids) & set(s.pids()) or s.over()


def remove(s: Session) -> None:
    for _ in range(s.random.randint(1, 2)):
        if not s.rest() or not s.run("condor_rm", str(s.cluster)):
            return
        s.did("removed")
        if not until(lambda: s.code() is not None) or not s.left() or s.code() == 0:
            return
        s.submit()


def second(s: Session) -> None:
    """Another DAGMan for the same DAG: by condor_submit_dag -f, or by hand."""
    act = s.random.choice((_submitted_again, _by_hand))
    until(lambda: s.begun() > 0 or s.over())  # before that, the other would be the first
    for _ in range(2):
        # It must meet the first one at work, not the DAG at its end: that would be a new run of it.
        if s.rest() and s.begun() < 0.3:
            act(s)


def _submitted_again(s: Session) -> None:
    points = s.world.access_point
    command = points.which("condor_submit_dag", ours=False)  # ours looks at the lock first
    words = ["-f", "-dagman", s.dagman, "t.dag"]
    said = points.run(command, *words, cwd=s.work, check=False).stdout
    found = re.search(r"submitted to cluster (\d+)\.", said)
    if found is not None:
        s.also(int(found[1]))
    s.did(f"a second condor_submit_dag -f: {found[0] if found else 'refused'}")


def _by_hand(s: Session) -> None:
    words = ["-f", "-l", ".", "-Lockfile", "t.dag.lock", "-Dag", "t.dag", "-CsdVersion", _VERSION]
    log = {"_CONDOR_DAGMAN_LOG": f"second{s.disturbances}.out"}
    command = [s.dagman, *words]
    done = s.world.access_point.run(*command, cwd=s.work, check=False, environment=log)
    s.also(0)
    s.did(f"a second DAGMan, by hand, ended with {done.returncode}")


_VERSION = "$CondorVersion: 25.14.1 2026-10-16 PackageID: 25.14.1 $"


def mixed(s: Session) -> None:
    for _ in range(s.random.randint(3, 6)):
        if not s.rest():
            return
        act = s.random.choice((kill_once, kill_once, hold_once, vacate_once))
        act(s)


def kill_once(s: Session) -> None:
    s.kill()


def hold_once(s: Session) -> None:
    if s.run("condor_hold", str(s.cluster)):
        s.did("held")
        time.sleep(s.random.uniform(0, 1))  # DAGMan may still be leaving
        until(lambda: s.run("condor_release", str(s.cluster)) or s.over(), pause=0.5)


def vacate_once(s: Session) -> None:
    if s.run("condor_vacate_job", str(s.cluster)):
        s.did("vacated")


# The jobs of bundles


def carriers(s: Session) -> None:
    """What carries bundles dies; DAGMan as well, at times."""
    for _ in range(s.random.randint(4, 9)):
        if not s.rest():
            return
        act = s.random.choice((_kill_carrier, _kill_carrier, _kill_carrier, _vacate_job, kill_once))
        act(s)


def _kill_carrier(s: Session) -> None:
    """SIGKILL of the runner of a bundle, or its starter."""
    runners = [pid for pid in s.world.access_point.processes() if _is_runner(s, pid)]
    if not runners:
        return
    pid, of = s.random.choice(runners), "runner"
    if s.random.random() < 0.5:
        pid, of = processes.stat_of(pid).parent, "starter"
    s.carriers_killed.append(time.time())
    if pid > 1 and s.signal(pid, signal.SIGKILL):
        s.did(f"killed the {of} of a bundle, {pid}")


def _is_runner(s: Session, pid: int) -> bool:
    with contextlib.suppress(OSError):
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        if words[-2:-1] != [b"tasks"]:
            return False
        environment = Path(f"/proc/{pid}/environ").read_bytes()
        ad = re.findall(rb"_CONDOR_JOB_AD=([^\0]+)", environment)
        return bool(ad) and f"{s.work}/t.dag.bundles/" in Path(ad[0].decode()).read_text()
    return False


def _vacate_job(s: Session) -> None:
    how = s.random.choice(([], ["-fast"]))
    if s.run(
        "condor_vacate_job", *how, "-constraint", f"DAGManJobId == {s.cluster} && JobUniverse == 5"
    ):
        s.did("vacated the jobs of nodes")


# The files


def truncate(s: Session) -> None:
    """Truncate the nodes log while no DAGMan runs."""
    more = s.random.randint(600, 3000)
    until(lambda: s.size() > more or s.over())
    if s.over() or not s.run("condor_hold", str(s.cluster)):
        return
    if not until(lambda: not s.pids()):
        return
    text = damage.cut(s.work / "t.dag.nodes.log", s.random)
    s.did(text)
    time.sleep(s.random.uniform(0, 2))
    s.run("condor_release", str(s.cluster))


def fill_disk(s: Session) -> None:
    for _ in range(s.random.randint(1, 3)):
        if not s.rest():
            return
        path = s.work / "ballast"
        written = damage.fill(path)
        seconds = s.random.uniform(0.2, 6.0)
        s.did(f"the disk was full for {seconds:.1f} s ({written} bytes of ballast)")
        time.sleep(seconds)
        os.truncate(path, 0)


def mount(s: Session) -> bool:
    """Mount a small disk for the DAG; False if that is not possible."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={DISK},mode=0777", "torture", str(s.work)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def unmount(work: Path) -> None:
    """Unmount the small disk, if there is one."""
    if work.is_mount():
        subprocess.run(["umount", "-l", str(work)], capture_output=True, check=False)


def at_points(random: Random) -> list[faults.Fault]:
    """Kills at chosen points, one start of DAGMan after the other."""
    points = [at for at, effects in faults.POINTS.items() if faults.KILL in effects]
    points += faults.BUNDLE_POINTS  # in a DAG without bundles they do nothing
    return [
        faults.Fault(random.choice(points), nth=random.choice((1, 1, 2, 3, 5)))
        for _ in range(random.randint(8, 14))
    ]


def in_submits(random: Random) -> list[faults.Fault]:
    """Between the schedd's commit and our reading of its reply."""
    effects = [(faults.SUBMIT_REPLY, "kill"), (faults.SUBMIT_REPLY, "lose")]
    effects += [(faults.SUBMIT_CALL, "kill"), (faults.SUBMIT_CALL, "refuse")]
    drawn = [random.choice(effects) for _ in range(random.randint(5, 9))]
    return [faults.Fault(at, do, nth=random.randint(1, 6)) for at, do in drawn]


def in_files(random: Random) -> list[faults.Fault]:
    """Operations on files that fail, once or for a while."""
    chosen = random.sample(faults.FILE_FAULTS, 8)
    return [
        fault._replace(nth=random.choice((1, 1, 2, 4)), seconds=random.choice((0.0, 0.0, 3.0)))
        for fault in chosen
    ]


# The pool


def kill_schedd(world: World, random: Random, over: Callable[[], bool], _: float) -> list[str]:
    story = []
    for _number in range(random.randint(2, 3)):
        until(over, random.uniform(4, 15))
        pid = 0 if over() else until(lambda: world.access_point.daemon("condor_schedd"))
        if not pid:
            break
        os.kill(pid, signal.SIGKILL)
        story.append(f"{time.strftime('%H:%M:%S')} killed the schedd")
        until(world.answers, pause=0.5)
    return story


def stop_schedd(
    world: World, random: Random, over: Callable[[], bool], seconds: float
) -> list[str]:
    story = []
    for _number in range(random.randint(1, 2)):
        until(over, random.uniform(3, 10))
        pid = 0 if over() else world.access_point.daemon("condor_schedd")
        if not pid:
            break
        duration = random.uniform(0.3, 1.0) * seconds
        os.kill(pid, signal.SIGSTOP)
        story.append(f"{time.strftime('%H:%M:%S')} stopped the schedd for {duration:.0f} s")
        time.sleep(duration)
        os.kill(pid, signal.SIGCONT)
        until(world.answers, pause=0.5)
    return story


def kill_pool(world: World, random: Random, over: Callable[[], bool], _: float) -> list[str]:
    story = []
    for _number in range(random.randint(1, 2)):
        until(over, random.uniform(5, 15))
        if over():
            break
        world.kill_all()
        story.append(f"{time.strftime('%H:%M:%S')} killed every process of the pool")
        world.restart()
    return story


DISTURBANCES: dict[str, Disturbance] = {
    "kill": Disturbance("SIGKILL of DAGMan at random", kill),
    "points": Disturbance("SIGKILL of DAGMan at chosen points", plan=at_points, ours_only=True),
    "submits": Disturbance(
        "death and lost replies inside submits", plan=in_submits, ours_only=True
    ),
    "stop": Disturbance("SIGSTOP of DAGMan", stop),
    "hold": Disturbance("condor_hold, condor_release", hold),
    "vacate": Disturbance("condor_vacate_job of DAGMan", vacate),
    "remove": Disturbance("condor_rm, and on with the rescue file", remove),
    "carriers": Disturbance(
        "SIGKILL of runners and starters of bundles, evictions, SIGKILL of DAGMan",
        carriers,
        ours_only=True,
        seconds=1.0,
        bundles=1.0,
    ),
    "mixed": Disturbance("kills, holds and vacations mixed", mixed),
    "second": Disturbance("a second DAGMan for the same DAG", second, seconds=3.0),
    "stranger": Disturbance(
        "another user forges, plants and deletes; SIGKILL of DAGMan",
        intruder.disturb,
        ours_only=True,
        knobs=("DAGMAN_CHECK_QUEUE_INTERVAL = 5",),
        records=True,
    ),
    "files": Disturbance(
        "ENOSPC, EIO and the like on each file",
        plan=in_files,
        sure=True,
        retries=2,
        resubmitted=True,
        ours_only=True,
    ),
    "disk": Disturbance(
        "the disk is full",
        fill_disk,
        sure=True,
        retries=2,
        resubmitted=True,
        disk=True,
        knobs=FREQUENT_QUEUE_CHECKS,
    ),
    "truncate": Disturbance(
        "the nodes log loses its end",
        truncate,
        sure=True,
        retries=3,
        resubmitted=True,
        bundles=0.0,  # who was in them is lost
    ),
    "schedd kill": Disturbance("SIGKILL of the schedd", to_all=kill_schedd),
    "schedd stop": Disturbance("SIGSTOP of the schedd", to_all=stop_schedd),
    "pool kill": Disturbance("SIGKILL of the whole pool, and a new start", to_all=kill_pool),
}
