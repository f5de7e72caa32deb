"""Every invariant of the engine, recounted from scratch.  Tests run with this after each input."""

from __future__ import annotations

from typing import TYPE_CHECKING

from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.jobs import ENDED as PROC_ENDED
from condor_pydagman.engine.jobs import HELD, IDLE
from condor_pydagman.engine.node_states import State

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine


def validate(engine: Engine) -> None:
    """Raise AssertionError, with the numbers, if any invariant does not hold."""
    _counts(engine)
    _procs(engine)
    _ready(engine)
    _parents(engine)
    _throttles(engine)
    _special(engine)


def _counts(engine: Engine) -> None:
    nodes = engine.nodes
    recount, services = [0] * len(State), [0] * len(State)
    for node, state in enumerate(nodes.states):
        (services if node in nodes.services else recount)[state] += 1
    assert recount == nodes.counts, (recount, nodes.counts)
    assert services == nodes.service_counts, (services, nodes.service_counts)


def _procs(engine: Engine) -> None:
    idle = held = 0
    for jobs in engine.book.by_node.values():
        for flags in jobs.procs.values():
            assert not (flags & PROC_ENDED and flags & (IDLE | HELD)), flags
            assert flags & IDLE or not flags & HELD, flags
            idle += bool(flags & IDLE)
            held += bool(flags & HELD)
    assert (idle, held) == (engine.book.idle, engine.book.held), (idle, held)
    for cluster, node in engine.book.by_cluster.items():
        assert engine.book.by_node[node].cluster == cluster, (cluster, node)


def _ready(engine: Engine) -> None:
    """Every READY node is queued or set aside, and nothing else is."""
    aside = set(engine.categories.waiting())
    for node, state in enumerate(engine.nodes.states):
        if state == State.READY:
            assert (node in engine.ready) or (node in aside), engine.nodes.story(node)
        else:
            assert node not in engine.ready, engine.nodes.story(node)


def _parents(engine: Engine) -> None:
    """A node past WAITING has only DONE parents, unless a user marked it DONE; a weak one may have
    failed."""
    states = engine.nodes.states
    for node, state in enumerate(states):
        if state in (State.WAITING, State.DONE, State.FUTILE):
            continue
        for parent in engine.dag.parents(node):
            weak = states[parent] == State.FAILED and engine.dag.is_weak(parent, node)
            assert weak or states[parent] == State.DONE, engine.nodes.story(node)


def _throttles(engine: Engine) -> None:
    counts, limits = engine.nodes.counts, engine.limits
    if engine.limits_changed:
        return  # more may run than could start now
    if limits.pre:
        assert counts[State.PRE_RUN] <= limits.pre
    if limits.post:
        assert counts[State.POST_RUN] <= limits.post
    if limits.hold:
        assert engine.hold_scripts.running <= limits.hold


def _special(engine: Engine) -> None:
    """While the FINAL node runs nothing else is ready; before the go-ahead, nothing is begun."""
    states = engine.nodes.states
    if engine.phase is Phase.FINISHING:
        for node in engine.nodes.in_state(State.READY, State.RETRY_WAIT):
            assert node == engine.final, engine.nodes.story(node)
    if not engine.provisioner.ready and not engine.recovering:
        for node, state in enumerate(states):
            free = node == engine.provisioner.node or node in engine.nodes.services
            free = free or node == engine.final
            assert free or state in (State.WAITING, State.DONE, State.FUTILE), node
    for node in engine.nodes.in_state(State.RETRY_WAIT):
        assert engine.retry_queue.due(node) is not None, engine.nodes.story(node)
