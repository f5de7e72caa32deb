"""Nodes that run, or could have run, behind others of a bundle, as readers of the logs see them.

A record says who is given to a bundle, not who of them waits for others: that follows from the DAG.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.features.bundle.alone import alone_in
from condor_pydagman.features.bundle.chains import why_apart
from condor_pydagman.features.bundle.shown import BundleSeen, bundle_of
from condor_pydagman.follow.carriers import carrier_of
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import NodeStatus

_OTHERWISE = (
    "it is of another kind, or there was no room for it, or free slots were to run it sooner"
)


def nodes_before(facts: Facts, run: NodeRun, bundle: BundleSeen) -> list[str]:
    """The names of the nodes of a bundle that another waits for, which was given to that, too, and
    runs behind them; none if it waits, or one of them does, for any that the bundle does not run.
    """
    dag, seen = facts.dag, {run.name: run}
    if dag is None or not _waits_in(facts, run, bundle):
        return []
    todo = [run]
    while todo:
        for parent in _not_done(facts, dag, todo.pop()):
            if parent.name not in seen and carrier_of(parent) is not bundle:
                if not _waits_in(facts, parent, bundle):
                    return []
                seen[parent.name] = parent
                todo.append(parent)
    return [one.name for one in _not_done(facts, dag, run)]


def _waits_in(facts: Facts, run: NodeRun, bundle: BundleSeen) -> bool:
    is_given = facts.run.carried.get(run.name) is bundle
    return is_given and run.status is NodeStatus.NOT_READY


def _not_done(facts: Facts, dag: Dag, run: NodeRun) -> Iterator[NodeRun]:
    number = dag.find(run.name)
    for parent in dict.fromkeys(dag.parents(number)) if number is not None else ():
        name = logged_name(dag.names[parent])
        found = facts.run.nodes.get(name) or NodeRun(name)
        if found.status is not NodeStatus.DONE:
            yield found


def why_not_behind(facts: Facts, dag: Dag, node: int) -> str:
    """Why a node whose turn has come did not run behind a node before it, in the bundle of that: a
    sentence; '' if none of these was in a bundle, or it has run."""
    runs = facts.run.nodes
    own = runs.get(logged_name(dag.names[node]))
    if own is not None and own.attempts:
        return ""
    for parent in dag.parents(node):
        run = runs.get(logged_name(dag.names[parent]))
        bundle = bundle_of(run.attempts[-1]) if run is not None and run.attempts else None
        if run is not None and bundle is not None:
            behind = f"behind {message(run.name)} in {bundle.name}"
            if own is not None and own.name in bundle.nodes:
                return f" It was to run {behind}, which has not run it."
            why = why_apart(dag, node) or alone_in(dag, [node]).get(node, _OTHERWISE)
            return f" It did not run {behind}: {message(why)}."
    return ""
