"""What must hold in every run, each with its number.

O1  No job is submitted before all parents of its node are done.
O2  A node has at most one live cluster.
O3  No throttle is ever exceeded, by a recount of our own.
O4  A node is submitted at most once per retry, and retried no oftener than RETRY says.
O5  Nothing of a node that is done ever runs again.
O6  A PRE or POST script whose end is in the log is not run again, and never twice at a time.
O7  The log, replayed by a fresh engine, gives the states that the live one has.
O8  The rescue file, parsed again, marks exactly the nodes that are done.
O9  The counts in the report equal a recount.
O10 Recovery starts nothing before the schedd has been asked.
O11 The same seed gives the same trace (checked by run.py).
O12 Every run ends once the faults have ended, and nobody is woken in vain (checked by world.py).
O13 The rescue file is written before the DAG's jobs are removed.
O14 Exit code 0 means that all is done, or that ABORT-DAG-ON said so.
O15 What the log says of a script's end is how it ended.

A garbled event is information lost for good: O1 to O9 are not asked of a run that has had one.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.report import NodeReport, Report
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.graph.progress import apply_progress
from condor_pydagman.vocabulary import NodeStatus, Note, ScriptKind
from tests import make
from tests.sim.fake_schedd import Cluster
from tests.sim.truth import Heard, Truth

if TYPE_CHECKING:
    from tests.sim.process import Process
    from tests.sim.world import World

REPLAY_EVERY = 40  # inputs between two replays, on average


class Violation(AssertionError):
    """An oracle objects; the text begins with its number."""


def require(holds: bool, what: str) -> None:
    """Raise Violation unless it holds."""
    if not holds:
        raise Violation(what)


class Oracles:
    """Watches a world."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._truth: Truth | None = None
        self._heard = Heard()
        self._listed = False
        self._adopted = False
        self._rescued = False
        self._replies: list[float] = []
        self._statuses: dict[tuple[int, ScriptKind], int] = {}

    @property
    def truth(self) -> Truth:
        assert self._truth is not None
        return self._truth

    # What the world tells.

    def started(self, process: Process, *, recovering: bool) -> None:
        """A process is about to begin."""
        self._heard = Heard()
        self._listed = not recovering
        self._adopted = self._rescued = False
        self._replies = []
        if not recovering:
            tolerance = process.engine.config.node_job_failure_tolerance
            self._truth = Truth(process.dag, marked(process.dag), tolerance)

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        """The engine is about to be told something."""
        self._heard.take(an_input)
        if isinstance(an_input, inputs.QueueListed):
            self._listed = True
        if isinstance(an_input, inputs.Submitted):
            self._replies.append(self._world.now)
        if isinstance(an_input, inputs.ScriptEnded):
            self._statuses[an_input.node, an_input.kind] = an_input.status

    def input_done(self, process: Process) -> None:
        """All actions for an input have been done."""
        if self._world.ever_garbled:
            return
        if process.idle and process.engine.phase is Phase.RUNNING:
            counts_agree(process.engine.report(), list(process.engine.node_reports()))
            self._procs_agree(process.engine.report())
            if self._world.rng.random() * REPLAY_EVERY < 1:
                replay_agrees(process.engine, self._world.log.read(0, everything=True)[0])

    def action_asked(self, process: Process, action: do.Action) -> None:
        """An action is about to be done."""
        if isinstance(action, (do.SubmitNode, do.RunScript, do.AppendNoop)):
            require(self._listed, "O10: something is started before the schedd has been asked")
        if isinstance(action, do.SubmitNode):
            self._may_submit(process, action)
        elif isinstance(action, do.RunScript):
            self._may_run(process, action)
        elif isinstance(action, do.RemoveJobs) and not action.cluster:
            code_zero = process.engine.ending is not None and process.engine.ending.code == 0
            require(self._rescued or code_zero, "O13: jobs removed before the rescue file")

    def written(self, process: Process, action: do.Action) -> None:
        """DAGMan's own event is in the log."""
        for event in make.appended(process.dag, action):
            self.truth.own_event(event)
            if event.note is Note.JOB_LOST:
                self.truth.lost(self._world.schedd.clusters[event.cluster], event.proc)
        if isinstance(action, (do.AppendNote, do.AppendPostEnded, do.AppendPreSkip)):
            self._note_script(process, action)

    def cluster_ended(self, cluster: Cluster) -> None:
        """A proc of a cluster ended."""
        if cluster.era == self._world.era:
            self.truth.cluster_ended(cluster)

    def cluster_taken(self, cluster: Cluster) -> None:
        """The schedd takes a cluster."""
        world = self._world
        if world.ever_garbled or world.process is None:
            return
        dag, name = world.process.dag, cluster.node
        node = dag.ids[name]
        states = world.process.engine.nodes.states
        for parent in dag.parents(node):
            failed = dag.is_weak(parent, node) and states[parent] == State.FAILED
            require(
                failed or dag.names[parent] in self.truth.done,
                f"O1: {name} submitted before its parents",
            )
        others = [c for c in world.schedd.clusters.values() if c.era == cluster.era]
        earlier = [c for c in others if c.node == name and c is not cluster]
        live = world.schedd.live(world.era)
        require(all(c not in earlier for c in live), f"O2: second live cluster of {name}")
        same = [c for c in earlier if c.retry == cluster.retry and not c.lost]
        require(not same, f"O4: {name} submitted twice in retry {cluster.retry}")
        retry = dag.retries.get(node)
        limit = retry.limit if retry else 0
        require(cluster.retry <= limit, f"O4: {name} retried more than {limit} times")
        require(name not in self.truth.done, f"O5: done node {name} is submitted")
        self._limits_hold(world.process, cluster, live)

    def rescue_written(self, process: Process, text: str) -> None:
        """A rescue file is on disk."""
        self._rescued = True
        fresh = self._world.workload.build()
        apply_progress(fresh, text, "t.dag.rescue")
        dag, states = process.dag, process.engine.nodes.states
        done = {dag.names[n] for n, state in enumerate(states) if state == State.DONE}
        failed = (n for n, state in enumerate(states) if state == State.FAILED)
        over = {dag.names[n] for n in failed if dag.has_weak_children_only(n)}
        require(marked(fresh) == done | over, f"O8: marks {marked(fresh)}, not {done | over}")
        if self._world.ever_garbled:
            return
        require(done <= self.truth.done, f"O8: {done - self.truth.done} marked, but not done")
        if process.idle:
            require(done == self.truth.done, f"O8: {self.truth.done - done} done, but not marked")

    def exited(self, process: Process, code: int) -> None:
        """A process has ended by itself."""
        if code != 0 or self._world.ever_garbled:
            return
        if any(abort.exit_code == 0 for abort in process.dag.aborts.values()):
            return
        missing = set(process.dag.names) - self.truth.done
        require(not missing, f"O14: exit code 0, but {missing} not done")

    # The longer ones.

    def _may_submit(self, process: Process, action: do.SubmitNode) -> None:
        limits = process.engine.limits
        if self._world.ever_garbled:
            return
        if limits.idle and not self._adopted:
            idle = len(self._heard.idle)
            require(idle < limits.idle, f"O3: submit with {idle} idle procs")
        if limits.submits:
            recent = [t for t in self._replies if t > self._world.now - limits.interval]
            require(len(recent) < 2 * limits.submits, "O3: too many submits in an interval")

    def _limits_hold(self, process: Process, cluster: Cluster, live: list[Cluster]) -> None:
        """O3; `live` may or may not have the new cluster."""
        names = {c.node for c in live} | {cluster.node}
        limits, dag = process.engine.limits, process.dag
        if limits.jobs:
            require(len(names) <= limits.jobs, f"O3: {len(names)} nodes in the queue")
        counts = Counter(dag.categories.get(dag.ids[name]) for name in names)
        for category, limit in dag.category_limits.items():
            require(counts[category] <= limit, f"O3: category {category} has {counts[category]}")

    def _may_run(self, process: Process, action: do.RunScript) -> None:
        name, kind = process.dag.names[action.node], action.kind
        retry, limits = int(action.words[2]), process.engine.limits
        running = [other for other in process.scripts.running if other.kind is kind]
        limit = limits.pre if kind is ScriptKind.PRE else limits.post
        require(not limit or len(running) < limit, f"O3: {len(running) + 1} {kind} scripts")
        require(
            all(other.node != action.node for other in running), f"O6: {name} runs {kind} twice"
        )
        if not self._world.ever_garbled:
            require(name not in self.truth.done, f"O5: {kind} of done node {name}")
            require((name, retry, kind) not in self.truth.noted, f"O6: {kind} of {name} again")

    def _note_script(
        self, process: Process, action: do.AppendNote | do.AppendPostEnded | do.AppendPreSkip
    ) -> None:
        if isinstance(action, do.AppendNote) and action.note is not Note.PRE_ENDED:
            return
        kind = ScriptKind.POST if isinstance(action, do.AppendPostEnded) else ScriptKind.PRE
        retry = process.engine.nodes.retries.get(action.node, 0)
        if not isinstance(action, do.AppendPreSkip):
            noted = action.value if isinstance(action, do.AppendNote) else action.status
            ended = self._statuses[action.node, kind]
            require(noted == ended, f"O15: {kind} ended with {ended}, noted is {noted}")
        key = (process.dag.names[action.node], retry, kind)
        again = key in self.truth.noted and not self._world.ever_garbled
        require(not again, f"O6: the end of {key} is noted twice")
        self.truth.noted.add(key)

    def _procs_agree(self, report: Report) -> None:
        """O9 for procs, where nothing was removed, lost or found in the queue."""
        world = self._world
        if self._adopted or world.log.complete_at() > world.now:
            return
        mine = [c for c in world.schedd.clusters.values() if c.era == world.era]
        if any(c.lost or c.removed for c in mine):
            return
        status = Counter(j.status for j in world.schedd.queue.values() if j.cluster in mine)
        want = (status["idle"], status["running"], status["held"])
        have = (report.procs_idle, report.procs_running, report.procs_held)
        require(want == have, f"O9: procs idle, running, held are {want}, reported {have}")

    def adopted(self) -> None:
        """The engine found a job in the queue that the log had not shown."""
        self._adopted = True


def marked(dag: Dag) -> set[str]:
    """Names of the nodes that the DAG or its rescue file marks DONE."""
    return {name for name, flags in zip(dag.names, dag.flags) if flags & DONE}


def counts_agree(report: Report, nodes: list[NodeReport]) -> None:
    """O9 for nodes."""
    counts = Counter(node.status for node in nodes)
    want = (
        counts[NodeStatus.DONE],
        counts[NodeStatus.PRERUN],
        counts[NodeStatus.SUBMITTED],
        counts[NodeStatus.POSTRUN],
        counts[NodeStatus.READY],
        counts[NodeStatus.NOT_READY],
        counts[NodeStatus.ERROR],
        counts[NodeStatus.FUTILE],
    )
    have = report[1:9]
    require(want == have and report.total == len(nodes), f"O9: counts {want}, reported {have}")


# What a state that only live running has looks like after a replay.
_REPLAYED = {
    State.PRE_RUN: State.PRE_WAIT,
    State.PRE_NOTED: State.PRE_WAIT,
    State.SUBMITTING: State.READY,
    State.UNKNOWN: State.READY,
    State.SUBMIT_NOTED: State.READY,
    State.POST_RUN: State.POST_WAIT,
    State.POST_NOTED: State.POST_WAIT,
}


def replay_agrees(live: Engine, log: list[LogEvent]) -> None:
    """O7; the live engine has heard the whole log."""
    other = Engine(live.dag, live.config, live.limits, check=True)
    other.handle(inputs.Begin(True), live.now)
    for event in log:
        other.handle(event, live.now)
    for node, name in enumerate(live.dag.names):
        want, have = State(live.nodes.states[node]), State(other.nodes.states[node])
        require(
            _REPLAYED.get(want, want) == have,
            f"O7: {name} is {want.name}, replayed {have.name}: {live.nodes.story(node)}",
        )
        tries = live.nodes.retries.get(node, 0), other.nodes.retries.get(node, 0)
        require(tries[0] == tries[1], f"O7: {name} has had {tries[0]} retries, replayed {tries[1]}")
