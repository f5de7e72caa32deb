"""The measurements.  Each gives numbers by name, and lists of them where there are many."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import costs
import dags
import events
from place import Failed, Place

Numbers = dict[str, list[float]]


@dataclass(frozen=True)
class Sizes:
    """How much is measured: nodes of the chain and the bag, seconds of idling, and rounds."""

    chain: int
    bag: int
    idle: float
    rounds: int


FULL = Sizes(chain=20, bag=1000, idle=60.0, rounds=1)
QUICK = Sizes(chain=5, bag=200, idle=10.0, rounds=1)

STEP_PATIENCE = 30.0  # seconds for one node of a chain
BAG_PATIENCE = 600.0
SETTLE = 10.0  # seconds after which a DAGMan with a running job has nothing more to do


def chain(place: Place, which: str, sizes: Sizes) -> Numbers:
    """Reaction times, start and duration of a chain."""
    directory = place.new_directory(f"chain-{which}")
    dags.chain(directory, sizes.chain)
    dagman, nodes = _run(place, directory, which, STEP_PATIENCE * sizes.chain + 60)
    first = events.times(nodes, events.SUBMIT)[0]
    return {
        "reaction": events.reactions(nodes),
        "start": [first - events.times(dagman, events.EXECUTE)[0]],
        "chain": [_duration(dagman)],
    }


def bag(place: Place, which: str, sizes: Sizes) -> Numbers:
    """Submit rate and duration of a bag; `which` may be 'floor', which has no DAGMan."""
    directory = place.new_directory(f"bag-{which}")
    if which == "floor":
        return _rate("rate", place.floor(directory, sizes.bag, dags.NOOP))
    dags.bag(directory, sizes.bag, dags.NOOP)
    dagman, nodes = _run(place, directory, which, BAG_PATIENCE)
    return {**_rate("rate", nodes), "bag": [_duration(dagman)]}


def held(place: Place, which: str, sizes: Sizes) -> Numbers:
    """Submit rate of a bag of jobs that are never started; `which` as of `bag`."""
    directory = place.new_directory(f"held-{which}")
    try:
        if which == "floor":
            return _rate("held rate", place.floor(directory, sizes.bag, dags.HELD))
        dags.bag(directory, sizes.bag, dags.HELD)
        place.submit(directory, which)
        log = directory / f"{dags.NAME}.nodes.log"
        _wait_events(log, events.SUBMIT, sizes.bag, BAG_PATIENCE)
        return _rate("held rate", events.read(log))
    finally:
        place.run("condor_rm", "-all")


def idle(place: Place, which: str, sizes: Sizes) -> Numbers:
    """CPU and memory of a DAGMan whose only job sleeps."""
    directory = place.new_directory(f"idle-{which}")
    dags.sleeper(directory)
    cluster = place.submit(directory, which)
    try:
        pid = place.dagman_pid(directory)
        _wait_events(directory / f"{dags.NAME}.nodes.log", events.EXECUTE, 1, 60)
        time.sleep(SETTLE)
        before = costs.cpu_seconds(pid)
        time.sleep(sizes.idle)
        used = costs.cpu_seconds(pid) - before
        memory = costs.memory(pid)
    except OSError as error:
        raise Failed(f"can't look at DAGMan's process: {error.strerror}") from None
    finally:
        place.run("condor_rm", str(cluster))
    return {"cpu": [used * 60 / sizes.idle], "rss": [memory["rss"]], "pss": [memory["pss"]]}


STEPS: dict[str, tuple[Callable[[Place, str, Sizes], Numbers], list[str]]] = {
    "held": (held, ["floor", "stock", "ours"]),
    "bag": (bag, ["floor", "stock", "ours"]),
    "chain": (chain, ["stock", "ours"]),
    "idle": (idle, ["stock", "ours"]),
}


def everything(
    place: Place, sizes: Sizes, steps: Iterable[str], say: Callable[[str], None]
) -> dict[str, Numbers]:
    """The measurements named; who comes first changes from round to round and step to step.

    A pool that has just come up is slow, so a small bag goes before, which does not count.

    Returns:
        Numbers for 'floor', 'stock' and 'ours'; what failed is said and missing.
    """
    results: dict[str, Numbers] = {"floor": {}, "stock": {}, "ours": {}}
    say("warming up")
    bag(place, "floor", dataclasses.replace(sizes, bag=100))
    for number in range(sizes.rounds):
        for index, name in enumerate(steps):
            step, subjects = STEPS[name]
            for which in subjects if (number + index) % 2 == 0 else reversed(subjects):
                say(f"round {number + 1}: {name}, {which}")
                try:
                    found = step(place, which, sizes)
                except Failed as error:
                    say(f"  failed: {error}")
                    continue
                for key, values in found.items():
                    results[which].setdefault(key, []).extend(values)
    return results


def _run(
    place: Place, directory: Path, which: str, patience: float
) -> tuple[list[events.Event], list[events.Event]]:
    """Run the DAG there; returns the events of the DAGMan job and of its nodes."""
    place.submit(directory, which)
    dagman = place.wait_end(directory, patience)
    nodes = events.read(directory / f"{dags.NAME}.nodes.log")
    ends = events.times(nodes, events.TERMINATED)
    if not ends:
        raise Failed(f"no node has run; look into {directory}")
    return dagman, nodes


def _duration(dagman: list[events.Event]) -> float:
    """Seconds from submit to end of the DAGMan job: what its user waits."""
    return dagman[-1].time - dagman[0].time


def _rate(name: str, log: list[events.Event]) -> Numbers:
    found = events.rate(log)
    return {} if found is None else {name: [found]}


def _wait_events(log: Path, kind: int, count: int, patience: float) -> None:
    """Wait until the log has that many events of a kind."""
    limit = time.monotonic() + patience
    while len(events.times(events.read(log), kind)) < count:
        if time.monotonic() > limit:
            raise Failed(f"{log} does not get {count} events of kind {kind}")
        time.sleep(0.5)
