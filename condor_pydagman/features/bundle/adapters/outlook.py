"""What would be packed of a DAG, as far as that is known before it runs.

Nothing is run or written.  What bundles begin with follows from the graph and from the pool, which
is asked how many jobs it can run; how they go on follows from how long nodes take.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from condor_pydagman.adapters.followed_files import owner_of, read_known
from condor_pydagman.features.bundle.adapters import slots
from condor_pydagman.features.bundle.adapters.look import Looker, added_commands, look_order
from condor_pydagman.features.bundle.apart import (
    alone_in,
    few,
    waiting_inside,
    why_apart,
    why_unlike,
)
from condor_pydagman.features.bundle.chains import Room
from condor_pydagman.features.bundle.chains_ahead import ONLY_ONE, Chained, ChainsAhead
from condor_pydagman.features.bundle.commands import (
    BY_OPTION,
    BundleLine,
    bundle_lines_of,
    line_of_nodes,
)
from condor_pydagman.features.bundle.learned import Learned
from condor_pydagman.features.bundle.messages import Look
from condor_pydagman.features.bundle.packing import (
    MIN_SIZE,
    Group,
    Jobs,
    limits_of,
    next_bundle,
)
from condor_pydagman.features.bundle.plan import Limits
from condor_pydagman.features.bundle.tasks import NodeOrder, differing
from condor_pydagman.features.common.first_nodes import FirstNodes
from condor_pydagman.features.common.steps import steps
from condor_pydagman.graph.model import DONE, JOIN, Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.printable import does, number_of

MAX_SHOWN = 10  # kinds, and reasons, that are told of a line


class Together(NamedTuple):
    """Nodes of one kind."""

    first: str  # the name of the first of them
    description: str  # its submit description
    nodes: int  # how many there are
    # how many of them are the first, if the nodes of each step of the DAG are ready at once; with
    # those that run behind them
    at_once: int
    at_start: bool  # whether these are ready when the DAG begins
    sizes: tuple[int, ...]  # of the bundles that they begin with; 1 is a node that runs alone
    chains: Chained = Chained()  # those of them that run behind others


class Alone(NamedTuple):
    """Nodes that run alone, or not behind others, for the same reason: the name of the first, and
    how many."""

    first: str
    nodes: int
    why: str


class LineOutlook(NamedTuple):
    """What would be packed of the nodes that a BUNDLE line means."""

    name: str
    kinds: tuple[Together, ...] = ()
    alone: tuple[Alone, ...] = ()  # nodes that run alone
    # others that would run behind those that they wait for, by CHAINS, and do not
    apart: tuple[Alone, ...] = ()


class BundleOutlook(NamedTuple):
    """What would be packed of a DAG."""

    lines: tuple[LineOutlook, ...] = ()  # of the DAG, in their order
    # how many jobs the pool can run at once; 0: that is not known; None: no size depends on it
    slots: int | None = None
    most: int = 0  # how many nodes a bundle can have; 0 forbids bundles


def outlook(dag: Dag, most: int, *, asks_pool: bool = True) -> BundleOutlook:
    """What would be packed of the nodes that are not done.

    Args:
        most: how many nodes a bundle can have.
        asks_pool: whether it may be asked for its size; without it no sizes are told.
    """
    lines = bundle_lines_of(dag)
    if lines and most >= MIN_SIZE:
        return _Packing(dag, most, asks_pool=asks_pool).outlook()
    return BundleOutlook(tuple(LineOutlook(line.name) for line in lines), most=most)


class _Packing:
    """Sorts the nodes of a DAG by their lines and kinds."""

    def __init__(self, dag: Dag, most: int, *, asks_pool: bool) -> None:
        self._dag, self._most, self._asks_pool = dag, most, asks_pool
        owner = owner_of(dag.files[0])
        self._looker = Looker(added_commands(), lambda path: read_known(path, owner)[0])
        self._orders: dict[int, NodeOrder] = {}
        self._kinds: dict[int, str] = {}  # by node, if it need not run alone
        self._differing: dict[tuple[str, str], str] = {}  # by kinds, how these differ
        self._steps = steps(dag).of
        self._line_of = {
            node: line
            for node, line in line_of_nodes(dag, range(len(dag))).items()
            if not dag.flags[node] & DONE
        }
        self._waits_inside = set(waiting_inside(dag, self._line_of))
        firsts = FirstNodes(dag)
        self._first = {node for node in self._line_of if firsts.job_is_first(node)}
        self._alone = alone_in(dag, self._line_of)
        self._live: set[str] = set()
        self._groups: dict[tuple[BundleLine, str, str], list[int]] = {}
        self._sort()
        asks = asks_pool and any(not line.size for line, _, _ in self._groups)
        self._slots = slots.known_slots() if asks else None

    def _sort(self) -> None:
        groups = self._groups
        for node, kind, why, is_live in self._looks():
            if why:
                self._alone[node] = why
                continue
            if is_live:
                self._live.add(kind)
            self._kinds[node] = kind
            category = self._dag.categories.get(node, "")
            groups.setdefault((self._line_of[node], kind, category), []).append(node)
        for key in [key for key, nodes in groups.items() if len(nodes) < MIN_SIZE]:
            self._alone.update(dict.fromkeys(groups.pop(key), ONLY_ONE))

    def _looks(self) -> Iterator[Look]:
        """What is found of each; files must be there only for nodes whose job starts first."""
        dag, cwd = self._dag, os.getcwd()
        left = [node for node in self._line_of if node not in self._alone]
        for first in (True, False):
            nodes = (node for node in left if (node in self._first) is first)
            order = look_order(
                dag, cwd, ((one, 0, dag.priorities.get(one, 0), ()) for one in nodes)
            )
            self._orders.update((one.number, one) for one in order.nodes)
            yield from self._looker.look_at(order, ready=first)

    def outlook(self) -> BundleOutlook:
        """See `outlook`."""
        lines = [self._line(one.name) for one in bundle_lines_of(self._dag)]
        return BundleOutlook(tuple(lines), self._slots, self._most)

    def _line(self, name: str) -> LineOutlook:
        found = [self._together(*key) for key in self._groups if key[0].name == name]
        kinds = tuple(one for one, _ in found)
        own = (node for node in self._alone if self._line_of[node].name == name)
        alone = [(node, self._alone[node]) for node in own if not self._dag.flags[node] & JOIN]
        apart = [pair for _, some in found for pair in some]
        apart += self._apart([node for node, why in alone if why == ONLY_ONE])
        return LineOutlook(name, kinds, self._by_reason(alone), self._by_reason(apart))

    def _by_reason(self, found: Iterable[tuple[int, str]]) -> tuple[Alone, ...]:
        reasons: dict[str, list[int]] = {}
        for node, why in sorted(found):
            reasons.setdefault(why, []).append(node)
        names = self._dag.names
        return tuple(Alone(names[nodes[0]], len(nodes), why) for why, nodes in reasons.items())

    def _together(
        self, line: BundleLine, kind: str, category: str
    ) -> tuple[Together, list[tuple[int, str]]]:
        """Nodes of one kind; and those of them that don't run behind others, and why."""
        dag, nodes = self._dag, sorted(self._groups[line, kind, category])
        step = min(self._steps[node] for node in nodes)
        first = [node for node in nodes if self._steps[node] == step]
        limits = limits_of(dag, line, category, self._most)
        in_order = sorted(nodes, key=self._steps.__getitem__)
        room = Room(len(nodes), limits.parallel, comes_home=kind not in self._live)
        ahead = ChainsAhead(dag, in_order, line, room)
        all_first = ahead.with_followers(first, room)
        together = Together(
            dag.names[nodes[0]],
            dag.submits[nodes[0]],
            len(nodes),
            len(all_first),
            self._first.issuperset(first),
            tuple(self._sizes(kind, limits, first, ahead)) if self._asks_pool else (),
            ahead.chained(),
        )
        waiting = self._waits_inside.intersection(nodes)
        return together, list(ahead.not_behind(waiting, self._why_unlike))

    def _apart(self, nodes: Iterable[int]) -> Iterator[tuple[int, str]]:
        """Why nodes that no other one can go with don't run behind others, as far as is known."""
        for node in self._waits_inside.intersection(nodes):
            reasons = (self._why_unlike(one, node) for one in few(self._dag.parents(node)))
            why = why_apart(self._dag, node, named=False) or next(filter(None, reasons), "")
            if why:
                yield node, why

    def _why_unlike(self, parent: int, node: int) -> str:
        """Why a node and one before it go into no bundle together; '' if that is not known, or the
        node may go with another one before it."""
        why = why_unlike(self._dag, self._line_of, parent, node, named=False)
        kind, before = self._kinds[node], self._kinds.get(parent, "")
        parents = few(self._dag.parents(node))
        if why or not before or any(self._kinds.get(one) == kind for one in parents):
            return why
        if (before, kind) not in self._differing:
            names = self._differing_commands(parent, node) or ["transfer_executable"]
            differ = does(len(names), "differ")
            self._differing[before, kind] = f"{' and '.join(names)} of a node before it {differ}"
        return self._differing[before, kind]

    def _differing_commands(self, *nodes: int) -> list[str]:
        orders = map(self._orders.__getitem__, nodes)
        texts = self._dag.descriptions
        one, other = ((self._looker.read(order, texts)[0], order) for order in orders)
        return differing(one, other)

    def _sizes(
        self, kind: str, limits: Limits, ready: Sequence[int], ahead: ChainsAhead
    ) -> Iterator[int]:
        """Of the bundles that are made as soon as these nodes are ready, as the run finds them."""
        learned, group = Learned(), Group(kind, is_live=kind in self._live)
        learned.slots, made = self._slots or 0, 0
        for node in ready:
            group.add(self._dag, node, 0.0)

        def followed(number: int, room: Room) -> Sequence[int]:
            return ahead.with_followers(list(islice(group.nodes, number)), room)

        while group.nodes:
            jobs = Jobs(idle=made, bundles=made)
            nodes = next_bundle(group, limits, self._most, learned, jobs, 0.0, followed)
            if not nodes:
                return
            yield len(nodes)
            made += 1
            for node in group.nodes.keys() & set(nodes):
                group.drop(node)


def packs(found: BundleOutlook) -> bool:
    """Whether any nodes can go together."""
    return any(line.kinds for line in found.lines)


def as_json(found: BundleOutlook) -> dict[str, Any]:
    """The same for programs."""
    lines = [
        {
            "name": line.name,
            "kinds": [{**one._asdict(), "chains": one.chains._asdict()} for one in line.kinds],
            "alone": [one._asdict() for one in line.alone],
            "apart": [one._asdict() for one in line.apart],
        }
        for line in found.lines
    ]
    return {**found._asdict(), "lines": lines}


def told(found: BundleOutlook) -> Iterator[str]:
    """The outlook in lines for people."""
    if found.lines and found.most < MIN_SIZE:
        yield f"BUNDLE: no bundles are made, because PYDAGMAN_MAX_BUNDLE_SIZE is {found.most}"
        return
    for line in found.lines:
        yield from _line_told(line)
    if found.slots is not None:
        pool = f"the pool can run {number_of(found.slots, 'job')} at once"
        pool = pool if found.slots else "how many jobs the pool can run is not known now"
        these = "These numbers change as DAGMan sees how long nodes take"
        yield f"    {these}; {pool} (docs/bundles.md)"


def _line_told(line: LineOutlook) -> Iterator[str]:
    together, alone = (sum(one.nodes for one in some) for some in (line.kinds, line.alone))
    kinds = number_of(len(line.kinds), "kind")
    packed = f"{number_of(together, 'node')} of {kinds} can go together"
    alone_too = f"{number_of(alone, 'node')} {does(alone, 'run')} alone"
    parts = [packed] * bool(together) + [alone_too] * bool(alone)
    name = line.name if line.name == BY_OPTION else f"BUNDLE {line.name}"
    yield f"{name}: {', '.join(parts) or 'no node is left to run'}"
    yield from _some([_together_told(one) for one in line.kinds], "kinds")
    told = (_reason_told(one, "runs alone", "run alone") for one in line.alone)
    yield from _some([*told], "reasons")
    behind = "behind those before"
    words = f"does not run {behind} it", f"do not run {behind} them"
    yield from _some([_reason_told(one, *words) for one in line.apart], "reasons")


def _some(lines: Sequence[str], what: str) -> Iterator[str]:
    yield from (f"    {line}" for line in lines[:MAX_SHOWN])
    if len(lines) > MAX_SHOWN:
        yield f"    and {len(lines) - MAX_SHOWN:,} more {what}"


def _together_told(one: Together) -> str:
    what = f"{number_of(one.nodes, 'node')} like {one.first}"
    return f"{what} ({one.description}){_chains_told(one.chains)}: {_begin(one)}"


def _chains_told(chains: Chained) -> str:
    if not chains.number:
        return ""
    are_equal = chains.number * chains.longest == chains.number + chains.behind
    number, up_to = number_of(chains.number, "chain"), "" if are_equal else "up to "
    return f", {chains.behind:,} of them behind others: {number} of {up_to}{chains.longest:,}"


def _begin(one: Together) -> str:
    sizes = [size for size in one.sizes if size >= MIN_SIZE]
    if not sizes:
        return "first one to a job, until it is known how long they take"
    up_to = "" if min(sizes) == max(sizes) else "up to "
    in_all = one.nodes if one.chains.number else one.at_once
    more = ", then more" if sum(one.sizes) < in_all else ""
    bundles = f"{number_of(len(sizes), 'bundle')} of {up_to}{max(sizes)} nodes"
    return f"first {bundles}{more}{_provided(one)}"


def _provided(one: Together) -> str:
    """What the sizes are based on."""
    if one.chains.number:
        return "" if one.at_start else ", if the first of them are ready at once"
    all_of_them = one.at_once == one.nodes
    if one.at_start:
        return "" if all_of_them else f" for the {one.at_once:,} that are ready at the start"
    return f", if {'all' if all_of_them else f'{one.at_once:,} of them'} are ready at once"


def _reason_told(one: Alone, does: str, do: str) -> str:
    others = f" and {number_of(one.nodes - 1, 'other node')}" if one.nodes > 1 else ""
    return f"{one.first}{others} {does if one.nodes == 1 else do}: {one.why}"
