"""Bundles in a simulated world: the process that makes them and brings results home, and their jobs
in the fake schedd, which run the tasks of their nodes and may end, or be disturbed, at any time.

In some worlds the results of a job survive whatever becomes of it (a shared file system), and are
known while it runs; in others they come home only if it ends by itself (file transfer), it is known
how long tasks took, and a job that starts again without results runs none of them.

O50: no two jobs in the queue are to run the same node.  O51: a node runs again in the same attempt
only if nobody has the result of its task.  O52: a node that a bundle gives back has used no retry.
O53: the nodes of a bundle are of one category, and of one kind.  O54: nodes wait for others only
while something keeps a bundle from being made.  O55: what an event says of a task is how it ended,
and it tells of no task that has not ended.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import zip_longest
from random import Random
from typing import TYPE_CHECKING, Any, ClassVar

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import RunState
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.bundle import runner
from condor_pydagman.features.bundle.adapters import collected
from condor_pydagman.features.bundle.commands import BundleLine, BundlesOfDag, bundle_lines_of
from condor_pydagman.features.bundle.messages import (
    Collect,
    Collected,
    Forget,
    Forgotten,
    Look,
    LookAt,
    LookedAt,
    Prepare,
    Prepared,
    SlotsSeen,
    SlotsWanted,
)
from condor_pydagman.features.common.node_sets import NodeSet
from condor_pydagman.graph.model import Dag
from condor_pydagman.vocabulary import JOB_ENDS, EventKind, NodeKind
from tests.oracles import require
from tests.sim.fake_jobs import Cluster, Job
from tests.sim.parts import FakeHelper, Part

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

MAX_TASK_S = 60.0  # seconds that a task may take
LOSES = 0.3  # chance that a job which starts again has lost what it had done
DIES = 0.05  # chance that the runner ends before its time, for each task
_RUNNER_CODES = (20, 21, 22, 127, -9)
_TASK = (
    1000  # what is beyond this, negative, stands for a task where jobs have the number of a proc
)


class FakeBundle:
    """What is known of a bundle beside the log: its directory, so to speak.

    Attributes:
        nodes, time_limits: as DAGMan has asked for them.
        ended: by number of a task, the line of its end.
        started: numbers of tasks.
        tasks: what of its job is each node's.
        run: how often its job has begun to run.
        running: tasks that run.
        released: tasks that its job does not run.
        lost: nobody has its results any more.
    """

    def __init__(self, request: Prepare, names: Sequence[str], era: int) -> None:
        self.number = request.number
        self.parallel = request.parallel
        self.nodes = request.nodes
        self.time_limits = request.time_limits
        self.release_s = request.release_s
        self.after = dict(enumerate(request.after, 1))
        self.names = names
        self.era = era
        self.ended: dict[int, dict[str, Any]] = {}
        self.started: set[int] = set()
        self.tasks: list[Cluster] = []
        self.cluster: Cluster | None = None
        self.run = 0
        self.running: dict[int, float] = {}  # since when
        self.released: set[int] = set()
        self.lost = False

    def left(self) -> list[int]:
        """Tasks that run or are still to run."""
        numbers = range(1, len(self.names) + 1)
        found: list[int] = []
        for one in numbers:
            before = self.after.get(one, ())
            may_run = all(two in found or self.is_done(two) for two in before)
            if one not in self.ended and one not in self.released and may_run:
                found.append(one)
        return found

    def is_behind(self, name: str, parent: str) -> bool:
        """Whether a node runs in it behind another one."""
        if name not in self.names:
            return False
        before = self.after.get(self.names.index(name) + 1, ())
        return parent in [self.names[one - 1] for one in before]

    def is_done(self, number: int) -> bool:
        """Whether a task has ended well."""
        end = self.ended.get(number)
        return end is not None and end["code"] == 0 and not end["timed_out"]

    def may_start(self, number: int) -> bool:
        """Whether those before it have ended well."""
        return all(map(self.is_done, self.after.get(number, ())))


class FakeBundles(FakeHelper):
    """What one DAGMan process has done about bundles: one request after the other."""

    may_outlive = True  # it was done before its DAGMan died, perhaps

    def __init__(self, process: Process) -> None:
        world = process.world
        super().__init__(process, Random(f"bundles {world.seed} {world.life}"))
        self._free_at = 0.0

    def _done_at(self, delay: float) -> float:
        self._free_at = max(self._free_at, self._world.now) + delay
        return self._free_at

    def _answer(self, request: Any) -> Any:
        part = Bundled.of(self._world)
        if isinstance(request, LookAt):
            nodes = (*request.followers, *request.nodes)
            return LookedAt([part.look(self._process.dag, one) for one in nodes])
        if isinstance(request, Prepare):
            return part.make(self._process.dag, request, self._fails())
        if isinstance(request, Collect):
            return part.collect(self._process.dag, request, self._fails())
        if isinstance(request, Forget):
            return Forgotten(request.number)
        assert isinstance(request, SlotsWanted)
        return SlotsSeen(self._rng.choice((0, 1, 2, 8)))

    def _fails(self) -> bool:
        return self._world.now < self._world.faults.until and self._rng.random() < 0.05


def _bundles(world: World) -> bool:
    return Bundled.of(world).made > 1


class Bundled(Part):
    """The directories of bundles, and what really happened.

    Attributes:
        made: how many jobs the schedd has taken.
    """

    kind = "bundled"
    meaning = "short nodes run many to a job"
    place = 9
    fresh: ClassVar = {
        "bundled": 50,
        "bundled steered": 25,
        "bundled growing": 25,
        "bundled matched": 10,
    }
    crashed: ClassVar = ((11, _bundles), (35, _bundles))
    helpers: ClassVar = {"bundle": FakeBundles}

    def __init__(self, world: World) -> None:
        super().__init__(world)
        rng = Random(f"bundled {world.seed}")
        self._rng = Random(f"run bundled {world.seed}")
        self._shared = rng.random() < 0.5
        self._alone = rng.choice((0.0, 0.0, 0.1, 0.3))
        self._kinds = rng.choice((1, 1, 1, 2))
        self._made: dict[int, FakeBundle] = {}  # of this era
        self._all: list[FakeBundle] = []
        self._by_cluster: dict[int, FakeBundle] = {}
        self._decided: dict[int, Throttles] = {}  # the limits under which a bundle was made
        self._retries: dict[str, int] = {}
        self._taken: FakeBundle | None = None  # of which the schedd takes the job
        self.made = 0

    @classmethod
    def add(cls, dag: Dag, rng: Random) -> None:
        lines = BundlesOfDag.put(dag).uses
        if rng.random() < 0.3:
            lines.append(BundleLine("chains", 100, 0, rng.choice((1, 2)), 0, True, NodeSet()))
        nodes = [node for node in range(len(dag)) if dag.kinds[node] == NodeKind.JOB]
        sets = [NodeSet(), NodeSet("a"), NodeSet("b")]
        if nodes:
            some = sorted(rng.sample(nodes, rng.randint(1, len(nodes))))
            sets.append(NodeSet(nodes=tuple(some)))
        for number in range(rng.choice((1, 1, 2))):
            of = NodeSet() if rng.random() < 0.6 else rng.choice(sets)
            size = rng.choice((0, 2, 3, 5, 100))
            wait = rng.choice((0, 0, 0, 20, 100))
            parallel, chains = rng.choice((1, 1, 2, 3)), rng.random() < 0.5
            lines.append(
                BundleLine(f"b{number}", size, rng.choice((0, 100)), parallel, wait, chains, of)
            )

    @classmethod
    def config(cls, config: Config, seed: int) -> Config:
        return config

    def lines(
        self, name: str, parents: Collection[str], rng: Random, before: list[str]
    ) -> list[str]:
        return ["BUNDLE more SIZE 4 ALL_NODES"] if rng.random() < 0.7 else []

    # What the process does.

    def _kind(self, name: str) -> str:
        return str(Random(f"{self.world.seed} kind {name}").randrange(self._kinds))

    def look(self, dag: Dag, wanted: do.SubmitNode) -> Look:
        name = dag.names[wanted.node]
        outcomes = self.world.workload.outcomes
        rng = Random(f"{self.world.seed} alone {name} {wanted.retry}")
        if outcomes.procs(name) > 1 or outcomes.factory(name):
            return Look(wanted.node, "", "its queue statement is not for one job")
        if outcomes.common_input(name) or rng.random() < self._alone:
            return Look(wanted.node, "", "it has something")
        return Look(wanted.node, self._kind(name), is_live=self._shared)

    def make(self, dag: Dag, request: Prepare, fails: bool) -> Prepared:
        if fails:
            return Prepared(request.number, "", "the disk is full")
        names = [dag.names[one.node] for one in request.nodes]
        old = self._made.get(request.number)
        unused = old is None or old.cluster is None or old.cluster.over
        require(unused or self.world.ever_garbled, f"O50: bundle {request.number} is made twice")
        kinds = {self._kind(name) for name in names}
        require(len(kinds) == 1, f"O53: bundle {request.number} has kinds {kinds}")
        found = FakeBundle(request, names, self.world.era)
        self._made[request.number] = found
        self._all.append(found)
        return Prepared(request.number, f"bundle {request.number}")

    def collect(self, dag: Dag, request: Collect, fails: bool) -> Collected:
        if fails:
            return Collected(request.number, "", (), "the file system hangs")
        found = self._by_cluster.get(request.cluster)
        names = [dag.names[one] for one in request.nodes]
        order = collected.CollectOrder(request, "", names, (False, False, False))
        are_home = bool(request.why or self._shared)
        text, took = _told(order, found, self.world.clock(), are_home=are_home)
        if not (are_home or found is None or found.lost):
            took = [end["time"] - end["begun"] for end in found.ended.values()]
        return Collected(request.number, text, took, not_home=0 if are_home else len(took))

    # The jobs.

    def _asked(self, action: do.SubmitJob) -> FakeBundle | None:
        return self._made.get(int(action.text.split()[1])) if action.asker == "bundle" else None

    def job_asked(self, action: do.SubmitJob) -> tuple[Sequence[do.SubmitNode], Throttles]:
        found = self._asked(action)
        if found is None:
            return (), Throttles()
        decided, process = self._decided.get(found.number, Throttles()), self.world.process
        now = process.engine.run.limits if process is not None else decided
        # Others may have been submitted since, if more is allowed now.
        jobs = max(decided.jobs, now.jobs) if decided.jobs and now.jobs else 0
        return found.nodes, decided._replace(jobs=jobs)

    def job_taken(self, cluster: Cluster, action: do.SubmitJob) -> Iterator[Cluster]:
        found = self._asked(action)
        if found is None:
            return
        self.made += 1
        found.cluster = cluster
        self._by_cluster[cluster.number] = found
        cluster.in_categories = tuple(found.names[: found.parallel])
        found.tasks = [
            Cluster(
                *(cluster.number, name, NodeKind.JOB, one.retry, cluster.era, 1),
                only=-_TASK - place,
            )
            for place, (name, one) in enumerate(zip(found.names, found.nodes))
        ]
        self._taken = found
        yield from found.tasks
        self._taken = None

    def job_runs(self, job: Job) -> None:
        found = self._by_cluster.get(job.cluster.number)
        if found is not None:
            found.run += 1
            found.running = {}
            if found.run > 1 and not self._shared and self._rng.random() < LOSES:
                found.ended.clear()
                found.started.clear()
                self.world.schedd.jobs.end(job, runner.LOST if found.release_s else 0)
                return
            self._go_on(job, found, found.run)

    def _go_on(self, job: Job, bundle: FakeBundle, run: int) -> None:
        """Start as many tasks as may run now; the job ends with the last one."""
        if bundle.run != run or job.status != "running":
            return
        world, rng = self.world, self._rng
        self._count(bundle)
        for number in bundle.left():
            if len(bundle.running) >= bundle.parallel:
                break
            if number in bundle.running or not bundle.may_start(number):
                continue
            if world.now < world.faults.until and rng.random() < DIES:
                world.schedd.jobs.end(job, rng.choice(_RUNNER_CODES))
                return
            bundle.running[number] = world.now
            bundle.started.add(number)
            self._start(job, bundle, number)
        if not bundle.running:
            world.schedd.jobs.end(job, 0)

    def _count(self, bundle: FakeBundle) -> None:
        """Its job has places in categories for those that run side by side."""
        if bundle.cluster is not None:
            left = bundle.left()[: bundle.parallel]
            bundle.cluster.in_categories = tuple(bundle.names[one - 1] for one in left)

    def _start(self, job: Job, bundle: FakeBundle, number: int) -> None:
        world, run, begun = self.world, bundle.run, self.world.clock()
        name, one = bundle.names[number - 1], bundle.nodes[number - 1]
        code = world.workload.outcomes.job(bundle.era, name, one.retry, 0)

        def ends() -> None:
            if bundle.run != run or job.status != "running":
                return
            del bundle.running[number]
            end = {"ended": number, "begun": begun, "time": world.clock(), "code": how}
            bundle.ended[number] = {**end, "signal": max(0, -how), "timed_out": timed_out}
            self._go_on(job, bundle, run)

        def release() -> None:
            if (
                bundle.run != run
                or job.status != "running"
                or len(bundle.running) < bundle.parallel
            ):
                return
            if all(since + bundle.release_s <= world.now for since in bundle.running.values()):
                bundle.released.update(filter(bundle.may_start, bundle.left()))
                bundle.released -= bundle.running.keys()
                self._count(bundle)

        if bundle.release_s:
            world.after(bundle.release_s, release)
        limit = bundle.time_limits[number - 1]
        takes = self._rng.choice((0.0, 0.1, self._rng.uniform(0.0, MAX_TASK_S)))
        timed_out = 0 < limit < takes
        how = -15 if timed_out else code
        world.after(limit if timed_out else takes, ends)

    # What is checked.

    def started(self, process: Process, *, recovering: bool) -> None:
        self._decided.clear()

    def new_era(self) -> None:
        self._made.clear()
        self._decided.clear()

    def _others(self, name: str, than: Cluster) -> Iterator[FakeBundle]:
        """Bundles of this era that have, or had, a node, but one."""
        for one in self._all:
            has = one.era == self.world.era and one.cluster is not None and name in one.names
            if has and one.cluster is not None and one.cluster.number != than.number:
                yield one

    def cluster_taken(self, process: Process, cluster: Cluster) -> None:
        name, world = cluster.node, self.world
        if world.ever_garbled or not self.is_on:
            return
        live = world.schedd.live(world.era)
        for one in self._others(name, cluster):
            where = f"bundle {one.number}"
            number = one.names.index(name) + 1
            inside = one.cluster in live and number in one.left()
            require(not inside, f"O50: {name} is submitted, and is in {where}")
            same = one.nodes[number - 1].retry == cluster.retry
            known = number in one.ended and not one.lost
            require(not (same and known), f"O51: {name} runs again, and {where} has its result")

    def action_asked(self, process: Process, action: do.Action) -> None:
        if isinstance(action, do.AppendJournalRecord) and action.record == "BUNDLED":
            if action.value not in self._decided:
                self.world.oracles.may_submit(process, -1)
            self._decided[action.value] = process.engine.run.limits
            self._one_category(process.engine.run, action)

    def _one_category(self, run: RunState, action: do.AppendJournalRecord) -> None:
        of = categories_in_force(run.dag.categories, run.settings)
        nodes = [run.dag.ids[name] for name in action.text.split(" ")]
        found = {of.get(node) for node in nodes}
        limited = any(name in run.dag.category_limits for name in found)
        require(len(found) == 1 or not limited, f"O53: bundle {action.value} is of {found}")

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        if getattr(an_input, "record", None) == "UNBUNDLED":
            run = process.engine.run
            retries = run.nodes.retries
            self._retries = {name: retries.get(node, 0) for name, node in run.dag.ids.items()}

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        run = process.engine.run
        if getattr(an_input, "record", None) == "UNBUNDLED":
            for node, name in enumerate(run.dag.names):
                taken = run.nodes.retries.get(node, 0), self._retries.get(name, 0)
                require(taken[0] == taken[1], f"O52: {name} has used a retry: {taken}")
        if process.idle and run.phase is Phase.RUNNING:
            self._bundles_are_made(process)

    def _bundles_are_made(self, process: Process) -> None:
        run = process.engine.run
        waiting = list(self.waiting(run))
        feature = run.features.get("bundle")
        if not waiting or feature.bundles or run.halted or run.written.holding:
            return
        if any(line.wait for line in bundle_lines_of(run.dag)):
            return
        asked = run.nodes.count_all(State.SUBMITTED) + run.nodes.count_all(State.UNKNOWN)
        inside = asked + len(run.submission.in_flight)
        blocked = run.pace.blocked_until(run.now, run.limits) > run.now
        held = any(part.holds_back(run) for part in self.world.parts)
        names = [run.dag.names[node] for node in waiting]
        require(bool(inside or blocked or held), f"O54: {names} wait for others")

    def learn(self, truth: Truth, event: LogEvent, cluster: Cluster | None) -> None:
        found = None if cluster is None else self._by_cluster.get(cluster.number)
        if found is not None and event.record == "TIMED_OUT":
            truth.given_up.update(one.target for one in found.tasks if one.node == event.node)
        if found is None or event.subproc <= 0 or event.record is not None:
            return
        task = found.tasks[event.subproc - 1]
        truth.of_jobs(event, task)
        if event.kind == EventKind.JOB_ABORTED and event.subproc in found.ended and not found.lost:
            late = found.ended[event.subproc]["timed_out"]
            require(late, f"O55: {task.node} was removed, and has ended")
        if event.kind != EventKind.JOB_TERMINATED:
            return
        end = found.ended.get(event.subproc)
        told = f"O55: {task.node} has ended with {event.value}"
        require(end is not None and not found.lost, f"{told}, and nobody knows")
        assert end is not None
        require(end["code"] == event.value and not end["timed_out"], f"{told}, not {end['code']}")

    def in_log(self, process: Process, event: LogEvent) -> None:
        found = self._by_cluster.get(event.cluster)
        if (
            found is None
            or event.kind not in JOB_ENDS
            or event.subproc
            or found.era != self.world.era
        ):
            return
        found.lost |= not self._shared and event.kind == EventKind.JOB_ABORTED

    # What other oracles ask.

    def allows(self, run: RunState, parent: int, child: int) -> bool:
        names, taken = run.dag.names, self._taken
        return taken is not None and taken.is_behind(names[child], names[parent])

    def waiting(self, run: RunState) -> Collection[int]:
        feature = run.features.get("bundle")
        ready = run.nodes.in_state(State.READY) if feature is not None else ()
        return [node for node in ready if feature.is_waiting(node)]

    def idle(self, run: RunState) -> int:
        feature = run.features.get("bundle")
        return 0 if feature is None else len(feature.bundles) - len(feature.jobs.running)

    def differs(self, want: State, have: State, other: RunState, node: int) -> bool:
        feature = other.features.get("bundle")
        is_inside = feature is not None and node in feature.members.bundle_of
        return want is have is State.SUBMITTING and is_inside


def _told(
    order: collected.CollectOrder, bundle: FakeBundle | None, now: float, *, are_home: bool
) -> tuple[str, list[float]]:
    """As `collected.collect`, of results that are in no file; `are_home` with the files."""
    events = collected.Events(order, now)
    text: list[str] = []
    took: list[float] = []
    names = [] if bundle is None else list(bundle.names)
    names += [name for name in order.names if name not in names]
    known = FakeBundle(Prepare(0, (), 1, ()), (), 0) if bundle is None or bundle.lost else bundle
    lines = [{"name": one, "timeout": s} for one, s in zip_longest(names, known.time_limits)]
    nodes = collected.nodes_of(order, dict(enumerate(lines, 1)))
    ended = known.ended if are_home else {}
    begun = set(filter(known.may_start, known.started))
    for number, node in nodes.items():
        if number in ended:
            text.append(events.ended(node, ended[number], "", "unknown"))
            took.append(ended[number]["time"] - ended[number]["begun"])
        elif order.asked.removed and (not node.is_behind or number in begun):
            text.append(events.removed(node))
    given = [node.name for number, node in nodes.items() if number in known.released - ended.keys()]
    last = 2 if order.asked.why else 1
    text += [events.record(last + len(given) - 1 - at, name) for at, name in enumerate(given)]
    if order.asked.why:
        suspects = known.started - ended.keys() - known.released
        words = " ".join(node.name for number, node in nodes.items() if number in suspects)
        text.append(events.record(0, f"{order.asked.why}\n{words}"))
    elif text and not given:
        text.append(events.record(1, ""))
    return "".join(text), took


PART = Bundled
