"""TIMEOUT: how long the jobs of nodes may take."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any, Optional

from condor_pydagman.features.common import rows
from condor_pydagman.graph.apply import Applied, unchanged
from condor_pydagman.graph.building import ALL_NODES, Building, fail
from condor_pydagman.graph.model import Dag, FeatureData
from condor_pydagman.graph.modify import category_name
from condor_pydagman.language.lexer import Words, name_word, node_word
from condor_pydagman.language.lines import normal
from condor_pydagman.named_tuple import NamedTuple

_LIMITS = ("QUEUED", "RUNNING", "TOTAL")


class _Nodes(rows.Part):
    """A node, or CATEGORY and the name of one: of ALL_NODES, those of that category."""

    width = 2

    def __init__(self) -> None:
        super().__init__("node", "(<node>|CATEGORY <category>)", sample="A")

    def read(self, words: Words, key: str = "", also: Collection[str] = ()) -> tuple[str, str]:
        """The node, and the category; '' for none."""
        name: str = super().read(words, key)
        if normal(name) != "CATEGORY" or rows.keyword(words, _LIMITS) or not words.peek():
            return name, ""  # it may be the name of a node
        return ALL_NODES, words.next()

    def write(self, value: tuple[str, str]) -> str:
        """As `Part.write`."""
        return f"CATEGORY {name_word(value[1])}" if value[1] else node_word(value[0])


nodes: Any = _Nodes


@rows.Row(
    "TIMEOUT",
    "How long the node's jobs may wait, run, and take.",
    after="TOLERANCE",
    in_rescue=True,
    options="some",
)
class TimeoutLine(NamedTuple):
    """TIMEOUT: seconds; what is None is not in the line (see `Timeout`).

    Attributes:
        warn: whether what takes longer is late, and goes on: WARN, else ''.
    """

    line: int
    node: str = nodes()
    category: str = ""  # of ALL_NODES, those of this category; '' for all, or one node
    queued: int | None = rows.option("QUEUED", rows.time(), None)
    running: int | None = rows.option("RUNNING", rows.time(), None)
    total: int | None = rows.option("TOTAL", rows.time(), None)
    warn: str = rows.one_of(("WARN",), "")

    @property
    def said(self) -> Said:
        """The limits that it says."""
        limits: Said = self[3:6]
        return (None, None, None, *limits) if self.warn else limits


class Timeout(NamedTuple):
    """TIMEOUT commands of a node, which stock DAGMan does not have; seconds, 0 for no limit."""

    queued: int = 0  # how long a job may wait in the queue without running
    running: int = 0  # how long it may run
    total: int = 0  # how long it may take since it was submitted
    # the same, after which it is late, and goes on (WARN)
    late_queued: int = 0
    late_running: int = 0
    late_total: int = 0


NO_TIMEOUT = Timeout()
Said = tuple[Optional[int], ...]  # the fields of a Timeout, or its first half; None: not said


def with_said(limits: Timeout | None, said: Said) -> Timeout:
    """What is not said of the limits stays."""
    both = zip_longest(limits or NO_TIMEOUT, said)
    return Timeout(*(old if new is None else new for old, new in both))


class TimeoutsOfDag(FeatureData):
    """The limits of nodes."""

    by_node = ("timeouts",)
    place = -1

    def __init__(self) -> None:
        self.timeouts: dict[int, Timeout] = {}
        # by category, how many of its nodes a line for it means, to see whether it stands behind
        # all CATEGORY lines
        self.meant: dict[str, int] = {}

    def _compared(self) -> tuple[type, dict[str, Any]]:
        return type(self), {"timeouts": self.timeouts}

    def node_lines(self, dag: Dag, node: int) -> Iterator[TimeoutLine]:
        """As of `FeatureData`."""
        limits = self.timeouts.get(node, NO_TIMEOUT)
        for warn, some in (("", limits[:3]), ("WARN", limits[3:])):
            if any(some):
                queued, running, total = (seconds or None for seconds in some)
                yield TimeoutLine(0, dag.names[node], "", queued, running, total, warn)

    def warnings(self, dag: Dag) -> Iterator[str]:
        """As of `FeatureData`."""
        for category, meant in self.meant.items():
            nodes = sum(name == category for name in dag.categories.values())
            if nodes > meant:
                yield (
                    f"Warning: {nodes - meant} of {nodes} nodes of category {category} get their"
                    " CATEGORY line behind the line TIMEOUT CATEGORY, which does not mean them"
                )


def timeouts_of(dag: Dag) -> Mapping[int, Timeout]:
    """The limits of nodes, by node."""
    return TimeoutsOfDag.of(dag).timeouts


def timeout(building: Building, command: TimeoutLine) -> None:
    """TIMEOUT: what the line does not say stays, and 0 takes a limit away."""
    data = TimeoutsOfDag.put(building.dag)
    for node in _nodes(building, command, data):
        new = with_said(data.timeouts.get(node), command.said)
        data.timeouts[node] = building.share(new)
        if new == NO_TIMEOUT:
            del data.timeouts[node]


def _nodes(building: Building, command: TimeoutLine, data: TimeoutsOfDag) -> Iterable[int]:
    nodes, categories = building.nodes(command.node), building.dag.categories
    if not command.category:
        return nodes
    name = category_name(building, command.category)
    found = [node for node in nodes if categories.get(node) == name]
    if not found:
        fail(
            f"No node is in category {command.category}",
            "the line stands behind the CATEGORY lines of its nodes",
            at=command.category,
        )
    data.meant[name] = min(len(found), data.meant.get(name, len(found)))
    return found


APPLIED = (Applied(TimeoutLine, timeout, of_job=unchanged),)
