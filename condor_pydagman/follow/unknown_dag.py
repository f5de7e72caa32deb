"""A DAG whose files can't be read: nodes are known as the log names them, and states as far as it
tells.

Nobody knows which scripts and retries its nodes have.  So an attempt that has failed counts as the
end of its node, until the log shows another one.
"""

from __future__ import annotations

from collections.abc import Iterable

from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.common import rerun
from condor_pydagman.graph.build import BuildOptions, build
from condor_pydagman.graph.grow import extend, numbered
from condor_pydagman.graph.model import Dag, Retry
from condor_pydagman.graph.problems import DagFileErrors
from condor_pydagman.graph.stepwise import at_once
from condor_pydagman.vocabulary import EventKind, JournalRecord

_FILE = "unknown.dag"
_FOR_EVER = 1 << 30  # retries, and seconds before the next of them
_OPTIONS = BuildOptions(allow_any_node_name_characters=True)
_SUBMISSIONS = (EventKind.SUBMIT, EventKind.CLUSTER_SUBMIT)
_BEFORE_JOBS = (JournalRecord.PRE_ENDED, JournalRecord.SUBMIT_FAILED)


def unknown_dag() -> Dag:
    """A DAG of which nothing is known."""
    return build([_FILE], lambda _: "", _OPTIONS)


def is_unknown(dag: Dag) -> bool:
    """Whether it is such a DAG."""
    return dag.files == [_FILE]


def begin_anew(run: RunState, event: LogEvent) -> None:
    """If this is a submission of a node that had ended well by its jobs, its POST script has
    failed, and it is tried again; what has no job is tried again as records say."""
    if event.record in _BEFORE_JOBS:
        tried = run.dag.find(event.node)
        if tried is not None and run.nodes.retries.get(tried, 0) < event.retry:
            run.nodes.set_retries(tried, event.retry)
        return
    node = run.dag.find(event.node) if event.kind in _SUBMISSIONS else None
    if node is None or run.nodes.states[node] != State.DONE:
        return
    if event.cluster != run.nodes.clusters[node]:
        rerun.run_again(run, node, with_descendants=False)


def _dag_of(names: Iterable[str]) -> Dag:
    text = "".join(f"JOB {name} unknown.sub\n" for name in names)
    return build([_FILE], lambda _: text, _OPTIONS)


def _can_be_node(name: str) -> bool:
    try:
        return len(_dag_of([name])) == 1
    except DagFileErrors:
        return False


def add_nodes(run: RunState, names: Iterable[str]) -> None:
    """The log names these nodes: those that are new are added."""
    new = [name for name in dict.fromkeys(names) if name and run.dag.find(name) is None]
    if not new:
        return
    try:
        piece = _dag_of(new)
    except DagFileErrors:  # the log is damaged
        piece = _dag_of(filter(_can_be_node, new))
    growth = extend(run.dag, at_once(numbered(run.dag, piece)))
    for node in growth.nodes:
        run.dag.retries[node] = Retry(_FOR_EVER, delay=_FOR_EVER)
    free = run.nodes.grow(growth)
    lifecycle.start_all(run, [*growth.roots, *free])
