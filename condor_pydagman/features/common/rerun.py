"""A node that has ended runs anew: its result is taken back, and its children wait for it again.

Children that have begun have used the old result.  So they must run anew as well, with all that
follows from them, or the node must not.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain

from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.node_states import ALONE, NOT_BEGUN, Anew, Cause, State, shown
from condor_pydagman.engine.state import RunState
from condor_pydagman.vocabulary import ScriptKind

_ENDED = (State.DONE, State.FAILED)
_UNTOUCHED = NOT_BEGUN | {State.FUTILE}


def obstacle(run: RunState, node: int) -> str:
    """Why a node that has ended can't run anew by itself; '' if it can."""
    for child in _released(run, node):
        if run.nodes.states[child] not in _UNTOUCHED:
            return f"its child {run.dag.names[child]} has started; it would have to run again too"
    return ""


def obstacle_below(run: RunState, node: int, known: dict[int, str]) -> str:
    """Why a node that has ended can't run anew with its descendants; '' if it can.

    `known`: what was found at the same time, so that each node is looked at once for many.
    """
    waiting, begun = [node], set[int]()
    while waiting:
        one = waiting.pop()
        if one in known:
            continue
        why, unknown = _obstacle_beside(run, one, known)
        if not why and one in begun and unknown:
            why = f"its descendant {run.dag.names[one]} would wait for itself: a cycle"
        if why or not unknown:
            known[one] = why
        else:
            begun.add(one)
            waiting += [one, *unknown]
    return known[node]


def _obstacle_beside(run: RunState, node: int, known: dict[int, str]) -> tuple[str, list[int]]:
    """Why the node's children are in its way, and those of which that is not known yet."""
    unknown = []
    for child in _released(run, node):
        state = State(run.nodes.states[child])
        if state in _ENDED:
            if child not in known:
                unknown.append(child)
            elif known[child]:
                return known[child], []
        elif state not in _UNTOUCHED:
            return f"its descendant {run.dag.names[child]} has not ended: {shown(state)}", []
    return "", unknown


def run_again(run: RunState, node: int, *, with_descendants: bool) -> list[int]:
    """Take back what has ended; what has no unfinished parent starts.  Returns what runs again."""
    nodes = _with_descendants(run, [node]) if with_descendants else [node]
    for one in nodes:
        if run.nodes.gated.watched:
            _decide_anew(run, one, nodes)
        for child in take_back(run, one):
            if run.nodes.states[child] in NOT_BEGUN and run.nodes.states[child] != State.WAITING:
                _wait_again(run, child)
        for begins_anew in run.hooks.begins_anew:
            begins_anew(one, Anew.BY_PERSON)
    lifecycle.start_all(run, [one for one in nodes if run.nodes.may_start(one)])
    return nodes


def with_descendants(run: RunState, nodes: Iterable[int]) -> set[int]:
    """Nodes that have ended, and what would run again with them."""
    return set(_with_descendants(run, nodes))


def _decide_anew(run: RunState, node: int, nodes: Sequence[int]) -> None:
    """The node is to run anew: what was decided of nodes by its end counts no more."""
    gated = run.nodes.gated
    for child in _decided(run, node):
        if child in nodes or not gated.has_come(child):
            continue  # it ends anew itself, or nothing has been decided
        if run.nodes.states[child] not in NOT_BEGUN:
            continue  # a person has just ended it, by a command on its way beside this one
        if run.nodes.states[child] != State.WAITING:
            leave_queues(run, child)
            run.nodes.move(child, Cause.DROPPED, run.now)
        lifecycle.begin_anew(run, child)


def _decided(run: RunState, node: int) -> list[int]:
    """Nodes decided by the end of this node, or by that of a node which it made futile."""
    found: dict[int, None] = {}
    todo, seen = [node], {node}
    for one in todo:  # which grows meanwhile
        found.update(dict.fromkeys(run.nodes.gated.children_waiting(one)))
        for child in run.dag.children(one):
            if run.nodes.states[child] == State.FUTILE and child not in seen:
                seen.add(child)
                todo.append(child)
    return list(found)


def take_back(run: RunState, node: int) -> list[int]:
    """What a node that has ended has done counts no more; returns the children that had no
    unfinished parent, and have one now."""
    failed = run.nodes.states[node] == State.FAILED
    for before_taken_back in run.hooks.before_taken_back:
        before_taken_back(node)
    run.nodes.move(node, Cause.RUN_AGAIN, run.now)
    if not failed:
        taken = run.nodes.take_back(node)
    elif run.nodes.marks[node] & ALONE:
        taken = []
    else:
        taken = run.nodes.take_back(node, weak_only=True)
    if failed:
        run.nodes.forget_error(node)
    run.nodes.not_failed(node)
    lifecycle.begin_anew(run, node)
    return taken


def _wait_again(run: RunState, child: int) -> None:
    """A child of which nothing is in the queue waits for its parents again, of which one may have
    failed since; its PRE script, if it has run, is to run anew.

    If it starts over it does so anyhow; a replay has not dropped it yet.
    """
    sites = run.features.get("sites")
    had_pre = run.nodes.states[child] == State.READY and (
        run.dag.script(child, ScriptKind.PRE) is not None
        and not (sites is not None and sites.leaves(child))
    )
    leave_queues(run, child)
    run.nodes.move(child, Cause.DROPPED, run.now)
    run.nodes.not_failed(child)
    for begins_anew in run.hooks.begins_anew:
        begins_anew(child, Anew.WAITS)
    if had_pre:
        lifecycle.begin_anew(run, child)


def wait_for_more(run: RunState, node: int) -> None:
    """A node that has not begun gets further parents.

    In a replay it may still wait for a retry, the delay of which had passed when it got them.
    """
    state = run.nodes.states[node]
    if state in NOT_BEGUN and state != State.WAITING:
        _wait_again(run, node)


def leave_queues(run: RunState, node: int) -> None:
    """The node, of which nothing has begun, is not started for now."""
    run.ready.discard(node)
    run.categories.forget(node)
    run.scripts.pre.discard(node)
    run.retrying.queue.discard(node)
    run.save_points.forget(node)


def _released(run: RunState, node: int) -> Iterable[int]:
    """The nodes for which the node counts as ended."""
    decided = _decided(run, node) if run.nodes.gated.watched else ()
    if run.nodes.states[node] != State.FAILED:
        return chain(run.dag.children(node), decided)
    if run.nodes.marks[node] & ALONE:
        return decided
    weak = (child for child in run.dag.children(node) if run.dag.is_weak(node, child))
    return chain(weak, decided)


def _with_descendants(run: RunState, nodes: Iterable[int]) -> list[int]:
    """The nodes and those of their descendants that have ended."""
    found = list(nodes)
    known = set(found)
    for one in found:  # which grows meanwhile
        for child in _released(run, one):
            if run.nodes.states[child] in _ENDED and child not in known:
                known.add(child)
                found.append(child)
    return found
