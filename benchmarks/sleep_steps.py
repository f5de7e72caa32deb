"""The measurements of DAGMans that wait for long, awake or asleep, and of what wakes them.

What is measured of processes is that of DAGMans and of all that they have started.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

from benchmarks import costs, dags, events
from benchmarks.bundle_costs import schedd_pid
from benchmarks.idle_steps import START_TIMEOUT_S, directories_of
from benchmarks.place import HERE, Failed, Place, wait_while_it_runs
from benchmarks.sizes import Numbers
from benchmarks.subjects import ASLEEP, SLEEP_KNOB, STOCK, UNLIMITED
from condor_pydagman.compiled import WAITER
from tests.pool.dagmans import processes_in, running_dagmans

NODES = 1000  # of a DAG that is woken
SETTLE_S = 30.0  # after the last request, for the process for requests to leave
LOOK_S, QUICK_LOOK_S = 0.5, 0.005
OUT, NODES_LOG = f"{dags.NAME}.dagman.out", f"{dags.NAME}.nodes.log"


class Scale(NamedTuple):
    """How much is measured.

    Attributes:
        dags: how many wait at once.
        seconds: for which they wait without an event, and then for which there is one of each.
        sleep_after: the knob of those that sleep.
        wakes: how often one is woken.
        starts: how often a DAG is submitted.
        bag: nodes of each DAG while all submit.
    """

    dags: int
    seconds: float
    sleep_after: int
    wakes: int
    starts: int
    bag: int

    def knobs(self, subject: str) -> dict[str, str]:
        """With which a DAGMan sleeps or does not."""
        return {**UNLIMITED, SLEEP_KNOB: str(self.sleep_after if subject == ASLEEP else 0)}


def start(place: Place, subject: str, scale: Scale) -> Numbers:
    """CPU of condor_submit_dag, and of DAGMan until it has submitted a node."""
    found: Numbers = {"submit_dag cpu": [], "start cpu": []}
    spent = [sys.executable, "-I", "-S", str(HERE / "spent.py"), "60"]
    argv = [*spent, place.program(subject, "condor_submit_dag"), "-dagman", place.program(subject)]
    for _ in range(scale.starts):
        (home,) = directories_of(place, f"start-{subject}", dags.waiting(1), 1)
        command = ([*argv, dags.NAME], home)
        said = place.run_each([command], subject, scale.knobs(subject))[0][1]
        found["submit_dag cpu"].append(json.loads(said.splitlines()[-1])[1])
        family = costs.Family(_waited(home, lambda one: next(iter(_dagmans(one)), 0), "DAGMan"))
        _waited(home, _submits, "a submission")
        family.look()
        found["start cpu"].append(family.all)
        place.remove_all()
    return found


def submitting(place: Place, subject: str, scale: Scale) -> Numbers:
    """The greatest memory of DAGMans that submit."""
    bag = dags.bag(scale.bag, dags.HELD)
    left = directories_of(place, f"submitting-{subject}", bag, scale.dags)
    home, looks = left[0].parent, []
    try:
        with ThreadPoolExecutor(1) as thread:
            submitted = thread.submit(place.submit, left, subject, scale.knobs(subject))
            while left or not submitted.done():
                looks += _memory(home, LOOK_S)
                left = [one for one in left if _submits(one) < scale.bag]
            submitted.result()
    finally:
        place.remove_all()
    return {"submitting pss": [max(one["pss"] for one in looks)]}


def idle(place: Place, subject: str, scale: Scale) -> Numbers:
    """Memory and CPU of DAGMans and their schedd: without an event, then with one of each job."""
    found: Numbers = {}
    with _waiting(place, subject, scale, 1) as homes:
        schedd, home = schedd_pid(place), homes[0].parent
        for what in ("quiet", "event"):
            before, of_schedd = sum(_spent(home).values()), costs.spent(schedd)
            if what == "event":
                place.run("condor_release", "-constraint", "JobUniverse == 5")
            looks = _memory(home, scale.seconds)
            found[f"{what} pss"] = [mean(one["pss"] for one in looks)]
            found[f"{what} uss"] = [mean(one["uss"] for one in looks) / len(homes)]
            found[f"{what} schedd"] = [50 * (costs.spent(schedd) - of_schedd) / scale.seconds]
            used = sum(_spent(home).values()) - before
            found[f"{what} cpu"] = [60 * used / scale.seconds / len(homes)]
    return found


def restart(place: Place, subject: str, scale: Scale) -> Numbers:
    """The greatest memory and the CPU of all DAGMans, from the end of their schedd until all have
    recovered and wait again."""
    with _waiting(place, subject, scale, 1) as homes:
        home, looks, left = homes[0].parent, [], homes
        spent = _spent(home)
        before, until = sum(spent.values()), time.monotonic() + START_TIMEOUT_S
        os.kill(schedd_pid(place), signal.SIGTERM)
        while time.monotonic() < until:
            spent.update(_spent(home))
            looks += _memory(home, LOOK_S)
            if left:
                left = [one for one in left if not _says(one, "...done with RECOVERY mode")]
                until = until if left else time.monotonic() + SETTLE_S
        if left:
            raise Failed(f"{len(left)} DAGMans have not recovered")
        greatest = max(one["pss"] for one in looks)
        return {"restart pss": [greatest], "restart cpu": [sum(spent.values()) - before]}


def reaction(place: Place, subject: str, scale: Scale) -> Numbers:
    """Seconds until a halt file is obeyed, and in the next round until a client is answered."""
    found: Numbers = {"halted": [], "answered": []}
    if subject == STOCK:  # it has no such socket, and writes nothing of a halt file
        return found
    with _waiting(place, subject, scale, NODES) as homes, _client(place) as client:
        for number in range(scale.wakes):
            turn, at = divmod(number, len(homes))
            if number and not at:
                _settle(homes, subject)
            home, halt = homes[at], homes[at] / f"{dags.NAME}.halt"
            begin = time.monotonic()
            if turn % 2 == 0:
                halt.touch()
                _waited(home, lambda one: _says(one, "Halting DAGMan") > turn // 2, "a halt")  # noqa: B023
                found["halted"].append(time.monotonic() - begin)
                continue
            print(home / dags.NAME, file=client.stdin, flush=True)
            found["answered"].append(float(client.stdout.readline()))
            halt.unlink()
    return found


def _client(place: Place) -> Any:
    """What asks DAGMans."""
    words = place.pool.command([sys.executable, "-m", "benchmarks.asking"])
    pipe, home = subprocess.PIPE, HERE.parent
    return subprocess.Popen(
        words, cwd=home, env=place.environment(), stdin=pipe, stdout=pipe, text=True
    )


@contextlib.contextmanager
def _waiting(place: Place, subject: str, scale: Scale, nodes: int) -> Iterator[list[Path]]:
    """The directories of DAGs that wait for their only job, which is held."""
    homes = directories_of(place, f"waiting-{subject}", dags.waiting(nodes), scale.dags)
    try:
        place.submit(homes, subject, scale.knobs(subject))
        for home in homes:
            place.wait_events(home / NODES_LOG, events.SUBMIT, 1, START_TIMEOUT_S)
        _settle(homes, subject)
        yield homes
    finally:
        place.remove_all()


def _settle(homes: list[Path], subject: str) -> None:
    """Wait until DAGMans sleep, or would."""
    time.sleep(SETTLE_S)
    for home in homes if subject == ASLEEP else ():
        _waited(home, lambda one: [_exe(pid) for pid in _dagmans(one)] == [WAITER], "its sleep")


def _exe(pid: int) -> str:
    with contextlib.suppress(OSError):  # it has just ended
        return os.readlink(f"/proc/{pid}/exe")
    return ""


def _waited(home: Path, look: Callable[[Path], int], what: str) -> int:
    return wait_while_it_runs(home, lambda: look(home), what, START_TIMEOUT_S, QUICK_LOOK_S)


def _dagmans(home: Path) -> list[int]:
    return [one.pid for one in running_dagmans() if Path(one.directory).is_relative_to(home)]


def _submits(home: Path) -> int:
    return len(events.times(events.read(home / NODES_LOG), events.SUBMIT))


def _says(home: Path, text: str) -> int:
    """How often DAGMan has said so."""
    return (home / OUT).read_text(encoding="utf-8", errors="replace").count(text)


def _spent(home: Path) -> dict[int, float]:
    """CPU seconds of each DAGMan there, and of its children that have ended."""
    found = {}
    for pid in _dagmans(home):
        with contextlib.suppress(OSError):
            found[pid] = costs.spent(pid)
    return found


def _memory(home: Path, seconds: float) -> list[dict[str, float]]:
    """The memory of all processes there, looked at again and again for so long."""
    found: list[dict[str, float]] = []
    until = time.monotonic() + seconds
    while not found or time.monotonic() < until:
        sizes = []
        for pid in processes_in(home):
            with contextlib.suppress(OSError):
                sizes.append(costs.memory(pid))
        found.append({kind: sum(one[kind] for one in sizes) for kind in ("pss", "uss")})
        time.sleep(LOOK_S)
    return found
