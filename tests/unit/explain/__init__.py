"""Tests of explanations; what is known of a DAG is made by hand here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import Begin, LogEvent
from condor_pydagman.engine.node_states import PUBLISHED, State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.follow.notice import Notice
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.overview import told_apart
from condor_pydagman.follow.run_model import (
    Attempt,
    DagState,
    Hold,
    NodeRun,
    Run,
    ScriptRun,
    Start,
)
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.vocabulary import EventKind, NodeStatus

NOW = 1795000000.0
_COMMANDS = {NodeStatus.DONE: "done", NodeStatus.ERROR: "cancel"}


def dag_of(text: str) -> Dag:
    """The Dag of a DAG file `t.dag`."""
    return build(["t.dag"], lambda path: iter([text]), BuildOptions(use_join_nodes=False))


def attempt(number: int = 0, value: int | None = None, **fields: Any) -> Attempt:
    """An attempt with one job, 7.0 for the first; with a `value` it has ended."""
    found = Attempt(number)
    found.cluster, found.procs = 7 + number, 1
    found.submitted, found.hosts = NOW - 100, ("slot1@one",)
    if value is not None:
        found.value, found.ended, found.ended_procs, found.over = value, NOW - 10, 1, True
        found.failed_procs = int(value != 0)
    for name, text in fields.items():
        setattr(found, name, text)
    return found


def without_jobs(**fields: Any) -> Attempt:
    """An attempt without a job."""
    return attempt(cluster=0, procs=0, submitted=0.0, hosts=(), **fields)


def script(value: int | None) -> ScriptRun:
    """A script, which has ended if it has a value."""
    found = ScriptRun(NOW - 60)
    found.value, found.ended = value, 0.0 if value is None else NOW - 50
    return found


def hold(job: str = "7.0", code: int = 13, reason: str = "no such file") -> Hold:
    return Hold(NOW - 30, reason, code, 2, job)


def facts_of(
    text: str | None, states: dict[str, tuple[NodeStatus, list[Attempt]]], **fields: Any
) -> Facts:
    """What is known of a DAG that runs, or of the state in `fields`.

    Args:
        text: the DAG file, None if it is gone.
        states: of the nodes that have one, with their attempts; the others have what follows from
            these.
    """
    dag = dag_of(text) if text is not None else None
    run = Run()
    run.begun, run.starts = NOW - 200, [Start(NOW - 200)]
    if dag is not None:
        add_nodes(run, dag, {name: status for name, (status, _) in states.items()})
    for name, (status, attempts) in states.items():
        node = run.nodes.setdefault(name, NodeRun(name))
        node.status = status
        node.attempts, node.since = attempts, NOW - 10
    known: dict[str, Any] = {"nodes_log": "t.dag.nodes.log", "out": "t.dag.dagman.out"}
    known.update(state=DagState.RUNNING, run=run, dag=dag, cluster=3)
    known.update(counts=told_apart({}, 0, 0))
    known.update(fields)
    return Facts(name="t.dag", now=NOW, **known)


def add_nodes(run: Run, dag: Dag, ends: Mapping[str, NodeStatus]) -> None:
    """Add all nodes as the engine has them when some have ended."""
    engine = Engine(dag, Config(), Throttles(), mode=Mode.FOLLOW)
    engine.handle(Begin(recovering=True), NOW - 200)
    event = LogEvent(EventKind.GENERIC, time=NOW - 10, value=1, record="STEERED")
    for name, status in ends.items():
        if status in _COMMANDS and dag.find(name) is not None:
            engine.follow(event._replace(node=name, text=f"ann {_COMMANDS[status]}"))
    for number, name in enumerate(map(logged_name, dag.names)):
        status = PUBLISHED[State(engine.run.nodes.states[number])]
        run.nodes[name] = NodeRun(name, status)
        run.nodes[name].all_marks = bytearray([engine.run.nodes.marks[number]])


def mark(node: NodeRun, marks: int) -> None:
    """Give a node these marks (`engine.node_states`) alone."""
    node.all_marks = bytearray([marks])


def texts(finding: Notice) -> list[str]:
    """The evidence of a finding, a text each."""
    return [f"{piece.source}: {piece.text}" for piece in finding.evidence]
