"""The workflows of short tasks that are run without bundles and with them."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks import dags
from benchmarks.place import HERE

MONTAGE = HERE.parent / "examples" / "montage"
PIPELINES = 32
STEPS = {"align": 0.8, "sort": 0.4, "call": 0.6, "filter": 0.2}  # of each, and their seconds
STEP = "executable = /bin/sleep\ntransfer_executable = false\nshould_transfer_files = NO\n"


class Workflow(NamedTuple):
    """A workflow.

    Attributes:
        title: of its picture.
        nodes: how many it has.
        line: the BUNDLE line for it.
        write: writes its DAG, with all that it needs, into a directory.
        colours: of each kind of task, in the order of the legend.
        kind: of a node.
        result: a file that it makes, which is to be the same in all runs; '' if there is none.
    """

    title: str
    nodes: int
    line: str
    write: Callable[[Path], None]
    colours: Mapping[str, str]
    kind: Callable[[str], str]
    result: str = ""


def _write_montage(directory: Path) -> None:
    shutil.copy(MONTAGE / "montage.py", directory)
    shutil.copy(MONTAGE / "montage.dag", directory / dags.NAME)


def _montage_kind(node: str) -> str:
    kind = node.partition("_")[0]
    if kind in ("right", "below"):
        return "difference"
    return kind if kind in ("project", "fit", "correct") else "single tasks"


def pipelines() -> dags.Workload:
    """Pipelines of the same steps, each of which waits for the one before."""
    jobs = {kind: f"{STEP}arguments = {seconds}\n" for kind, seconds in STEPS.items()}
    names = [[f"{kind}_{number}" for kind in STEPS] for number in range(PIPELINES)]
    return dags.Workload(
        jobs,
        {name: _step(name) for steps in names for name in steps},
        [([one], [other]) for steps in names for one, other in zip(steps, steps[1:])],
    )


def _step(node: str) -> str:
    return node.partition("_")[0]


WORKFLOWS = {
    "montage": Workflow(
        "A workflow of 1,000 short tasks",
        1000,
        "BUNDLE short ALL_NODES",
        _write_montage,
        {
            "project": "#0072b2",
            "difference": "#e69f00",
            "fit": "#d55e00",
            "correct": "#56b4e9",
            "single tasks": "#000000",
        },
        _montage_kind,
        "mosaic.pgm",
    ),
    "pipelines": Workflow(
        f"{PIPELINES} pipelines of {len(STEPS)} short steps",
        PIPELINES * len(STEPS),
        "BUNDLE steps CHAINS ALL_NODES",
        lambda directory: pipelines().write(directory),
        dict(zip(STEPS, ("#0072b2", "#56b4e9", "#e69f00", "#d55e00"))),
        _step,
    ),
}
