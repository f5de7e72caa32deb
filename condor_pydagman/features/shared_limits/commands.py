"""The command SHARED_LIMIT: which nodes keep to which limit that DAGs share.

It is ours.  In a splice, ALL_NODES are the splice's nodes, and a category is its own.  A node of
another DAG (SUBDAG) keeps to no limit itself: the nodes of its DAG would wait for places that it
holds.  Its DAG file may have limits of its own.
"""

from __future__ import annotations

from array import array
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import repeat

from condor_pydagman.features.common import node_sets, rows
from condor_pydagman.features.common.node_sets import NodeSet, UsesOfDag
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import Building, fail
from condor_pydagman.graph.model import Dag
from condor_pydagman.language.lexer import LineError, Words
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NodeKind

# Of the jobs of a DAG to which the administrator's rules apply limits: their names, with commas.
APPLIED_ATTRIBUTE = "PYDAGMAN_AppliedLimits"
_DEFINED = "PYDAGMAN_SHARED_LIMITS and ~/.condor/pydagman_limits define limits; this line uses one"


def _refuse(word: str, words: Words) -> str:
    if word == "=":
        raise LineError("A limit can't be defined in a DAG file", words, hint=_DEFINED)
    return word


@rows.Row("SHARED_LIMIT", "Nodes that keep to a limit which several DAGs share.", after="CHOOSE")
class SharedLimit(NamedTuple):
    """SHARED_LIMIT: nodes that keep to a limit which DAGs share."""

    line: int
    limit: str = rows.name("name of the limit", sample="licenses")
    members: str = node_sets.members(_refuse)
    names: tuple[str, ...] = ()


_LIMITED = (NodeKind.JOB, NodeKind.DATA)


class LimitUse(NamedTuple):
    """A SHARED_LIMIT command: the name of the limit, and the nodes that keep to it."""

    limit: str
    of: NodeSet = NodeSet()


class LimitsOfDag(UsesOfDag):
    """The SHARED_LIMIT lines of a DAG, and what the administrator has put beside them."""

    word, kinds = "SHARED_LIMIT", _LIMITED

    def __init__(self) -> None:
        super().__init__()
        self.applied: tuple[str, ...] = ()  # names of limits for all nodes, by a rule

    def description_lines(self, _: int) -> str:
        """For the schedd, which can refuse jobs of DAGs that do not say so."""
        if not self.applied:
            return ""
        return f'My.{APPLIED_ATTRIBUTE} = "{",".join(self.applied)}"\n'

    def lines(self, dag: Dag) -> Iterator[SharedLimit]:
        """As of `FeatureData`."""
        return (SharedLimit(0, limit, *of.words(dag)) for limit, of in self.uses)


def limit_uses_of(dag: Dag) -> Sequence[LimitUse]:
    """The SHARED_LIMIT lines of a DAG, and those that the administrator's rules stand for."""
    found = LimitsOfDag.of(dag)
    return [*found.uses, *map(LimitUse, found.applied)] if found.applied else found.uses


def shared_limit(building: Building, command: SharedLimit) -> None:
    """SHARED_LIMIT."""
    limit = building.text(command.limit)
    of = node_sets.node_set(building, command.members, command.names, _LIMITED, _refuse_node)
    uses = LimitsOfDag.put(building.dag).uses
    if of is not None:
        uses.append(LimitUse(limit, of))


def _refuse_node(name: str, kind: NodeKind) -> None:
    hint = "only nodes that run a job of their own do: JOB and DATA"
    fail(f"{kind.name} node {name} can't keep to a shared limit", hint, at=name)


class LimitClasses:
    """Nodes by the limits that they keep to: those with the same are a class."""

    def __init__(self, dag: Dag) -> None:
        # of limits, by number of a class; class 0 has none
        self.names: list[tuple[str, ...]] = [()]
        self.of: array[int] = array("H")  # the class of each node
        self._numbers: dict[frozenset[str], int] = {frozenset(): 0}
        self.grow(dag, range(len(dag)))

    def grow(self, dag: Dag, nodes: Sequence[int]) -> None:
        """The DAG has got these nodes; what was said of others holds."""
        self.of.extend(repeat(0, len(dag) - len(self.of)))
        new: Collection[int] = nodes
        if not isinstance(nodes, range):  # they have numbers of others
            new = frozenset(nodes)
            for node in nodes:
                self.of[node] = 0
        for use in limit_uses_of(dag):
            self._add(use.limit, use.of.among(dag, new, _LIMITED))

    def _add(self, limit: str, nodes: Iterable[int]) -> None:
        """These nodes keep to one more limit."""
        of = self.of
        with_it: dict[int, int] = {}
        for node in nodes:
            number = of[node]
            if number not in with_it:
                names = self.names[number]
                has_it = limit.lower() in map(str.lower, names)
                with_it[number] = self._number(names if has_it else (*names, limit))
            of[node] = with_it[number]

    def _number(self, limits: tuple[str, ...]) -> int:
        key = frozenset(map(str.lower, limits))
        if key not in self._numbers:
            self._numbers[key] = len(self.names)
            self.names.append(limits)
        return self._numbers[key]


APPLIED = (Applied(SharedLimit, shared_limit, of_new="SHARED_LIMIT", of_job=unchanged),)
