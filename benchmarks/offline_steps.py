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
TIMEOUT_S = 300.0


def load(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory of condor_dagman from its start until it has loaded a DAG and ended."""
    directory = _directory(place, f"load-{subject}")
    binaries = {subject: place.commands[subject]}
    version = loading.stock_version(place.commands[STOCK])
    measurement = loading.Measurement(directory, binaries, version, TIMEOUT_S)
    found: Numbers = {}
    try:
        for shape, nodes in sizes.loads:
            costs, _ = measurement.costs(loading.Case(shape), nodes, 1, (PROGRAM,))
            cost = costs[PROGRAM][subject]
            if cost.failure:
                raise Failed(f"{shape}, {nodes} nodes: {cost.failure}")
            found[f"load time {shape} {nodes}"] = [cost.seconds]
            found[f"load memory {shape} {nodes}"] = [cost.memory]
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    return found


def recovery(place: Place, subject: str, sizes: Sizes) -> Numbers:
    """Time and memory until a DAGMan that died with one node to go has recovered."""
    directory = _directory(place, f"recovery-{subject}")
    shapes.write(recovering.SHAPE, sizes.recovery, directory)
    version = loading.stock_version(place.commands[STOCK])
    run = recovering.Recovery(
        directory, sizes.recovery, post=False, version=version, timeout_s=TIMEOUT_S
    )
    try:
        cost = run.run(
            Path(place.program(subject)), sizes.recovery - 1, knobs(subject, place.knobs)
        )
    finally:
        shutil.rmtree(directory, ignore_errors=True)
    if cost.failure:
        raise Failed(cost.failure)
    return {"recovery time": [cost.seconds], "recovery memory": [cost.memory]}


def engine(_: Place, __: str, sizes: Sizes) -> Numbers:
    """Inputs a second that the engine takes, of a layered DAG, by CPU time."""
    rates = {nodes: engine_alone.apart("layers", nodes, False).rate for nodes in sizes.engine}
    return {f"engine rate {nodes}": [rate] for nodes, rate in rates.items()}


def _directory(place: Place, name: str) -> Path:
    """A directory that the user of the pool may write to."""
    directory = place.new_directory(name)
    directory.chmod(0o777)
    return directory
