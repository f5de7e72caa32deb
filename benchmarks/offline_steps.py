"""The measurements that need no pool: to load a DAG, to recover it, and the engine alone."""

from __future__ import annotations

import shutil
from pathlib import Path

from benchmarks import engine as engine_alone
from benchmarks import load as loading
from benchmarks import recovery as recovering
from benchmarks import shapes
from benchmarks.place import Failed, Place
from benchmarks.sizes import Numbers, Sizes
from benchmarks.subjects import STOCK, knobs

PROGRAM = "condor_dagman"
TIMEOUT_S = 900.0


def load(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory of condor_dagman from its start until it has loaded a DAG and ended."""
    found: Numbers = {}
    for shape, nodes in sizes.loads:
        seconds, memory = load_one(place, subject, shape, nodes)
        found[f"load time {shape} {nodes}"] = [seconds]
        found[f"load memory {shape} {nodes}"] = [memory]
    return found


def load_one(place: Place, subject: str, shape: str, nodes: int) -> tuple[float, float]:
    """Seconds and MB of one DAG; Failed if it is not loaded."""
    directory = _directory(place, f"load-{subject}")
    binaries = {subject: place.commands[subject]}
    version = loading.stock_version(place.commands[STOCK])
    measurement = loading.Measurement(directory, binaries, version, TIMEOUT_S)
    try:
        costs, _ = measurement.costs(loading.Case(shape), nodes, 1, (PROGRAM,))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    cost = costs[PROGRAM][subject]
    if cost.failure:
        raise Failed(f"{shape}, {nodes} nodes: {cost.failure}")
    return cost.seconds, cost.memory


def recovery(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory until a DAGMan that died with one node to go has recovered."""
    seconds, memory = recover(place, subject, sizes.recovery)
    return {"recovery time": [seconds], "recovery memory": [memory]}


def recover(place: Place, subject: str, nodes: int) -> tuple[float, float]:
    """Seconds and MB of one DAG; Failed if it is not recovered."""
    directory = _directory(place, f"recovery-{subject}")
    shapes.write(recovering.SHAPE, nodes, directory)
    version = loading.stock_version(place.commands[STOCK])
    run = recovering.Recovery(directory, nodes, post=False, version=version, timeout_s=TIMEOUT_S)
    try:
        cost = run.run(Path(place.program(subject)), nodes - 1, knobs(subject, place.knobs))
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if cost.failure:
        raise Failed(f"{nodes} nodes: {cost.failure}")
    return cost.seconds, cost.memory


def engine(_: Place, __: str, sizes: Sizes) -> Numbers:
    """Inputs a second that the engine takes, of a layered DAG, by CPU time."""
    rates = {nodes: engine_alone.apart("layers", nodes, False).rate for nodes in sizes.engine}
    return {f"engine rate {nodes}": [rate] for nodes, rate in rates.items()}


def _directory(place: Place, name: str) -> Path:
    """A directory that the user of the pool may write to."""
    directory = place.new_directory(name)
    directory.chmod(0o777)
    return directory
