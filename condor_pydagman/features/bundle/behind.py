"""Nodes that run, or could have run, behind others of a bundle, as readers of the logs see them.

A record says who is given to a bundle, not who of them waits for others: that follows from the DAG.
"""

from __future__ import annotations

from collections.abc import Iterator

from condor_pydagman.explain.known_facts import Facts
from condor_pydagman.features.bundle.alone import alone_in
from condor_pydagman.features.bundle.chains import why_apart, why_unlike
from condor_pydagman.features.bundle.commands import line_of_nodes
from condor_pydagman.features.bundle.shown import BundleSeen, bundle_of
from condor_pydagman.follow.carriers import carrier_of
from condor_pydagman.follow.run_model import NodeRun
from condor_pydagman.graph.model import Dag
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message
from condor_pydagman.vocabulary import NodeStatus


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
        found = _run_of(facts, dag, parent)
        if found.status is not NodeStatus.DONE:
            yield found


def why_not_behind(facts: Facts, dag: Dag, node: int) -> str:
    """Why a node whose turn has come did not run behind a node before it, in the bundle of that: a
    sentence; '' if none of these was in a bundle, or it has run."""
    own = _run_of(facts, dag, node)
    if own.attempts:
        return ""
    for parent in dag.parents(node):
        bundle = _last_bundle(facts, dag, parent)
        if bundle is not None:
            behind = f"behind {message(dag.names[parent])} in {bundle.name}"
            if own.name in bundle.nodes:
                return f" It was to run {behind}, which has not run it."
            why = _why_not(dag, parent, node) or _guess(facts, dag, parent, node)
            return f" It did not run {behind}: {message(why)}."
    return ""


def _why_not(dag: Dag, parent: int, node: int) -> str:
    lines = line_of_nodes(dag, range(len(dag)))
    alone = alone_in(dag, [node]).get(node)
    return why_apart(dag, node) or alone or why_unlike(dag, lines, parent, node)


def _guess(facts: Facts, dag: Dag, parent: int, node: int) -> str:
    bundles = {_last_bundle(facts, dag, one) for one in dag.parents(node)}
    siblings = set(dag.children(parent)) - {node}
    reasons = ["its job asks for something else", "there was no room for it"]
    reasons += ["others that it waits for ran elsewhere"] * (len(bundles) > 1)
    reasons += ["free slots were to run it sooner"] * bool(siblings)
    return ", or ".join(reasons)


def _last_bundle(facts: Facts, dag: Dag, node: int) -> BundleSeen | None:
    attempts = _run_of(facts, dag, node).attempts
    return bundle_of(attempts[-1]) if attempts else None


def _run_of(facts: Facts, dag: Dag, node: int) -> NodeRun:
    name = logged_name(dag.names[node])
    return facts.run.nodes.get(name) or NodeRun(name)
