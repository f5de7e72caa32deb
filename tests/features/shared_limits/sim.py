"""Several DAGs under limits that they share, in virtual time: engines, one schedd, one directory.

DAGMans are killed and start again, requests and their answers are lost, one is held for long,
limits are changed, and DAGs grow, some of which had no limits before.  To some DAGs a rule of the
administrator applies limits; it may change while a DAGMan is down.  L1: no limit is exceeded,
unless it has been lowered, or a rule has changed.  L2: no more starts in any minute.  L3: every DAG
ends well, so nobody starves and nothing leaks.  L4: at the end nothing is held.  L5: who reads the
log of a DAG knows which limits are applied to it.

`python -m tests.features.shared_limits.sim SEED [COUNT]` runs seeds.
"""

from __future__ import annotations

import heapq
import sys
from collections.abc import Callable
from copy import deepcopy
from random import Random
from typing import Any, NamedTuple

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.common.node_sets import NodeSet
from condor_pydagman.features.growth.piece import PieceText
from condor_pydagman.features.growth.run import PieceOffered
from condor_pydagman.features.shared_limits.commands import LimitsOfDag, LimitUse, limit_uses_of
from condor_pydagman.features.shared_limits.definitions import Kind, Limit, parse
from condor_pydagman.features.shared_limits.directory import Queued, _left
from condor_pydagman.features.shared_limits.fair_shares import Outcome, decide
from condor_pydagman.features.shared_limits.limit_claims import LimitClaims
from condor_pydagman.features.shared_limits.messages import (
    PlacesGiven,
    PlacesUnknown,
    PlacesWanted,
    TakePlaces,
)
from condor_pydagman.graph.building import BuildOptions
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import EventKind, ScriptKind
from tests import make
from tests.oracles import Violation, require
from tests.pieces import Pieces, piece_of
from tests.sim.invariants import validate

MAX_S = 100_000.0
FAULTS_S = 400.0
CONFIG = make.quiet()


class Job(NamedTuple):
    """A node's job in the queue."""

    cluster: int
    node: str
    retry: int
    idle: bool


class Dagman:
    """One DAG: what outlives its DAGMan, and the DAGMan that runs, if one does."""

    def __init__(self, world: SharedWorld, name: str) -> None:
        self.world, self.name = world, name
        self._base = _dag(world.rng)
        self._rng = Random(f"grow {world.seed} {name}")
        if self._rng.random() < 0.3:
            self._base.features.clear()
        self._rules = Random(f"rules {world.seed} {name}")
        self.applied: tuple[str, ...] = ()
        if self._rules.random() < 0.4:
            LimitsOfDag.put(self._base).uses = []
            self.applied = ("a",) if self._rules.random() < 0.7 else ("b", "a")
        self.texts: dict[str, PieceText] = {}
        self.dag = self._base
        self.log: list[inputs.LogEvent] = []
        self.jobs: dict[int, Job] = {}
        self.claims: LimitClaims | None = None
        self.life = 0
        self.engine: Engine | None = None
        self.scripts: dict[tuple[int, ScriptKind], int] = {}
        self.done = False
        self.wake_at = float("inf")
        self.replaying = False

    def start(self) -> None:
        """A DAGMan starts; it recovers unless it is the first."""
        if self.done:
            return
        self.life += 1
        self._started = self.world.now
        recovering = self.life > 1
        if recovering and self._rules.random() < 0.1:
            self.applied = self._rules.choice(((), ("a",), ("b",)))
            self.world.lowered |= {"a", "b"}
        self.dag = dag = deepcopy(self._base)
        if self.applied:
            LimitsOfDag.put(dag).applied = self.applied
        given = {"growth": Pieces(dag, self.texts)}
        self.engine = Engine(dag, CONFIG, Throttles(), dag_id=1, given=given, check=validate)
        for _ in range(self._rng.randint(0, 2)):
            self._later(self._rng.uniform(0, 30), self._grow)
        self.wake_at = float("inf")
        if not recovering:
            self.tell(inputs.Begin(recovering=False))
            return
        self.replaying = True
        self.tell(inputs.Begin(recovering=True), *self.log, inputs.LogCaughtUp())
        self.replaying = False
        self.plan()

    def keeps(self, key: str) -> set[int]:
        """The nodes that keep to a limit."""
        found: set[int] = set()
        for use in limit_uses_of(self.dag):
            if use.limit == key:
                found.update(range(len(self.dag)) if use.of.nodes is None else use.of.nodes)
        return found

    def _grow(self) -> None:
        """Somebody adds nodes."""
        assert self.engine is not None
        rng, number = self._rng, len(self.texts)
        names = [f"G{number}n{one}" for one in range(rng.randint(1, 5))]
        lines = [f"JOB {name} n.sub" for name in names]
        lines += [f"SCRIPT PRE {name} p" for name in names if rng.random() < 0.3]
        lines += ["SHARED_LIMIT a ALL_NODES"] * (rng.random() < 0.7)
        if rng.random() < 0.5:
            lines.append(f"SHARED_LIMIT b NODES {' '.join(rng.sample(names, 1))}")
        text = PieceText("p", {"p": "\n".join([*lines, ""])}, BuildOptions())
        digest = f"{number:032x}"
        piece = piece_of(self.dag, text, digest)
        if not self.engine.feature("growth").obstacle(piece):
            self.texts[digest] = text
            self.tell(PieceOffered(number + 1, piece, "ann"))

    def kill(self) -> None:
        """It is killed, and its scripts with it."""
        self.engine = None
        self.scripts.clear()

    def tell(self, *what: Any) -> None:
        """Give inputs and do what the engine asks for."""
        for one in map(make.as_input, what):
            if self.engine is None:
                return
            for action in self.engine.handle(one, self.world.now):
                self._perform(action)
        if not self.replaying:
            self.plan()

    def plan(self) -> None:
        """Wake it when it wants to be woken."""
        if self.engine is None:
            return
        deadline = self.engine.next_deadline()
        if deadline is not None and deadline < self.wake_at - 1e-9:
            self.wake_at = max(deadline, self.world.now)
            self._later(self.wake_at - self.world.now, self._wake)

    def _wake(self) -> None:
        self.wake_at = float("inf")
        self.tell(inputs.Wake())

    def _later(self, delay: float, what: Callable[[], None]) -> None:
        """Do it, unless DAGMan has been killed by then."""
        life, engine = self.life, self.engine
        self.world.at(delay, lambda: what() if (life, engine) == (self.life, self.engine) else None)

    def _perform(self, action: Any) -> None:
        rng, action = self.world.rng, make.requested(action)
        if isinstance(action, do.SubmitNode):
            self._later(rng.uniform(0, 0.3), lambda: self._submit(action))
        elif isinstance(action, do.RunScript):
            key = (action.node, action.kind)
            self.scripts[key] = self.life
            self.world.check()
            self._later(rng.uniform(0.1, 20), lambda: self._script_ends(key))
        elif isinstance(action, do.QueryQueue):
            self._later(rng.uniform(0, 2), self._list)
        elif isinstance(action, TakePlaces):
            self._later(rng.uniform(0, 0.2), lambda: self._round(action))
        elif isinstance(action, do.Exit):
            require(action.code == 0, f"L3: DAG {self.name} ends with {action.code}")
            self._check_log()
            self.done, self.engine, self.claims = True, None, None
        else:
            for event in make.appended(self.dag, action):
                self._later(rng.uniform(0, 0.1), lambda event=event: self.write(event))

    def _check_log(self) -> None:
        """L5."""
        texts = [event.text for event in self.log if event.record == "LIMITS_APPLIED"]
        told, applied = texts[-1] if texts else "", " ".join(self.applied)
        is_known = told == applied or self.world.now < self._started + 1.0
        require(is_known, f"L5: the log has {told!r}, not {applied!r}")

    def write(self, event: inputs.LogEvent) -> None:
        """An event comes into the log, and is read a little later."""
        event = event._replace(time=self.world.now)
        self.log.append(event)
        self._later(0.001, lambda: self.tell(event))

    def _submit(self, action: do.SubmitNode) -> None:
        world = self.world
        world.clusters += 1
        job = Job(world.clusters, self.dag.names[action.node], action.retry, True)
        self.jobs[job.cluster] = job
        world.starts.append((world.now, self, action.node))
        world.check()
        self.write(make.submit(job.node, job.cluster))
        self._later(0.05, lambda: self.tell(inputs.Submitted(action.node, job.cluster, 1)))
        world.at(world.rng.uniform(0.1, 10), lambda: self._runs(job))

    def _runs(self, job: Job) -> None:
        self.jobs[job.cluster] = job._replace(idle=False)
        self.write(make.of_job(EventKind.EXECUTE, job.cluster))
        self.world.at(self.world.rng.uniform(0.1, 40), lambda: self._ends(job))

    def _ends(self, job: Job) -> None:
        del self.jobs[job.cluster]
        self.write(make.terminated(job.cluster))

    def _script_ends(self, key: tuple[int, ScriptKind]) -> None:
        self.scripts.pop(key, None)
        self.tell(inputs.ScriptEnded(*key, 0))

    def _list(self) -> None:
        jobs = [inputs.QueuedJob(one.cluster, 0, one.node, one.retry) for one in self.jobs.values()]
        self.tell(inputs.QueueListed(jobs))

    def _round(self, action: TakePlaces) -> None:
        world = self.world
        if world.hit(0.05):
            self._later(0.1, lambda: self.tell(PlacesUnknown("the disk is full")))
            return
        outcome = world.round(self, action)
        if world.hit(0.05):  # after it has been written
            self._later(0.1, lambda: self.tell(PlacesUnknown("the process has died")))
            return
        answer = PlacesGiven(outcome.grants, outcome.contested, outcome.again_s)
        self._later(world.rng.uniform(0, 0.1), lambda: self.tell(answer))

    def counts(self) -> LimitClaims | None:
        """What counts of its file."""
        if self.claims is None or self.engine is not None:
            return self.claims
        idle = sum(job.idle for job in self.jobs.values())
        queued = Queued(held=False, nodes=len(self.jobs), idle=idle)
        parts = {key: _left(part, queued) for key, part in self.claims.parts.items()}
        return self.claims._replace(parts=parts)


class SharedWorld:
    """All of it; the seed decides everything."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = rng = Random(f"shared {seed}")
        self.now = 1000.0
        self.clusters = 0
        self.starts: list[tuple[float, Dagman, int]] = []
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._ticket = 0
        text = f"a = JOBS {rng.randint(1, 8)} IDLE {rng.randint(1, 4)} PRE {rng.randint(1, 3)};"
        text += f"b = JOBS {rng.randint(1, 4)} POST 2 STARTS-PER-MINUTE {rng.choice((6, 60, 600))}"
        self.limits: dict[str, Limit] = {limit.key: limit for limit in parse(text, "test")}
        self.lowered: set[str] = set()
        self.dagmans = [Dagman(self, str(number)) for number in range(rng.randint(2, 6))]

    def at(self, delay: float, what: Callable[[], None]) -> None:
        """Do something after so many seconds."""
        self._ticket += 1
        heapq.heappush(self._heap, (self.now + delay, self._ticket, what))

    def hit(self, rate: float) -> bool:
        """Whether a fault strikes now."""
        return self.now < 1000.0 + FAULTS_S and self.rng.random() < rate

    def run(self) -> None:
        """Run to the end.

        Raises:
            Violation: a limit is exceeded, or a DAG does not end.
        """
        for one in self.dagmans:
            self.at(self.rng.uniform(0, 60), one.start)
        self.at(self.rng.uniform(0, 30), self._disturb)
        while self._heap:
            self.now, _, what = heapq.heappop(self._heap)
            require(self.now < MAX_S, f"L3: {[one.name for one in self.dagmans if not one.done]}")
            what()
        for one in self.dagmans:
            require(one.done, f"L3: DAG {one.name} has not ended")
            require(one.claims is None, f"L4: DAG {one.name} holds places")

    def _disturb(self) -> None:
        """A DAGMan is killed, for a moment or for long; a limit is changed."""
        if not self.hit(1.0):
            return
        one = self.rng.choice(self.dagmans)
        if one.engine is not None and self.rng.random() < 0.8:
            one.kill()
            self.at(self.rng.choice((0.5, 5.0, 200.0)), one.start)
        elif self.rng.random() < 0.3:
            key = self.rng.choice(sorted(self.limits))
            limit = self.limits[key]
            most = {kind: max(1, n + self.rng.choice((-2, 3))) for kind, n in limit.most.items()}
            self.limits[key] = limit._replace(most=most)
            self.lowered.add(key)
        self.at(self.rng.uniform(0, 30), self._disturb)

    def round(self, dagman: Dagman, action: TakePlaces) -> Outcome:
        """What a round does."""
        own = dagman.claims or LimitClaims(dagman.name, dagman.name, {})
        others = [
            claims._replace(name=one.name)
            for one in self.dagmans
            if one is not dagman and (claims := one.counts()) is not None
        ]
        outcome = decide(own, others, self.limits, action.demands, self.now)
        dagman.claims = outcome.claims
        for one in self.dagmans:
            if one.name in outcome.woken and not self.hit(0.1):
                self.at(0.01, lambda one=one: one.tell(PlacesWanted()))  # type: ignore[misc]
        return outcome

    def check(self) -> None:
        """L1 and L2."""
        for key, limit in self.limits.items():
            if key in self.lowered:
                continue
            for kind, most in limit.most.items():
                found = sum(self._in_use(one, key, kind) for one in self.dagmans)
                law = "L2" if kind is Kind.STARTS else "L1"
                require(found <= most, f"{law}: {key} {kind.name}: {found} of {most}")

    def _in_use(self, dagman: Dagman, key: str, kind: Kind) -> int:
        keeps = dagman.keeps(key)
        if kind is Kind.STARTS:
            lately = [one for one in self.starts if one[0] > self.now - 60 + 0.6]
            return sum(one is dagman and node in keeps for _, one, node in lately)
        if kind in (Kind.JOBS, Kind.IDLE):
            jobs = [job for job in dagman.jobs.values() if dagman.dag.ids[job.node] in keeps]
            return sum(job.idle or kind is Kind.JOBS for job in jobs)
        wanted = ScriptKind.PRE if kind is Kind.PRE else ScriptKind.POST
        return sum(node in keeps and one is wanted for node, one in dagman.scripts)


def _dag(rng: Random) -> Dag:
    names = [f"N{number}" for number in range(rng.randint(1, 14))]
    text = "; ".join(
        f"{rng.choice(names[:number])} -> {name}" if number and rng.random() < 0.4 else name
        for number, name in enumerate(names)
    )
    scripts = [f"SCRIPT PRE {name} p" for name in names if rng.random() < 0.3]
    scripts += [f"SCRIPT POST {name} q" for name in names if rng.random() < 0.2]
    dag = make.dag("\n".join([text, *scripts]))
    uses = LimitsOfDag.put(dag).uses
    uses.append(LimitUse("a"))
    if rng.random() < 0.6:
        nodes = tuple(sorted(rng.sample(range(len(dag)), rng.randint(1, len(dag)))))
        uses.insert(rng.randint(0, 1), LimitUse("b", NodeSet(nodes=nodes)))
    return dag


def judge(seed: int) -> str:
    """What is wrong with a seed, '' if all is well."""
    world = SharedWorld(seed)
    try:
        world.run()
    except (Violation, AssertionError) as error:
        return f"seed {seed} at {world.now:.3f}: {type(error).__name__}: {error}"
    return ""


def main() -> int:
    """The command."""
    first, count = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    found = [error for seed in range(first, first + count) if (error := judge(seed))]
    print("\n".join(found) or f"{count} seeds: all is well")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
