"""Questions about a node with a CACHE command; `result_cache` decides whether it runs."""

from __future__ import annotations

from condor_pydagman.engine.node_states import CLEANING, SKIPPED, State
from condor_pydagman.engine.state import Mode, RunState
from condor_pydagman.graph.model import DONE, USER_DONE


def waits(run: RunState, node: int) -> bool:
    """Whether a node whose turn has come must not start before it is looked up."""
    if not run.cache.holds_back(node) or run.mode is not Mode.RUN:
        return False
    return not run.nodes.marks[node] & CLEANING


def is_open(run: RunState, node: int) -> bool:
    """Whether the node's turn has come, and it is to be decided whether it runs."""
    waiting = run.nodes.states[node] == State.WAITING
    return waiting and run.cache.holds_back(node) and run.nodes.may_start(node)


def result_of(run: RunState, node: int) -> str:
    """The name of what a node has made, '' if it is not known.

    Only of nodes with a CACHE command it is known when they make anything new.
    """
    if run.nodes.states[node] != State.DONE or node not in run.cache:
        return ""
    result = run.cache.made.get(node)
    if result is not None:
        return result
    known = run.cache.known.get(run.dag.names[node], "")
    if run.nodes.marks[node] & SKIPPED:
        return f"skipped {known}"
    flags = run.dag.flags[node]
    return known if flags & DONE and not flags & USER_DONE else ""  # else a person has done it
