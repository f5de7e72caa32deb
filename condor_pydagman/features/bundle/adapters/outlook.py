"""What would be packed of a DAG, as far as that is known before it runs.

Nothing is run or written.  What bundles begin with follows from the graph and from the pool, which
is asked how many jobs it can run; how they go on follows from how long nodes take.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence

from condor_pydagman.features.bundle.adapters import slots
from condor_pydagman.features.bundle.adapters.look import Looker, LookOrder, added_commands
from condor_pydagman.features.bundle.adapters.node_orders import order_of, texts_of
from condor_pydagman.features.bundle.alone import alone_in
from condor_pydagman.features.bundle.awaited import Awaited
from condor_pydagman.features.bundle.commands import (
    BY_OPTION,
    BundleLine,
    bundle_lines_of,
    line_of_nodes,
)
from condor_pydagman.features.bundle.learned import Learned
from condor_pydagman.features.bundle.messages import Look
from condor_pydagman.features.bundle.plan import Limits
from condor_pydagman.features.bundle.waiting import MIN_SIZE, limits_of
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.graph.steps import steps
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, number_of, printable
from condor_pydagman.vocabulary import NodeKind, ScriptKind

MAX_SHOWN = 10  # kinds, and reasons, that are told of a line
_ONLY_ONE = "no other node of its line can go with it"


class Together(NamedTuple):
    """Nodes of one kind.

    Attributes:
        first: the name of the first of them.
        description: its submit description.
        nodes: how many there are.
        at_once: how many of them are the first, if the nodes of each step of the DAG are ready at
            once.
        at_start: whether these are ready when the DAG begins.
        sizes: of the bundles that they begin with; 1 is a node that runs alone.
    """

    first: str
    description: str
    nodes: int
    at_once: int
    at_start: bool
    sizes: tuple[int, ...]


class Alone(NamedTuple):
    """Nodes that run alone for the same reason: the name of the first, and how many."""

    first: str
    nodes: int
    why: str


class LineOutlook(NamedTuple):
    """What would be packed of the nodes that a BUNDLE line means."""

    name: str
    kinds: tuple[Together, ...] = ()
    alone: tuple[Alone, ...] = ()


class BundleOutlook(NamedTuple):
    """What would be packed of a DAG.

    Attributes:
        lines: of the DAG, in their order.
        slots: how many jobs the pool can run at once; 0: that is not known; None: no size depends
            on it.
        most: how many nodes a bundle can have; 0 forbids bundles.
    """

    lines: tuple[LineOutlook, ...] = ()
    slots: int | None = None
    most: int = 0


def outlook(dag: Dag, most: int) -> BundleOutlook:
    """What would be packed of the nodes that are not done.

    Args:
        most: how many nodes a bundle can have.
    """
    lines = bundle_lines_of(dag)
    if lines and most >= MIN_SIZE:
        return _Packing(dag, most).outlook()
    return BundleOutlook(tuple(LineOutlook(line.name) for line in lines), most=most)


class _Packing:
    """Sorts the nodes of a DAG by their lines and kinds."""

    def __init__(self, dag: Dag, most: int) -> None:
        self._dag, self._most = dag, most
        self._steps = steps(dag).of
        self._line_of = {
            node: line
            for node, line in line_of_nodes(dag, range(len(dag))).items()
            if not dag.flags[node] & DONE
        }
        self._first = set(self._starting_first())
        self._alone = alone_in(dag, self._line_of)
        self._live: set[str] = set()
        self._groups: dict[tuple[BundleLine, str, str], list[int]] = {}
        self._sort()
        asks = any(not line.size for line, _, _ in self._groups)
        self._slots = slots.known_slots() if asks else None

    def _sort(self) -> None:
        groups = self._groups
        for node, kind, why, is_live in self._looks():
            if why:
                self._alone[node] = why
                continue
            if is_live:
                self._live.add(kind)
            category = self._dag.categories.get(node, "")
            groups.setdefault((self._line_of[node], kind, category), []).append(node)
        for key in [key for key, nodes in groups.items() if len(nodes) < MIN_SIZE]:
            self._alone.update(dict.fromkeys(groups.pop(key), _ONLY_ONE))

    def _looks(self) -> Iterator[Look]:
        """What is found of each; files must be there only for nodes whose job starts first."""
        dag, cwd, looker = self._dag, os.getcwd(), Looker(added_commands())
        left = [node for node in self._line_of if node not in self._alone]
        texts = texts_of(dag, left)
        for first in (True, False):
            nodes = [node for node in left if (node in self._first) is first]
            orders = [order_of(dag, cwd, node, 0, dag.priorities.get(node, 0)) for node in nodes]
            yield from looker.look_at(LookOrder(orders, texts), ready=first)

    def _starting_first(self) -> Iterator[int]:
        """Those before whose jobs no other and no script runs."""
        dag = self._dag
        for node in () if dag.of_kind(NodeKind.PROVISIONER) else self._line_of:
            if not self._steps[node] and dag.script(node, ScriptKind.PRE) is None:
                yield node

    def outlook(self) -> BundleOutlook:
        """See `outlook`."""
        lines = [self._line(one.name) for one in bundle_lines_of(self._dag)]
        return BundleOutlook(tuple(lines), self._slots, self._most)

    def _line(self, name: str) -> LineOutlook:
        kinds = [self._together(*key) for key in self._groups if key[0].name == name]
        reasons: dict[str, list[int]] = {}
        for node, why in sorted(self._alone.items()):
            if self._line_of[node].name == name:
                reasons.setdefault(why, []).append(node)
        names = self._dag.names
        alone = [Alone(names[nodes[0]], len(nodes), why) for why, nodes in reasons.items()]
        return LineOutlook(name, tuple(kinds), tuple(alone))

    def _together(self, line: BundleLine, kind: str, category: str) -> Together:
        dag, nodes = self._dag, sorted(self._groups[line, kind, category])
        step = min(self._steps[node] for node in nodes)
        first = [node for node in nodes if self._steps[node] == step]
        limits = limits_of(dag, line, category, self._most)
        return Together(
            dag.names[nodes[0]],
            dag.submits[nodes[0]],
            len(nodes),
            len(first),
            self._first.issuperset(first),
            tuple(self._sizes(kind, limits, first)),
        )

    def _sizes(self, kind: str, limits: Limits, ready: Sequence[int]) -> Iterator[int]:
        """Of the bundles that are made as soon as these nodes are ready, as the run finds them."""
        learned, left, made, awaited = Learned(), deque(ready), 0, Awaited()
        learned.saw_slots(self._slots or 0)
        for node in ready:
            awaited.add(self._dag, node)
        while left:
            how = kind, kind in self._live or not awaited.any_before(len(left))
            size = learned.size(how, limits, len(left), (0, made), (), 0.0)
            if not size:
                return
            yield min(size, self._most)
            made += 1
            for _ in range(min(size, self._most)):
                awaited.drop(left.popleft())


def told(found: BundleOutlook) -> Iterator[str]:
    """The outlook in lines for people."""
    if found.lines and found.most < MIN_SIZE:
        yield f"BUNDLE: no bundles are made, because PYDAGMAN_MAX_BUNDLE_SIZE is {found.most}"
        return
    for line in found.lines:
        yield from _line_told(line)
    if found.slots is not None:
        yield (
            "    These numbers change as DAGMan sees how long nodes take;"
            f" {_pool(found.slots)} (docs/bundles.md)"
        )


def _pool(count: int) -> str:
    if not count:
        return "how many jobs the pool can run is not known now"
    return f"the pool can run {number_of(count, 'job')} at once"


def _line_told(line: LineOutlook) -> Iterator[str]:
    together, alone = (sum(one.nodes for one in some) for some in (line.kinds, line.alone))
    kinds = number_of(len(line.kinds), "kind")
    packed = f"{number_of(together, 'node')} of {kinds} can go together"
    alone_too = f"{number_of(alone, 'node')} {does(alone, 'run')} alone"
    parts = [packed] * bool(together) + [alone_too] * bool(alone)
    name = line.name if line.name == BY_OPTION else f"BUNDLE {printable(line.name)}"
    yield f"{name}: {', '.join(parts) or 'no node is left to run'}"
    yield from _some([_together_told(one) for one in line.kinds], "kinds")
    yield from _some([_alone_told(one) for one in line.alone], "reasons")


def _some(lines: Sequence[str], what: str) -> Iterator[str]:
    yield from (f"    {line}" for line in lines[:MAX_SHOWN])
    if len(lines) > MAX_SHOWN:
        yield f"    and {len(lines) - MAX_SHOWN:,} more {what}"


def _together_told(one: Together) -> str:
    what = f"{number_of(one.nodes, 'node')} like {printable(one.first)}"
    description = printable(one.description)
    return f"{what} ({description}): {_begin(one)}"


def _begin(one: Together) -> str:
    most = max(one.sizes, default=0)
    if most < MIN_SIZE:
        return "first one to a job, until it is known how long they take"
    up_to = "" if min(one.sizes) == most else "up to "
    more = ", then more" if sum(one.sizes) < one.at_once else ""
    bundles = f"{number_of(len(one.sizes), 'bundle')} of {up_to}{most} nodes"
    return f"first {bundles}{more}{_provided(one)}"


def _provided(one: Together) -> str:
    """What the sizes are based on."""
    all_of_them = one.at_once == one.nodes
    if one.at_start:
        return "" if all_of_them else f" for the {one.at_once:,} that are ready at the start"
    return f", if {'all' if all_of_them else f'{one.at_once:,} of them'} are ready at once"


def _alone_told(one: Alone) -> str:
    others = f" and {number_of(one.nodes - 1, 'other node')}" if one.nodes > 1 else ""
    run = "run" if others else "runs"
    return f"{printable(one.first)}{others} {run} alone: {printable(one.why)}"
