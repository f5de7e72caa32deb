"""Nodes with a CACHE command in a simulated world: the store, which outlives runs of the DAG, the
process that looks nodes up, which takes its time, and descriptions that change between two runs.

O39: no node is done without having run if its description means something else, or anything before
it has run, since it last ran; and none is taken for another that is only written differently.  O44:
a node with a CACHE command is submitted only if the log says that it is to run.

They have a random generator of their own, so that what they do changes no draw of anything else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import CLEANING
from condor_pydagman.features.cache.adapters.compared import values
from condor_pydagman.features.cache.commands import Cache, CachedOfDag, cached_of
from condor_pydagman.features.cache.run import (
    CachedFound,
    CachedKept,
    CachedResult,
    CachedWanted,
    KeepCached,
    LookUpCached,
)
from condor_pydagman.features.growth.commands import growth_of
from condor_pydagman.features.publish.commands import published_of
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import NodeKind
from tests.features.cache.authors import written
from tests.oracles import require
from tests.sim.parts import FakeHelper, Part

if TYPE_CHECKING:
    from tests.sim.fake_jobs import Cluster
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

CHANGES = 0.15  # chance that what a node makes changes from one run to the next
TAKES = 0.1  # chance that a person takes the results of a node as they are, before a run


class _Kept(NamedTuple):
    """What the store has of a node."""

    facts: tuple[str, str]  # of its parents, and of its submit description
    result: str
    done: bool = False


@lru_cache(1000)
def _comes_to(text: str) -> str:
    """What the jobs of a submit description make."""
    return repr(sorted(values(text, (), ())[1].items()))


class FakeCache(FakeHelper):
    """What one DAGMan process has done about these nodes."""

    rests = True  # what is being done is a request that is pending
    may_outlive = True  # written before its DAGMan died, perhaps

    def __init__(self, process: Process) -> None:
        world = process.world
        mine = Random(f"cache {world.seed} {world.life}")
        super().__init__(process, Caches.of(world).delays.setdefault(world.life, mine))

    def _answer(self, request: LookUpCached | KeepCached) -> CachedFound | CachedKept:
        dag, caches = self._process.dag, Caches.of(self._world)
        if isinstance(request, LookUpCached):
            return CachedFound([caches.look_up(dag, one) for one in request.wanted])
        for node, result in request.kept:
            caches.keep(dag, node, result)
        return CachedKept([node for node, _ in request.kept])


def _hits(world: World) -> bool:
    return Caches.of(world).hits > 3


class Caches(Part):
    """The store, and what really happened.

    Attributes:
        hits: how many nodes were done without having run.
        unchanged: those of this era.
    """

    kind = "cached"
    meaning = "nodes have CACHE commands, and DAGs are run again"
    place = 8
    fresh: ClassVar = {
        "cached": 25,
        "cached steered decided": 25,
        "cached matched growing": 25,
        "cached braked steered": 25,
    }
    crashed: ClassVar = ((7, _hits), (19, _hits))
    helpers: ClassVar = {"cache": FakeCache}

    def __init__(self, world: World) -> None:
        super().__init__(world)
        self._kept: dict[str, _Kept] = {}
        self.delays: dict[float, Random] = {}  # by life, which a sleep does not end
        self._tickets = 0
        self._ran: dict[str, tuple[int, int]] = {}  # by node, when, and with which input
        self._decided: set[str] = set()
        self.unchanged: set[str] = set()
        self.hits = 0

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        """Give most nodes of the DAG a CACHE command."""
        often = rng.choice((0.5, 0.9, 1.0))
        for node in range(len(dag)):
            fit = dag.kinds[node] == NodeKind.JOB and not dag.is_noop(node)
            must_run = node in published_of(dag) or node in growth_of(dag).extensions
            if fit and rng.random() < often and not must_run:
                CachedOfDag.put(dag).cached[node] = Cache(0, "")

    def lines(
        self, name: str, parents: Collection[str], rng: Random, before: list[str]
    ) -> list[str]:
        return [f"CACHE {name}"] if rng.random() < 0.8 else []

    def given(self, dag: Dag) -> dict[str, str]:
        return {name: kept.result for name, kept in self._kept.items()}

    def goes_on(self, code: int) -> bool:
        if not self.is_on:
            return False
        rng = Random(f"again {self.world.seed} {self.world.era}")
        again = rng.random() < (0.7 if code == 0 else 0.4)
        if again and rng.random() < 0.1:
            self._kept.clear()  # somebody has deleted the file
        return again

    def new_era(self) -> None:
        self._decided.clear()
        self.unchanged.clear()

    def _input(self, name: str) -> int:
        """Which version of its description a node has."""
        changes = (Random(f"{self.world.seed} {era} {name}") for era in range(self.world.era))
        return sum(rng.random() < CHANGES for rng in changes)

    def _text(self, name: str) -> str:
        """The description, which its author writes differently for each run."""
        rng = Random(f"written {self.world.seed} {self.world.era} {name}")
        return written(rng, self._input(name))

    def _is_taken(self, name: str) -> bool:
        """Whether a person has taken its result as it is since its last run."""
        return Random(f"takes {self.world.seed} {self.world.era} {name}").random() < TAKES

    # What the process does.

    def look_up(self, dag: Dag, wanted: CachedWanted) -> CachedResult:
        node, number, parents, why, anew = wanted
        name = dag.names[node]
        facts, old = (parents, _comes_to(self._text(name))), self._kept.get(name)
        by = ""
        if old is not None and old.done and self._is_taken(name):
            old, by = old._replace(facts=(old.facts[0], facts[1])), "its result was taken as it is"
            self._kept[name] = old
            self._ran[name] = self._ran[name][0], self._input(name)
        elif old is not None and name in self._ran:
            same = self._ran[name][1] == self._input(name)
            require((old.facts[1] == facts[1]) == same, f"O39: {name} is the same: {same}")
        if old is not None and old.done and old.facts == facts and parents and not anew:
            return CachedResult(node, number, True, old.result, by)
        self._note(name)
        self._kept[name] = _Kept(facts, f"r{self._tickets}")
        return CachedResult(node, number, False, f"r{self._tickets}", why or "it changed")

    def keep(self, dag: Dag, node: int, result: str) -> None:
        name = dag.names[node]
        old = self._kept.get(name)
        if old is not None and old.result == result:
            self._kept[name] = old._replace(done=True)

    def _note(self, name: str) -> None:
        self._tickets += 1
        self._ran[name] = self._tickets, self._input(name)

    # What is checked.

    def cluster_taken(self, process: Process, cluster: Cluster) -> None:
        dag, name = process.dag, cluster.node
        cleans_up = process.engine.run.nodes.marks[dag.ids[name]] & CLEANING
        checked = not (self.world.ever_garbled or cleans_up)
        said = name in self._decided or dag.ids[name] not in cached_of(dag)
        self.unchanged.discard(name)
        require(said or not checked, f"O44: {name} is submitted, and its CACHE was not decided")
        before = self._ran.get(name)
        self._note(name)
        if cleans_up and before is not None:  # what the cache has is still of the run before
            self._ran[name] = self._ran[name][0], before[1]

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        if event.record == "CACHED" and event.value == 1:
            truth.done.add(event.node)

    def in_log(self, process: Process, event: LogEvent) -> None:
        if event.record != "CACHED":
            return
        dag, name = process.dag, event.node
        truth = self.world.oracles.truth
        checked = not (truth.unsure or name in truth.changed)
        if event.value == 0:
            self._decided.add(name)
            return
        self.hits += 1
        self.unchanged.add(name)
        if not checked:
            return
        when, version = self._ran[name]
        require(version == self._input(name), f"O39: {name} does not run, and it has changed")
        for parent in _before(dag, dag.ids[name]):
            require(parent in cached_of(dag), f"O39: {name} does not run, its parent has no CACHE")
            last = self._ran.get(dag.names[parent], (0, 0))[0]
            require(last < when, f"O39: {name} does not run, {dag.names[parent]} has")

    def not_run(self) -> set[str]:
        return self.unchanged


def _before(dag: Dag, node: int) -> Iterator[int]:
    """The node's parents; for NOOP nodes without scripts, their parents."""
    for parent in dag.parents(node):
        if dag.is_noop(parent) and parent not in dag.scripts:
            yield from _before(dag, parent)
        else:
            yield parent


PART = Caches
