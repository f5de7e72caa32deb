"""The measurements of peers, and of DAGMan with the same tasks: processes of /bin/true.

Of each a single task, a chain and a bag are run, from the start of the program to its end, or from
the submit of the DAGMan job to its end.  What a single task takes is the program's own start and
end, and does not count in the cost of a step and of a task.  A program that starts slowly, and each
time in another time, tells itself what its tasks have taken after a first one.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

from benchmarks import dags, events, peers, pool_steps
from benchmarks.bundle_cases import Case, chained, run_case
from benchmarks.place import Failed, Place
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import BUNDLES


class Took(NamedTuple):
    """Seconds from start to end, and for the tasks after the first one if the program told."""

    whole: float
    tasks: float | None = None


Run = Callable[[str, int], Took]  # of a kind ('chain' or 'bag') and a number of tasks


def take(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """A single task, a step of a chain, the tasks of a bag in a second."""
    if subject in peers.PEERS:
        return _peer(place, subject, sizes)
    return (_bundled if subject in BUNDLES else _dagman)(place, subject, sizes)


def _dagman(place: Place, subject: str, sizes: Sizes) -> Numbers:

    def run(kind: str, count: int) -> Took:
        make = dags.chain if kind == "chain" else dags.bag
        return Took(pool_steps.run_dag(place, subject, f"peer-{kind}", make(count, dags.TRUE))[1])

    return numbers(run, sizes.pool_chain, sizes.noop)


def _bundled(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """As many as peers that start processes by themselves."""
    case = chained()[subject]

    def run(kind: str, count: int) -> Took:
        if kind == "chain":
            return run_chain(place, case, count)
        return Took(run_case(place, case, count)[0].seconds)

    return numbers(run, sizes.peer_chain, sizes.peer_bag)


def run_chain(place: Place, case: Case, length: int) -> Took:
    """Run a DAG of one chain; the nodes log tells what steps have taken."""
    took, directory = run_case(place, case, 1, length)
    return Took(took.seconds, _after_first(directory / f"{dags.NAME}.nodes.log", length))


def _after_first(log: Path, steps: int) -> float:
    """Seconds from the end of the first step to that of the last; that of their job, if there is
    one, is later."""
    ends = sorted(events.times(events.read(log), events.TERMINATED))
    return ends[steps - 1] - ends[0]


def _peer(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Those whose tasks are jobs of the pool run as many as DAGMan."""

    def run(kind: str, count: int) -> Took:
        return run_peer(place, subject, kind, count)

    if peers.PEERS[subject].pool:
        return numbers(run, sizes.pool_chain, sizes.noop)
    return numbers(run, sizes.peer_chain, sizes.peer_bag)


def run_peer(place: Place, subject: str, kind: str, count: int) -> Took:
    """Run a peer's program with a chain or a bag of so many tasks; Failed if there is none."""
    chosen = peers.PEERS[subject]
    if chosen.program not in peers.versions():
        raise Failed(f"{chosen.program} is not installed")
    directory = place.new_directory(f"{subject}-{kind}")
    argv = peers.command(chosen, kind, count, directory, place.environment()["PATH"])
    ((seconds, said),) = place.run_each([(argv, directory)])
    _check(directory, chosen, count)
    told = dict(re.findall(r"^(seconds|tasks) (\S+)$", said, re.M))
    whole = float(told.get("seconds", seconds))
    return Took(whole, float(told["tasks"]) if "tasks" in told else None)


def _check(directory: Path, chosen: peers.Peer, count: int) -> None:
    """Where there is a file for each task that has been done, they must all be there."""
    if chosen.done:
        found = len(list(directory.glob(chosen.done)))
        if found != count:
            raise Failed(f"{chosen.title}: {found} of {count} tasks have been done")


def numbers(run: Run, chain: int, bag: int) -> Numbers:
    """The numbers of a program.

    Args:
        chain: how many tasks it has.
        bag: the same.
    """
    one = run("chain", 1).whole
    found: Numbers = {"peer one": [one]}
    step, task = (
        _each(run(kind, count), one, count) for kind, count in (("chain", chain), ("bag", bag))
    )
    if step > 0:
        found["peer step"] = [step]
    if task > 0:
        found["peer rate"] = [1 / task]
    return found


def _each(took: Took, one: float, count: int) -> float:
    return (took.whole - one if took.tasks is None else took.tasks) / (count - 1)
