"""The explanation of a DAG, or of a node of it, with all that is to be asked and read for it."""

from __future__ import annotations

import shlex

from condor_pydagman.adapters.request_client import steer
from condor_pydagman.errors import PydagmanError
from condor_pydagman.explain.explain_dag import explain_dag
from condor_pydagman.explain.explain_node import explain_node
from condor_pydagman.explain.explanation import Explanation
from condor_pydagman.explain.fact_collection import collect_facts
from condor_pydagman.feature_table import SERVES_CLIENTS, own
from condor_pydagman.follow.notices.facts import Facts
from condor_pydagman.monitor.found_dag import FoundDag
from condor_pydagman.monitor.which_node import no_such_node
from condor_pydagman.names import logged_name
from condor_pydagman.printable import message


def explained(found: FoundDag, node: str = "") -> Explanation:
    """Why a DAG does not go on, or has failed; or why a node of it is in its state.

    Raises:
        PydagmanError: there is no such node.
    """
    facts = collect_facts(found, node=node)
    if not node:
        return explain_dag(facts)
    _check_node(facts, node)
    if facts.is_live:
        _check_known(found, facts, node)
    return explain_node(facts, node)


def _check_node(facts: Facts, name: str) -> None:
    """Refuse a node that is not there.

    Raises:
        PydagmanError: it names those that are nearly called so.
    """
    known = facts.dag.names if facts.dag is not None else list(facts.run.nodes)
    in_dag = facts.dag is not None and facts.dag.find(name) is not None
    if in_dag or logged_name(name) in facts.run.nodes:
        return
    if not known:
        raise PydagmanError(f"the nodes of {facts.name} are not known: {facts.unknown[0]}")
    raise no_such_node(facts.name, name, known)


def _check_known(found: FoundDag, facts: Facts, name: str) -> None:
    """Refuse a node that the DAG file has got since DAGMan has read it.

    Raises:
        PydagmanError: DAGMan says that it has no such node.
    """
    try:
        names = steer(found.paths.primary, "names", prefix=name).fields["names"]
    except PydagmanError:  # the stock program can't be asked
        return
    if name in names or len(names) == own(SERVES_CLIENTS, "messages", "MAX_NAMES"):
        return
    raise PydagmanError(
        f"node {message(name)} was added to the DAG files of {facts.name} after DAGMan had read"
        " them: DAGMan does not know it. To add it, write its lines to a file:"
        f" condor_pydagman steer add {shlex.quote(facts.name)} FILE"
    )
