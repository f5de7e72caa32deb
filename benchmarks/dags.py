"""The DAGs that are measured, written for DAGMan and for the bare loop over the bindings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from tests.workflows import shapes

NAME = "b.dag"
FLOOR_NAME = "floor.json"

# A no-op job has all its events but runs nothing and needs no slot: what is left is DAGMan's time
# and the schedd's.
NOOP = "executable = /bin/true\nnoop_job = true\n"
TRUE = "executable = /bin/true\n"
# A held job is never started: while such jobs are submitted, the schedd does nothing else.
HELD = "executable = /bin/true\nhold = true\n"
# A job that waits whether it is held or released.
WAITING = "executable = /bin/true\nhold = true\nrequirements = False\n"
SLEEPER = "universe = scheduler\nexecutable = /bin/sleep\narguments = 3600\n"
# A job of a workflow runs for whole seconds that its kind has.  It needs no slot: when a pool finds
# one for a job is chance, of seconds, and would hide what DAGMan takes.
SLEEP = """\
universe = scheduler
executable = /bin/sleep
arguments = {seconds}
"""
RUN_TIMES_S = (1, 2, 1)

# What DAGMan says of a node's job beside its submit file, so much text at least; `node` is a
# variable of the submit description.
LIKE_A_NODE = """\
MY.DAGParentNodeNames = ""
batch_name = b.dag+1
batch_id = 1.0
dag_node_name = $(node)
submit_event_notes = DAG Node: $(node)
MY.DAGManNodesMask = "0,1,2,4,5,7,8,9,10,11,12,13,16,17,24,27,35,36"
MY.DAGManJobId = 1
"""

# What DAGMan gives a job that has children (DAGMAN_HOLD_CLAIM_TIME): the next may use its slot.
KEEP_CLAIM = "keep_claim_idle = 20\n"


@dataclass(frozen=True)
class Workload:
    """A DAG.

    Attributes:
        jobs: kind of job -> its submit description without `queue`.
        nodes: node -> kind.
        edges: each of the parents is a parent of each of the children.
    """

    jobs: dict[str, str]
    nodes: dict[str, str]
    edges: list[tuple[list[str], list[str]]]

    def write(self, directory: Path) -> None:
        """Write the DAG, its submit files, and the same for the bare loop."""
        for kind, text in self.jobs.items():
            (directory / f"{kind}.sub").write_text(f"{text}queue\n", encoding="ascii")
        lines = [f"JOB {node} {kind}.sub" for node, kind in self.nodes.items()]
        lines += [f"PARENT {' '.join(some)} CHILD {' '.join(more)}" for some, more in self.edges]
        (directory / NAME).write_text("".join(f"{line}\n" for line in lines), encoding="ascii")
        (directory / FLOOR_NAME).write_text(json.dumps(self._for_floor()), encoding="ascii")

    def _for_floor(self) -> dict[str, object]:
        parents = {parent for some, _ in self.edges for parent in some}
        nodes = {
            node: self.jobs[kind] + (KEEP_CLAIM if node in parents else "")
            for node, kind in self.nodes.items()
        }
        return {"nodes": nodes, "edges": self.edges}


def chain(length: int, job: str = NOOP) -> Workload:
    """Nodes, each the child of the one before."""
    return chains(1, length, job)


def chains(number: int, length: int, job: str) -> Workload:
    """So many chains, of which none waits for another."""
    nodes = _named("N", number * length)
    pairs = enumerate(zip(nodes, nodes[1:]), start=1)
    return _uniform(job, nodes, [([one], [other]) for n, (one, other) in pairs if n % length])


def bag(size: int, job: str) -> Workload:
    """Nodes that wait for nothing."""
    return _uniform(job, _named("N", size), [])


def fan(width: int) -> Workload:
    """One no-op node, then many, then one."""
    middle = _named("N", width)
    return _uniform(NOOP, ["first", *middle, "last"], [(["first"], middle), (middle, ["last"])])


def product(width: int) -> Workload:
    """Two layers of no-op nodes; each of the second waits for all of the first."""
    upper, lower = _named("A", width), _named("B", width)
    return _uniform(NOOP, [*upper, *lower], [(upper, lower)])


def sleeper() -> Workload:
    """One node that outlasts the measurement."""
    return _uniform(SLEEPER, ["N0"], [])


def held() -> Workload:
    """One node whose job is on hold: it needs neither a slot nor a process."""
    return _uniform("executable = /bin/true\nhold = true\n", ["N0"], [])


def waiting(size: int) -> Workload:
    """One node whose job waits for ever, and the others for it."""
    first, *others = _named("N", size)
    return _uniform(WAITING, [first, *others], [([first], others)] if others else [])


def workflow(shape: str, size: int) -> Workload:
    """A known scientific workflow; its jobs sleep for RUN_TIMES_S, each kind for one of them."""
    made = shapes.make(shape, size)
    seconds = run_seconds(shape, size)
    return Workload(
        jobs={kind: SLEEP.format(seconds=number) for kind, number in seconds.items()},
        nodes={node: shapes.kind(node) for node in made.nodes},
        edges=_by_child(made.edges),
    )


def run_seconds(shape: str, size: int) -> dict[str, int]:
    """How long the jobs of each kind of such a workflow run."""
    kinds = dict.fromkeys(shapes.kind(node) for node in shapes.make(shape, size).nodes)
    return {kind: RUN_TIMES_S[n % len(RUN_TIMES_S)] for n, kind in enumerate(kinds)}


def _by_child(edges: list[tuple[str, str]]) -> list[tuple[list[str], list[str]]]:
    parents: dict[str, list[str]] = {}
    for parent, child in edges:
        parents.setdefault(child, []).append(parent)
    return [(names, [child]) for child, names in parents.items()]


def _uniform(job: str, nodes: list[str], edges: list[tuple[list[str], list[str]]]) -> Workload:
    return Workload({"n": job}, dict.fromkeys(nodes, "n"), edges)


def _named(letter: str, count: int) -> list[str]:
    return [f"{letter}{number}" for number in range(count)]
