"""How the ENOUGH lines of a DAG stand: reached, out of reach, or how far they are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from condor_pydagman.engine.node_states import State
from condor_pydagman.explain.graph_state import GraphState
from condor_pydagman.features.enough.commands import PARENTS, EnoughsOfDag, enoughs_of, words
from condor_pydagman.features.enough.counts import FOLLOWS, EnoughCounts
from condor_pydagman.features.enough.shown import EnoughSeen
from condor_pydagman.follow.notice import Evidence, Notice, Weight
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.printable import does, message, number_of
from condor_pydagman.vocabulary import NodeStatus

_LOST = (NodeStatus.ERROR, NodeStatus.FUTILE)
_COUNTED = {
    NodeStatus.DONE: State.DONE,
    NodeStatus.ERROR: State.FAILED,
    NodeStatus.FUTILE: State.FUTILE,
}


def counts_of(state: GraphState) -> EnoughCounts:
    """How many nodes of each ENOUGH are done, not needed, or can't be done."""
    counts = state.of.get("enough")
    if not isinstance(counts, EnoughCounts):
        counts = state.of["enough"] = EnoughCounts(state.dag)
        for node in counts.of:
            if state.is_unneeded(node):
                counts.mark(node, FOLLOWS)
            counts.moved(node, State.WAITING, _COUNTED.get(state.status[node], State.WAITING))
    return counts


def unreachable(state: GraphState) -> Mapping[int, str]:
    """Nodes of whose parents enough can't be done any more."""
    why = "can't run, because too few of its parents can still be done"
    return {
        node: why
        for node, number in EnoughsOfDag.of(state.dag).enough_of.items()
        if state.status[node] is NodeStatus.FUTILE and counts_of(state).is_hopeless(number)
    }


def awaited_parents(state: GraphState, node: int) -> str:
    """How many of its parents a node waits for."""
    number = EnoughsOfDag.of(state.dag).enough_of.get(node)
    if number is None:
        return ""
    of = number_of(len(counts_of(state).members[number]), "parent")
    return f"enough of its {of} ({_line(state, number)}: {_progress(state, number)})"


def findings(facts: Facts, state: GraphState | None) -> list[Notice]:
    """One for each ENOUGH that is not reached."""
    return list(_not_reached(facts, state)) if state is not None else []


def _not_reached(facts: Facts, state: GraphState) -> Iterator[Notice]:
    for number, enough in enumerate(enoughs_of(state.dag)):
        if words(enough) in EnoughSeen.of(facts.run).reached:
            continue
        may_grow = enough.members != PARENTS and _may_grow(facts)
        if counts_of(state).is_hopeless(number) and not may_grow:
            yield _out_of_reach(facts, state, number)
        elif facts.run.starts:
            sentence = (
                f"{_line(state, number)} is not reached{' yet' * facts.is_live}: of"
                f" {_members(state, number)} {_progress(state, number)}."
            )
            yield Notice("enough.open", Weight.NOTE, sentence, (), _place(state, number))


def _may_grow(facts: Facts) -> bool:
    """Whether nodes may be added, which could make it enough."""
    dag = facts.dag
    return facts.is_live and dag is not None and dag.may_grow()


def _out_of_reach(facts: Facts, state: GraphState, number: int) -> Notice:
    counts = counts_of(state)
    lost, members = counts.lost[number], counts.members[number]
    failed = [node for node in members if state.status[node] in _LOST]
    surplus = counts.surplus[number]
    unneeded = f" and {surplus} {does(surplus, 'be')} not needed" if surplus else ""
    child = counts.children.get(number)
    sentence = (
        f"{_line(state, number)} can no longer be reached: of {_members(state, number)} {lost}"
        f" failed or can't run{unneeded}, so at most {counts.left(number)} can be done, and"
        f" {counts.goal(number)} would be enough."
    )
    if child is not None:
        failed.append(child)
    names = tuple(state.names_of(failed))
    return Notice("enough.lost", Weight.PROBLEM, sentence, names, _place(state, number))


def _progress(state: GraphState, number: int) -> str:
    """`3 are done, 5 are enough`."""
    done, goal = counts_of(state).done[number], counts_of(state).goal(number)
    return f"{done} {does(done, 'be')} done, {goal} {does(goal, 'be')} enough"


def _members(state: GraphState, number: int) -> str:
    return number_of(len(counts_of(state).members[number]), "node")


def _line(state: GraphState, number: int) -> str:
    return message(words(enoughs_of(state.dag)[number]))


def _place(state: GraphState, number: int) -> tuple[Evidence, ...]:
    places = EnoughsOfDag.of(state.dag).lines_at
    return (Evidence(places[number], _line(state, number)),) if number < len(places) else ()


# Of one node.


def unneeded(facts: Facts, run: NodeRun) -> Iterator[Notice]:
    """Why a node that counts as done is not needed."""
    line, evidence = run.unneeded_by, tuple[Evidence, ...]()
    sentence = f"It is not needed: {message(line)}."
    reached = EnoughSeen.of(facts.run).reached.get(line)
    if reached is not None:
        counts = message(reached.record.counts)
        sentence = f"It is not needed: {message(line)} is reached, as {counts}."
        evidence = reached.evidence(facts.nodes_log)
    elif not run.why:
        source = facts.run.rescue_read or "the DAG file"
        sentence = f"It is not needed: an earlier run did not need it, {message(source)} says."
    yield Notice("node.unneeded", Weight.NOTE, sentence, (run.name,), evidence)
