"""The disturbances: what is done to a DAG while it runs, or to the pool under many DAGs."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from condor_pydagman.pool import processes
from tests.torture import damage, faults, intruder, waits
from tests.torture.data_dags import words_of
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
        disk: bytes of a disk of its own on which the DAG lies; 0: none.
        ours_only: stock can't suffer it.
        knobs: that the DAG is run with.
        seconds: how long each job takes; 0 if they are to differ.
        records: the DAG asks for the files that DAGMan writes only then.
        bundles: in how many of the DAGs nodes run many to a job.
        everything: the DAG has all that `everything` has.
        waits: the DAG is one of `waits`; `to_all` is told how long its jobs take.
    """

    does: str
    act: Callable[[Session], None] = lambda _: None
    to_all: Callable[[World, Random, Callable[[], bool], float], list[str]] | None = None
    plan: Callable[[Random], list[faults.Fault]] | None = None
    sure: bool = False
    retries: int = 0
    resubmitted: bool = False
    disk: int = 0
    ours_only: bool = False
    knobs: tuple[str, ...] = ()
    seconds: float = 0.0
    records: bool = False
    bundles: float = 0.5
    everything: bool = False
    waits: bool = False


# Jobs whose end HTCondor could not write down are looked for after 5 minutes; stock: 8 hours.
FREQUENT_QUEUE_CHECKS = ("DAGMAN_CHECK_QUEUE_INTERVAL = 20",)

# DAGMan's own process


def some(act: Callable[[Session], bool], least: int, most: int) -> Callable[[Session], None]:
    """The act so many times, until the DAG has ended or the act says that it is enough."""

    def do(s: Session) -> None:
        for _ in range(s.random.randint(least, most)):
            if not s.rest() or not act(s):
                return

    return do


def stop_once(s: Session) -> bool:
    pid = s.pid()
    if not pid or not s.signal(pid, signal.SIGSTOP):
        return False
    seconds = s.random.uniform(0.3, 1.0) * s.stop_seconds
    s.did(f"stopped DAGMan {pid} for {seconds:.0f} s")
    time.sleep(seconds)
    return s.signal(pid, signal.SIGCONT)


def remove_once(s: Session) -> bool:
    """Remove it and submit it again; whether it goes on."""
    if not s.run("condor_rm", str(s.cluster)):
        return False
    s.did("removed")
    if not until(lambda: s.code() is not None) or not s.left() or s.code() == 0:
        return False
    s.submit()
    return True


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


def mixed(s: Session) -> bool:
    s.random.choice((Session.kill, Session.kill, hold_once, vacate_once))(s)
    return True


def hold_once(s: Session) -> bool:
    if not s.run("condor_hold", str(s.cluster)):
        return False
    s.did("held")
    time.sleep(s.random.uniform(0, 3))  # DAGMan may still be leaving
    return bool(until(lambda: s.run("condor_release", str(s.cluster)) or s.over(), pause=0.5))


def vacate_once(s: Session) -> bool:
    done = s.run("condor_vacate_job", str(s.cluster))
    if done:
        s.did("vacated")
    return done


# The jobs of bundles


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
    """A task that ends as its runner is vacated may have no result, and begin again."""
    how = s.random.choice(([], ["-fast"]))
    s.carriers_killed.append(time.time())
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


def fill_disk_once(s: Session) -> bool:
    if not s.work.is_mount():
        return False
    path = s.work / "ballast"
    written = damage.fill(path)
    seconds = s.random.uniform(0.2, 6.0)
    s.did(f"the disk was full for {seconds:.1f} s ({written} bytes of ballast)")
    time.sleep(seconds)
    os.truncate(path, 0)
    return True


def mount(s: Session, size: int) -> bool:
    """Mount a small disk for the DAG; False if that is not possible."""
    words = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=0777", "torture", str(s.work)]
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


# Everything at once

ANSWER_S = 8.0  # for which it is let alone at most, until a request is answered
SOON_S = 2.0  # in which a process that is to be killed must be there: workers live for less


def everything(s: Session) -> None:
    """One disturbance after the other, while somebody steers the DAG."""
    assert s.more is not None
    over = threading.Event()
    steerer = threading.Thread(target=s.more.steer, args=(over,))
    steerer.start()
    try:
        for _ in range(s.random.randint(30, 45)):
            if not s.rest():
                break
            for name in s.random.choices(list(ACTS), [often for often, _ in ACTS.values()], k=5):
                before = s.disturbances
                ACTS[name][1](s)
                if s.disturbances > before:
                    s.acts[name] += 1
                    break
            if s.random.random() < 0.5:
                until(partial(_is_answered, s, s.more.answered()), ANSWER_S)
    finally:
        over.set()
        steerer.join()
    s.more.to_the_end()


def _is_answered(s: Session, before: int) -> bool:
    assert s.more is not None
    return s.more.answered() > before or s.over()


def _kill_one(s: Session, what: str, find: Callable[[Session], list[int]]) -> None:
    """SIGKILL of a process that is found twice: one that has just been forked may be a script."""
    found = until(lambda: find(s), SOON_S)
    time.sleep(0.05)
    found = sorted(set(found) & set(find(s)))
    if found and s.signal(s.random.choice(found), signal.SIGKILL):
        s.did(f"killed {what}")


def _helpers(s: Session) -> list[int]:
    """Processes that work for the DAG's DAGMan, and are not those of scripts."""
    found = [pid for one in s.pids() for pid in processes.family(one) if pid != one]
    words = ((pid, words_of(pid)) for pid in found)
    return [pid for pid, said in words if b"-Lockfile" in said or b"condor_pydagman" in said]


def _workers(s: Session) -> list[int]:
    """Workers of its DATA nodes, and their processes."""
    place = os.fsencode(s.work)
    found = ((pid, words_of(pid)) for pid in s.world.access_point.processes())
    return [pid for pid, words in found if b".order\0" in words and place in words]


# Who removes a DAG while no DAGMan runs gets no rescue file: its jobs count as failed.
_ANSWERS = ("condor_pydagman", "sites", "groups", "t.dag")
# How often each is done, of all; and how.
ACTS: dict[str, tuple[int, Callable[[Session], object]]] = {
    "kill DAGMan": (18, Session.kill),
    "kill a process of DAGMan's": (3, lambda s: _kill_one(s, "a process of DAGMan's", _helpers)),
    "kill a worker": (9, lambda s: _kill_one(s, "a worker", _workers)),
    "kill what carries a bundle": (6, _kill_carrier),
    "vacate the jobs": (1, _vacate_job),
    "hold DAGMan": (1, hold_once),
    "vacate DAGMan": (1, vacate_once),
    "remove the DAG": (1, lambda s: s.run(*_ANSWERS) and remove_once(s)),
    "fill the disk": (3, fill_disk_once),
}


# The same of DAGs that wait long.
WAITING_ACTS: dict[str, tuple[int, Callable[[Session], object]]] = {
    "kill DAGMan": (4, Session.kill),
    "halt the DAG": (3, waits.halt_once),
    "hold DAGMan": (2, hold_once),
    "remove the DAG": (1, remove_once),
}


# The pool


def end_schedd(
    world: World,
    random: Random,
    over: Callable[[], bool],
    seconds: float,
    *,
    by: Sequence[signal.Signals],
    pause: tuple[float, float],
    times: int = 1000,
) -> list[str]:
    """Now and then, until all is over; its master starts it again.  `pause`: in `seconds`."""
    story: list[str] = []
    while len(story) < times and not until(over, seconds * random.uniform(*pause)):
        number = random.choice(by)
        pid = until(lambda: world.access_point.daemon("condor_schedd"))
        os.kill(pid, number)
        story.append(f"{time.strftime('%H:%M:%S')} {number.name} for the schedd")
        until(lambda: world.access_point.daemon("condor_schedd") not in (0, pid))  # noqa: B023
        until(world.answers, pause=0.5)
    return story


def stop_schedd(world: World, random: Random, over: Callable[[], bool], most: float) -> list[str]:
    story: list[str] = []
    while len(story) < 2 and not until(over, random.uniform(3, 10)):
        pid = until(lambda: world.access_point.daemon("condor_schedd"))
        duration = random.uniform(0.3, 1.0) * most
        os.kill(pid, signal.SIGSTOP)
        story.append(f"{time.strftime('%H:%M:%S')} stopped the schedd for {duration:.0f} s")
        time.sleep(duration)
        os.kill(pid, signal.SIGCONT)
        until(world.answers, pause=0.5)
    return story


def kill_pool(world: World, random: Random, over: Callable[[], bool], _: float) -> list[str]:
    story: list[str] = []
    while len(story) < 2 and not until(over, random.uniform(5, 15)):
        world.kill_all()
        story.append(f"{time.strftime('%H:%M:%S')} killed every process of the pool")
        world.restart()
    return story


KILL_SCHEDD = partial(end_schedd, by=(signal.SIGKILL,), pause=(0.2, 0.75), times=3)
DISTURBANCES: dict[str, Disturbance] = {
    "kill": Disturbance("SIGKILL of DAGMan at random", some(Session.kill, 5, 11)),
    "points": Disturbance("SIGKILL of DAGMan at chosen points", plan=at_points, ours_only=True),
    "submits": Disturbance(
        "death and lost replies inside submits", plan=in_submits, ours_only=True
    ),
    "stop": Disturbance("SIGSTOP of DAGMan", some(stop_once, 1, 2)),
    "hold": Disturbance("condor_hold, condor_release", some(hold_once, 1, 3)),
    "vacate": Disturbance("condor_vacate_job of DAGMan", some(vacate_once, 1, 4)),
    "remove": Disturbance("condor_rm, and on with the rescue file", some(remove_once, 1, 2)),
    "mixed": Disturbance("kills, holds and vacations mixed", some(mixed, 3, 6)),
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
        some(fill_disk_once, 1, 3),
        sure=True,
        retries=2,
        resubmitted=True,
        disk=DISK,
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
    "everything": Disturbance(
        "everything at once",
        everything,
        partial(end_schedd, by=(signal.SIGKILL, signal.SIGQUIT), pause=(1.5, 4.5)),
        sure=True,
        retries=2,
        resubmitted=True,
        disk=4 * DISK,
        ours_only=True,
        knobs=FREQUENT_QUEUE_CHECKS,
        bundles=1.0,
        everything=True,
    ),
    "waits": Disturbance(
        "kills, halts, holds and removals while DAGs wait; SIGTERM of the schedd",
        partial(waits.disturb, acts=WAITING_ACTS),
        partial(end_schedd, by=(signal.SIGTERM,), pause=(0.2, 0.45), times=2),
        sure=True,
        resubmitted=True,
        ours_only=True,
        waits=True,
    ),
    "schedd kill": Disturbance("SIGKILL of the schedd", to_all=KILL_SCHEDD),
    "schedd stop": Disturbance("SIGSTOP of the schedd", to_all=stop_schedd),
    "pool kill": Disturbance("SIGKILL of the whole pool, and a new start", to_all=kill_pool),
}
