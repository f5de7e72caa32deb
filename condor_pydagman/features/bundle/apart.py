"""What keeps nodes of BUNDLE lines out of bundles, or from running behind others in one, as far as
the files of the DAG tell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import TYPE_CHECKING

from condor_pydagman.features.bundle.commands import BUNDLED, BundleLine
from condor_pydagman.features.bundle.one_bundle import fits
from condor_pydagman.features.cache.commands import cached_of
from condor_pydagman.features.publish.commands import published_of
from condor_pydagman.features.shared_limits.commands import LimitsOfDag, limit_uses_of
from condor_pydagman.features.timeout.commands import timeouts_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import ScriptKind

if TYPE_CHECKING:
    from condor_pydagman.features.timeout.commands import Timeout

MAX_EDGES = 500  # to or from a node, beyond which none joins: all are looked at again and again


def alone_in(dag: Dag, nodes: Collection[int]) -> dict[int, str]:
    """Those of the nodes that run alone whatever their descriptions say, before a run; and why."""
    timeouts = timeouts_of(dag)
    every = range(len(dag))
    limited = {node for use in limit_uses_of(dag) for node in use.of.among(dag, every, BUNDLED)}
    reasons = (
        (node, why_alone(dag, node, has_limit=node in limited, timeout=timeouts.get(node)))
        for node in nodes
    )
    return {node: why for node, why in reasons if why}


def why_alone(dag: Dag, node: int, *, has_limit: bool, timeout: Timeout | None) -> str:
    """Why a node runs alone whatever its description says; '' if it does not.

    Args:
        has_limit: whether it keeps to a shared limit.
        timeout: its TIMEOUT, if it has one.
    """
    if dag.is_noop(node):
        return "it is a NOOP node"
    if dag.group_of(node) is not None:
        return "it is in a SITE_GROUP"
    if has_limit:
        by_rule = "the administrator applies a shared limit to it"
        return by_rule if LimitsOfDag.of(dag).applied else "it has a SHARED_LIMIT"
    if timeout is not None and (timeout.queued or timeout.total):
        return "it has a TIMEOUT QUEUED or TOTAL"
    if timeout is not None and any(timeout[3:]):
        return "it has a TIMEOUT with WARN"
    published = published_of(dag).get(node)
    if published is not None and published.attributes:
        return "it has a PUBLISH of attributes, which are its job's"
    return "" if fits(dag.names[node]) else "its name has a blank, or is too long"


def why_apart(dag: Dag, node: int, *, named: bool = True) -> str:
    """Why a node can't run behind those that it waits for, in one bundle; '' if it can.

    Whatever happens between their end and its start is not known in the job, or is not done there.

    Args:
        named: whether the text names the one that it can't run behind, or is the same for all.
    """
    if dag.may_grow():
        return "the DAG may grow, so that it may have to wait for others"
    if dag.is_decided(node):
        return "more decides whether it runs than that those before it are done"
    if dag.script(node, ScriptKind.PRE) is not None:
        return "it has a PRE script"
    if node in dag.save_points:
        return "it has a SAVE_POINT_FILE"
    if node in cached_of(dag):
        return "it has a CACHE, which is asked when its turn comes"
    parents = few(dag.parents(node))
    if not parents and dag.has_parents(node):
        return f"it waits for more than {MAX_EDGES} nodes"
    reasons = (_why_not_behind(dag, parent, node, named=named) for parent in parents)
    return next(filter(None, reasons), "")


def few(nodes: Iterable[int]) -> list[int]:
    """The nodes, each once; none if there are more than a bundle has room for, by far."""
    found = list(islice(nodes, MAX_EDGES + 1))
    return list(dict.fromkeys(found)) if len(found) <= MAX_EDGES else []


def _why_not_behind(dag: Dag, parent: int, node: int, *, named: bool) -> str:
    before, abort = _before(dag, parent, named=named), dag.aborts.get(parent)
    if dag.script(parent, ScriptKind.POST) is not None:
        return f"{before} has a POST script"
    if abort is not None and abort.status == 0:
        return f"{before} ends the DAG if it returns 0"
    if dag.is_weak(parent, node):
        return f"it also runs if {before} fails"
    must_run = next(filter(None, (data.must_run(parent) for data in dag.all_features())), "")
    return f"{before} {must_run.removeprefix('it ')}" if must_run else ""


def why_unlike(
    dag: Dag, line_of: Mapping[int, BundleLine], parent: int, node: int, *, named: bool = True
) -> str:
    """Why a node and one that it waits for go into no bundle together, whatever their descriptions
    say; '' if they may.  `named`: as of `why_apart`."""
    before = _before(dag, parent, named=named)
    if line_of.get(parent) != line_of.get(node):
        return f"{before} is of no BUNDLE line, or of another"
    if dag.categories.get(parent) != dag.categories.get(node):
        return f"{before} is of another category, or of none"
    has_another = dag.priorities.get(parent, 0) != dag.priorities.get(node, 0)
    return f"{before} has another PRIORITY" if has_another else ""


def _before(dag: Dag, parent: int, *, named: bool) -> str:
    return f"{f'node {dag.names[parent]}' if named else 'a node'} before it"


def waiting_inside(dag: Dag, line_of: Mapping[int, BundleLine]) -> Iterator[int]:
    """Nodes of lines with CHAINS that wait for at least one node of the same line."""
    for node, line in line_of.items():
        if line.chains and any(line_of.get(parent) == line for parent in dag.parents(node)):
            yield node
