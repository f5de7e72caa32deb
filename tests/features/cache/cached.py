"""A DAG with CACHE commands, and a store that answers at once, for tests of them."""

from __future__ import annotations

from typing import Any, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.features.cache.commands import Cache, CachedOfDag
from condor_pydagman.features.cache.run import (
    CachedFound,
    CachedKept,
    CachedResult,
    CachedWanted,
    KeepCached,
    LookUpCached,
)
from condor_pydagman.graph.model import Dag
from tests import make
from tests.make import QUIET
from tests.unit.engine.steered import Steered


class Kept(NamedTuple):
    """What the store has of a node."""

    parents: str
    result: str
    done: bool = False
    taken: str = ""


class Store:
    """As `features.cache.adapters.lookup`; outlives the runs of a DAG.

    Attributes:
        changed: names of nodes with an input that has changed.
    """

    def __init__(self) -> None:
        self.kept: dict[str, Kept] = {}
        self.changed: set[str] = set()
        self._made = 0

    def look_up(self, dag: Dag, wanted: CachedWanted) -> CachedResult:
        node, number, parents, why, anew = wanted
        name = dag.names[node]
        old = self.kept.get(name)
        if old is None:
            why = "it has never been done"
        elif anew:
            why = "it is to run anew"
        elif name in self.changed and not old.taken:
            why = "its input x has changed"
        elif not old.done:
            why = "it did not end well when it last ran"
        elif parents and old.parents == parents:
            return CachedResult(node, number, True, old.result, old.taken)
        self.changed.discard(name)
        self._made += 1
        self.kept[name] = Kept(parents, f"r{self._made}")
        return CachedResult(node, number, False, f"r{self._made}", why)

    def take(self, name: str, who: str) -> None:
        """A person takes the node's result as it is."""
        taken = f"its result was taken as it is by {who}"
        self.kept[name] = self.kept[name]._replace(taken=taken)

    def keep(self, dag: Dag, node: int, result: str) -> None:
        name = dag.names[node]
        if self.kept[name].result == result:
            self.kept[name] = self.kept[name]._replace(done=True)

    def answers(self, dag: Dag, request: Any) -> list[Any]:
        """Those of the process that has the store."""
        if isinstance(request, LookUpCached):
            return [CachedFound([self.look_up(dag, one) for one in request.wanted])]
        if not isinstance(request, KeepCached):
            return []
        for node, result in request.kept:
            self.keep(dag, node, result)
        return [CachedKept([node for node, _ in request.kept])]

    def results(self) -> dict[str, str]:
        return {name: kept.result for name, kept in self.kept.items()}


class Caching(Steered):
    """A run of such a DAG."""

    store: Store

    def answers(self, request: Any) -> list[Any]:
        return self.store.answers(self.dag, request)

    def run_all(self) -> list[str]:
        """Run the DAG to its end, all jobs well; the names of the nodes that were submitted."""
        ran: list[str] = []
        while not self.ever(do.Exit):
            (name, *_) = [n for n in self.dag.names if self.state(n).name == "SUBMITTING"]
            ran.append(name)
            self.run(name, len(ran))
        return ran

    def replayed(self) -> str:
        states = super().replayed()
        other = self.replay()
        other.tell(inputs.LogCaughtUp())
        mine, its = (one.engine.run.features["cache"] for one in (self, other))
        assert (mine.made, mine.cached) == (its.made, its.cached)
        return states


def all_cached(text: str, *, but: str = "") -> Dag:
    """A DAG of which all nodes have a CACHE command, `but` some."""
    dag = make.dag(text)
    nodes = (n for n, name in enumerate(dag.names) if name not in but.split())
    CachedOfDag.put(dag).cached = dict.fromkeys(nodes, Cache(0, ""))
    return dag


def caching(of: Dag, store: Store | None = None) -> Caching:
    """A DAG that has begun, and asks this store, which has what earlier runs have left."""
    found = store or Store()
    harness = Caching(of, QUIET, given={"cache": found.results()})
    harness.store = found
    harness.begin()
    harness.settle()
    return harness
