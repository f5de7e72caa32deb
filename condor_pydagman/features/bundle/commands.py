"""The command BUNDLE: which nodes may run together in one job of HTCondor's, and how many.

It is ours.  The first line of the DAG that means a node counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from condor_pydagman.features.common import node_sets, rows
from condor_pydagman.features.common.node_sets import NodeSet, UsesOfDag
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

BY_OPTION = "-bundle"  # instead of the name of a line
BUNDLED = (NodeKind.JOB,)  # kinds of nodes that can be


@rows.Row(
    "BUNDLE",
    "Nodes with short jobs, many of which run in one job of HTCondor's.",
    after="SHARED_LIMIT",
)
class Bundle(NamedTuple):
    """BUNDLE: nodes that may run together in one job.

    Attributes:
        name: of the line, for people.
        size: how many nodes a bundle has at most; 0: as many as seems best.
        max_seconds: how long the nodes of a bundle are expected to take together, at most; 0: as
            long as seems best.
        parallel: how many of them run side by side.
        wait: how many seconds a node waits for others, at most.
        chains: whether nodes may run behind those that they wait for, in one bundle.
        members, names: see `node_sets`.
    """

    line: int
    name: str = rows.name("name of the bundle", sample="short")
    size: int = rows.option("SIZE", rows.number("number", 1, "<nodes>"), 0)
    max_seconds: int = rows.option("MAX_SECONDS", rows.time(), 0)
    parallel: int = rows.option("PARALLEL", rows.number("number", 1, "<tasks>"), 1)
    wait: int = rows.option("WAIT", rows.time(), 0)
    chains: bool = rows.flag("CHAINS")
    members: str = node_sets.members()
    names: tuple[str, ...] = ()


class BundleLine(NamedTuple):
    """A BUNDLE command of a DAG: as `Bundle`, and the nodes that it means."""

    name: str
    size: int
    max_seconds: int
    parallel: int
    wait: int
    chains: bool
    of: NodeSet


class BundlesOfDag(UsesOfDag):
    """The BUNDLE lines of a DAG, in their order."""

    word, kinds = "BUNDLE", BUNDLED

    def lines(self, dag: Dag) -> Iterator[Bundle]:
        """As of `FeatureData`."""
        return (Bundle(0, *one[:-1], *one.of.words(dag)) for one in self.uses)


def bundle_lines_of(dag: Dag) -> Sequence[BundleLine]:
    """The BUNDLE lines of a DAG, in their order."""
    return BundlesOfDag.of(dag).uses


def line_of_nodes(dag: Dag, nodes: Sequence[int]) -> dict[int, BundleLine]:
    """By node, of these, the BUNDLE line that it is bundled by, without the nodes that this means:
    their numbers may change.  A node that none means is left out."""
    found: dict[int, BundleLine] = {}
    for line in bundle_lines_of(dag):
        of_any = line._replace(of=NodeSet())
        for node in line.of.among(dag, nodes, BUNDLED):
            found.setdefault(node, of_any)
    return found


def bundle(building: Building, command: Bundle) -> None:
    """BUNDLE."""
    lines, name = BundlesOfDag.put(building.dag).uses, building.scope.full(command.name)
    if any(one.name == name for one in lines):
        hint = "give one of the two another name"
        fail(f"There is a bundle {command.name} already", hint, at=command.name)
    of = node_sets.node_set(building, command.members, command.names, BUNDLED, _refuse_node)
    if of is not None:
        lines.append(BundleLine(name, *command[2:-2], of))


def of_option(dag: Dag) -> None:
    """The option -bundle: nodes that no line means are bundled as well."""
    BundlesOfDag.put(dag).uses.append(BundleLine(BY_OPTION, 0, 0, 1, 0, False, NodeSet()))


def _refuse_node(name: str, kind: NodeKind) -> None:
    hint = "only JOB nodes run in bundles"
    fail(f"{kind.name} node {name} can't run in a bundle", hint, at=name)


APPLIED = (Applied(Bundle, bundle, of_new="BUNDLE", of_job=unchanged),)
