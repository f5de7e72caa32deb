"""A DAG that grows for ever lets go of what is done, a piece at a time, so that memory is bounded.

When more nodes that were added are done than are to be kept (PYDAGMAN_KEPT_GROWN_NODES), pieces
whose nodes are all done, and on which nothing in the DAG depends any more, are named in a record of
the nodes log.  They leave the DAG when that has been read back, live and in recovery mode alike: a
name that is free then may be used again.  Their nodes go on to be counted as done.
"""

from __future__ import annotations

from collections.abc import Sequence

from condor_pydagman.engine import actions as do
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.growth_records import LET_GO, PIECE
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import OF_NODE, RunState
from condor_pydagman.engine.steering_records import commanded
from condor_pydagman.graph.let_go import let_go, numbers, waits_for
from condor_pydagman.graph.parts import Brought
from condor_pydagman.printable import number_of
from condor_pydagman.vocabulary import NO_NODE, JournalRecord

_SHARE, _SHARE_WHILE_READING = 10, 25  # per cent of those that are kept
MAX_PIECES = 70  # in one record, which has room for so many numbers
LOOKED_AT = 4  # nodes that are looked at for each that is added, and
LOOKED_AT_LEAST = 100  # whatever the size of a piece


def work(run: RunState) -> None:
    """Let go of pieces, if too many nodes are kept."""
    growth = run.growth
    if not run.written.of(LET_GO) and growth.pop_has_grown() and _is_due(run):
        found = _found(run, growth.pop_grown_by())
        if found:
            text = " ".join(map(str, found))
            brought = run.dag.brought
            growth.begin_to_let_go(node for number in found for node in brought[number].nodes)
            record = do.AppendJournalRecord(JournalRecord.LET_GO, NO_NODE, 0, 0, text=text)
            run.write(LET_GO, text, record)


def _is_due(run: RunState) -> bool:
    """Whether the DAG has grown, and many more nodes are kept than are to be.

    What is being read for the DAG as it is must be read anew then, so that is waited for, not for
    ever.
    """
    most, growth = run.config.kept_grown_nodes, run.growth
    if not most or run.written.of(PIECE) or run.phase is not Phase.RUNNING or run.is_over:
        return False
    share = _SHARE_WHILE_READING if growth.wanting or run.feeder.asked else _SHARE
    return kept_done(run) - most > most * share // 100


def _found(run: RunState, added: int) -> list[int]:
    """Pieces of which to let go, after so many nodes were added."""
    growth = run.growth
    surplus = kept_done(run) - run.config.kept_grown_nodes
    left = LOOKED_AT_LEAST + LOOKED_AT * added
    found: list[int] = []
    looked = 0
    for number in growth.kept:
        if surplus <= 0 or left <= 0 or len(found) == MAX_PIECES:
            break
        looked += 1
        brought = run.dag.brought[number]
        left -= len(brought.nodes) + 1
        if is_over(run, brought) and _is_quiet(run, brought.nodes):
            found.append(number)
            surplus -= max(len(brought.nodes), 1)
    growth.look_later(looked)
    return found


def kept_done(run: RunState) -> int:
    """How many of the nodes that were added are done and kept."""
    return run.nodes.states.count(State.DONE, run.growth.of_files) - len(run.dag.free)


def is_over(run: RunState, brought: Brought) -> bool:
    """Whether nothing in the DAG depends on the nodes of a piece any more.

    It follows from the nodes log alone: a replay comes to the same.
    """
    states, nodes = run.nodes.states, run.nodes
    if any(states[node] != State.DONE for node in brought.nodes):
        return False
    own = set(brought.nodes)
    for node in brought.nodes:
        if any(is_needed(node) for is_needed in run.hooks.is_needed):
            return False
        if not own.issuperset(nodes.turns.children_waiting(node)):
            return False
    return all(states[node] == State.DONE for node in waits_for(run.dag, brought))


def _is_quiet(run: RunState, nodes: Sequence[int]) -> bool:
    """Whether nothing of done nodes is on its way."""
    steered, written = commanded(run.written), run.written.of(OF_NODE)
    return not any(
        node in steered
        or node in run.job_table.by_node
        or node in written
        or node in run.cache.keeping
        or not all(may_leave(node) for may_leave in run.hooks.may_leave)
        for node in nodes
    )


def on_let_go(run: RunState, _node: int, event: LogEvent) -> None:
    """The record has been read: the pieces leave the DAG, unless a person has nodes run anew."""
    growth = run.growth
    if run.written.drop(LET_GO, event.text):  # an earlier one may have been written twice
        growth.has_let_go()
    count = 0
    for number in numbers(event.text):
        brought = run.dag.brought.get(number)
        if brought is not None and is_over(run, brought):
            growth.let_go(number, [run.dag.names[node] for node in brought.nodes])
            let_go(run.dag, number)
            _forget(run, brought)
            count += len(brought.nodes)
    run.say(f"{number_of(count, 'node')} done and removed from memory, {kept_done(run)} kept")


def _forget(run: RunState, brought: Brought) -> None:
    run.nodes.let_go(brought)
    for node in brought.nodes:
        run.job_table.forget(node)
        run.written.drop(OF_NODE, node)
        run.cache.forget(node)
        run.cache.kept(node)
        run.retrying.let_go(node)
        run.scripts.let_go(node)
        run.submission.let_go(node)
        run.save_points.forget(node)
        run.jobstate_lines.forget(node)
        run.steering.let_go(node)
        run.categories.let_go(node)
        run.query.let_go(node)
        for node_left in run.hooks.node_left:
            node_left(node)
