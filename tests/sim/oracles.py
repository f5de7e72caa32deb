"""What must hold in every simulated run, each with its number.

O3  No throttle is ever exceeded, by a recount of our own.
O7  The log, replayed by a fresh engine, gives the states that the live one has.
O9  The counts in the report equal a recount.
O10 Recovery starts nothing before the schedd has been asked.
O11 The same seed gives the same trace (checked by run.py).
O12 Every run ends once the faults have ended, and nobody is woken in vain (checked by world.py).
O13 The rescue file is written before the DAG's jobs are removed.
O15 What the log says of a script's end is how it ended.
O28 A proc whose end DAGMan has heard of is not removed.
O29 No sound log counts as one that can't be true (checked by world.py).
O30 A job with a list of common input files is submitted when the log has the list.
O56 A full queue counts as no attempt to submit a node.
O1, O2, O4 to O6, O8, O14, O57: see `tests/oracles.py`; of a rescue file, it marks exactly the nodes
that are done, exit code 0 may also be that of ABORT-DAG-ON or the FINAL node.
O16 to O27, O31, O46: see oracles_special.py.  O22, O32 to O45, O47, O48: see the parts of features
(`parts.Part`).

Of a node that people's commands may have changed, O5, O8 and O14 are not asked: a command that was
in the log when DAGMan was killed may come too late.  O1, O2, O4, O6 and O7 are.

A garbled event is information lost for good: O1 to O9 are not asked of a run that has had one; but
for O4, and that no node's parents have jobs in the queue when it is submitted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from typing import TYPE_CHECKING, TypeVar

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, lifecycle
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.engine import Engine
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import CLEANING, UNWANTED, State
from condor_pydagman.engine.report import Deferrals, Report
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.graph.apply_rescue import apply_progress
from condor_pydagman.graph.model import DONE, Dag
from condor_pydagman.vocabulary import (
    ORDINARY_KINDS,
    EventKind,
    JournalRecord,
    NodeKind,
    NodeStatus,
    ScriptKind,
)
from tests import make
from tests.oracles import require
from tests.sim.fake_jobs import Cluster, Job
from tests.sim.invariants import validate
from tests.sim.oracles_special import SpecialOracles
from tests.sim.truth import SeenInputs, Truth

if TYPE_CHECKING:
    from condor_pydagman.engine.state import RunState
    from tests.sim.process import Process
    from tests.sim.world import World

T = TypeVar("T")
_STARTS = (do.SubmitNode, do.SubmitTogether, do.SubmitJob, do.RunScript, do.AppendNoop)
REPLAY_EVERY = 40  # inputs between two replays, on average


class Oracles:
    """Watches a world.

    Attributes:
        goes_on: the node whose submission continues because its common input is known; -1: none.
    """

    def __init__(self, world: World) -> None:
        self._world = world
        self._truth: Truth | None = None
        self._heard = SeenInputs()
        self._listed = False
        self._in_queue: set[int] = set()  # clusters that the schedd has listed
        self._tries: dict[int, int] = {}  # attempts to submit before the input, by node
        self._known: set[int] = set()  # nodes of which the engine knew jobs before the input
        self.goes_on = -1
        self._limits_at_submit: dict[int, Throttles] = {}
        self._adopted = False
        self._rescued = False
        self._replies: list[float] = []
        self._statuses: dict[tuple[int, ScriptKind], int] = {}
        self._ever_rescued = False
        self.special = SpecialOracles(world)

    @property
    def truth(self) -> Truth:
        assert self._truth is not None
        self._truth.unsure = self._truth.names if self._world.ever_garbled else ()
        return self._truth

    # What the world tells.

    def started(self, process: Process, *, recovering: bool) -> None:
        """A process is about to begin."""
        self._heard = SeenInputs()
        self._listed = not recovering
        self._adopted = self._rescued = False
        self._in_queue = set()
        self._replies = []
        if not recovering:
            self._ever_rescued = False
            tolerance = process.engine.run.config.node_job_failure_tolerance
            dag, having = self._world.fresh_dag(), self._world.having
            self._truth = Truth(dag, marked(process.dag), tolerance, having)
        self.special.started(recovering=recovering)
        for part in self._world.having["started"]:
            part.started(process, recovering=recovering)

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        """The engine is about to be told something."""
        self._heard.add(an_input)
        self._known = set(process.engine.run.job_table.by_node)
        # This submission was let through before, and goes on now that its list is recorded.
        self.goes_on = an_input.node if isinstance(an_input, inputs.CommonInput) else -1
        if isinstance(an_input, inputs.QueueListed):
            self._listed = True
            self._in_queue = {job.cluster for job in an_input.jobs}
        elif isinstance(an_input, inputs.Submitted):
            asked_under = self._limits_at_submit.get(an_input.node)
            if asked_under == process.engine.run.limits:
                self._replies.append(self._world.now)
        elif isinstance(getattr(an_input, "reply", None), inputs.JobSubmitted):
            self._replies += [self._world.now] * bool(an_input.reply.cluster)
        elif isinstance(an_input, inputs.LimitsWanted):
            self._replies = []  # what was right before does not count
        elif isinstance(an_input, inputs.ScriptEnded):
            self._statuses[an_input.node, an_input.kind] = an_input.status
            name = process.dag.names[an_input.node]
            self.truth.script_ends(name, an_input.kind, self._world.life)
        elif _is_full(an_input):
            self._tries = dict(process.engine.run.submission.attempts)
        self.special.input_given(process, an_input)
        for part in self._world.having["input_given"]:
            part.input_given(process, an_input)

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        """All actions for an input have been done."""
        if self._world.ever_garbled:
            return
        if _is_full(an_input):
            counted = process.engine.run.submission.attempts
            require(counted == self._tries, "O56: a full queue counts as an attempt")
        self.special.input_done(process, an_input)
        for part in self._world.having["input_done"]:
            part.input_done(process, an_input)
        if process.idle and process.engine.run.phase in (Phase.RUNNING, Phase.FINISHING):
            report = process.engine.report()
            counts_agree(process.engine, report)
            self._procs_agree(report)
            if self._world.rng.random() * REPLAY_EVERY < 1:
                replay_agrees(process.engine, self._world)

    def action_asked(self, process: Process, action: do.Action) -> None:
        """An action is about to be done."""
        self._adopted |= self._is_found_in_queue(action)
        if isinstance(action, _STARTS):
            require(self._listed, "O10: something is started before the schedd has been asked")
        for one in self.submissions(action):
            if not isinstance(action, do.SubmitJob):  # which was decided before
                self.may_submit(process, one.node)
            if one.node != self.goes_on:
                self._limits_at_submit[one.node] = process.engine.run.limits
        if isinstance(action, do.RunScript):
            self._may_run(process, action)
        elif isinstance(action, do.RemoveJobs) and not action.cluster:
            ended_by = process.engine.run.end.begun
            excused = ended_by is not None and ended_by.code == 0
            excused |= self.truth.final_begun and self._ever_rescued
            require(self._rescued or excused, "O13: jobs removed before the rescue file")
        self.special.action_asked(process, action)
        for part in self._world.having["action_asked"]:
            part.action_asked(process, action)

    def submissions(self, action: do.Action) -> Sequence[do.SubmitNode]:
        """The submissions of single nodes that an action asks for."""
        if isinstance(action, do.SubmitTogether):
            return action.nodes
        if isinstance(action, do.SubmitJob):
            return [one for part in self._world.parts for one in part.job_asked(action)[0]]
        return (action,) if isinstance(action, do.SubmitNode) else ()

    def limits_at_submit(self, node: int) -> Throttles:
        """The limits under which the submission of a node began."""
        return self._limits_at_submit[node]

    def written(self, process: Process, events: list[LogEvent]) -> None:
        """Events of DAGMan's own are in the log."""
        for event in events:
            self._record_script(process, event)

    def ends_seen(self) -> frozenset[tuple[int, int]]:
        """Procs of whose ends the engine has heard."""
        return frozenset(self._heard.ended)

    def in_log(self, event: LogEvent) -> None:
        """An event can be read in the log, now or soon."""
        cluster = self._world.schedd.cluster_of(event.cluster, event.proc)
        mine = cluster is not None and cluster.era == self._world.era
        self.truth.event(event, cluster if mine else None)
        if self._world.process is not None:
            for part in self._world.having["in_log"]:
                part.in_log(self._world.process, event)

    def cluster_taken(self, cluster: Cluster, limits: Throttles | None) -> None:
        """The schedd takes a cluster; `limits` were in force when it was submitted; None: it is
        part of a job that is no node's."""
        world, name = self._world, cluster.node
        self.truth.has_job(name, cluster.retry, cluster.target)
        if world.process is None:
            return
        live = world.schedd.live(world.era)
        in_queue = {one.node for one in live if one is not cluster}
        awaited, excused = self._awaited(world.process, name)
        last = self._last_attempt(world.process, cluster)
        self.truth.begins(name, cluster.retry, awaited, excused, in_queue, last)
        for part in world.having["cluster_taken"]:
            part.cluster_taken(world.process, cluster)
        if world.ever_garbled:
            return
        self.special.cluster_taken(cluster)
        if world.workload.outcomes.common_input(name):
            recorded = any(
                entry.event.record == JournalRecord.COMMON_INPUT for entry in world.log.entries
            )
            require(recorded, f"O30: {name} has common input files of which the log says nothing")
        if limits is not None:
            self._limits_hold(world.process, cluster, live, limits)

    def _awaited(self, process: Process, name: str) -> tuple[list[str], set[str]]:
        """The parents that a node's jobs wait for, and nodes that may have ended otherwise."""
        dag, run, node = process.dag, process.engine.run, process.dag.ids[name]
        if run.nodes.marks[node] & CLEANING:
            return [], set()
        parents = [one for one in dag.parents(node) if not self._is_excused(run, one, node)]
        failed = [one for one in parents if run.nodes.states[one] == State.FAILED]
        weak = [one for one in failed if dag.is_weak(one, node)]
        excused = {dag.names[one] for one in (parents if dag.is_decided(node) else weak)}
        return [dag.names[one] for one in parents], excused | process.unneeded()

    def _last_attempt(self, process: Process, cluster: Cluster) -> int | None:
        """None if nobody knows."""
        dag, run, node = process.dag, process.engine.run, process.dag.ids[cluster.node]
        post = dag.script(node, ScriptKind.POST)
        by_hand = cluster.on_hold and run.config.put_failed_jobs_on_hold and post is None
        if by_hand or self._world.ever_garbled:
            return None
        both = dag.retries.get(node), run.retry(node)
        limit = max(retry.limit if retry else 0 for retry in both)
        return limit + self.truth.extra[cluster.node]

    def job_taken(self, cluster: Cluster, action: do.SubmitJob) -> None:
        """The schedd takes a job that is no node's: for each of the nodes that it stands for."""
        for part in self._world.parts:
            _, limits = part.job_asked(action)
            for of_node in part.job_taken(cluster, action):
                self.cluster_taken(of_node, None)
                # What it does may be lost with the whole job.
                self.truth.job_lost(of_node.node, of_node.retry, of_node.target)
        process = self._world.process
        if process is not None and not self._world.ever_garbled:
            live = self._world.schedd.live(self._world.era)
            self._limits_hold(process, cluster, live, limits)

    def removed(self, job: Job, known: frozenset[tuple[int, int]]) -> None:
        """A proc is removed; it may have ended.  `known` are those that DAGMan should have left
        out."""
        require(not (job.status == "ended" and job.key in known), f"O28: {job.key} is removed")

    def rescue_written(self, process: Process, text: str) -> None:
        """A rescue file is on disk."""
        for part in self._world.having["rescue_written"]:
            part.rescue_written(process, text)
        self._rescued = self._ever_rescued = True
        fresh = self._world.workload.build()
        apply_progress(fresh, text, "t.dag.rescue", given=self._world.given(fresh))
        parts = self._world.parts
        dag, states = process.dag, process.engine.run.nodes.states
        ordinary = [n for n in range(len(dag)) if dag.kinds[n] in ORDINARY_KINDS]
        done = {dag.names[n] for n in ordinary if states[n] == State.DONE}
        failed = (n for n in ordinary if states[n] == State.FAILED)
        over = {dag.names[n] for n in failed if dag.has_weak_children_only(n)}
        anew = _all(part.done_anew() for part in parts)
        if self._world.ever_garbled or any(part.blurs(dag) for part in parts):
            anew = {one.name for one in process.engine.node_reports() if one.anew}
        done -= anew
        unneeded = {one.name for one in process.engine.node_reports() if one.not_needed}
        wanted = done | over | unneeded
        require(marked(fresh) == wanted, f"O8: marks {marked(fresh)}, not {wanted}")
        if self._world.ever_garbled:
            return
        really = (self.truth.done - anew) & {dag.names[n] for n in ordinary}
        if process.engine.run.final_begun:  # then no node follows those that were skipped
            really -= self.truth.skipped
        self.truth.rescued(done - unneeded, really - unneeded if process.idle else ())

    def exited(self, process: Process, code: int) -> None:
        """A process has ended by itself."""
        self.special.exited(process, code)
        for part in self._world.having["exited"]:
            part.exited(process, code)
        dag = process.dag
        if code != 0 or self._world.ever_garbled:
            return
        aborted = any(0 in (abort.exit_code, abort.status) for abort in dag.aborts.values())
        finals = {dag.names[n] for n in dag.of_kind(NodeKind.FINAL)}
        decided = aborted or finals & self.truth.done
        services = {dag.names[n] for n in dag.of_kind(NodeKind.SERVICE)}
        wanted = set(dag.ids) - services - process.unneeded()
        self.truth.ended(code, () if decided else wanted, self._left(process))
        for part in () if decided else self._world.parts:
            part.ended_well(process)

    # The longer ones.

    def _left(self, process: Process) -> list[str]:
        """Nodes with jobs that must not be left; a DAGMan that ends does not wait for long for a
        schedd that takes no removal."""
        faults = self._world.faults
        rates = (faults.no_remove, faults.outage, faults.schedd_gone, faults.slow_schedd)
        if any((*rates, faults.lost_answer)) or not process.engine.run.config.remove_node_jobs:
            return []
        return [cluster.node for cluster in self._world.schedd.live(self._world.era)]

    def _is_excused(self, run: RunState, parent: int, child: int) -> bool:
        return any(part.allows(run, parent, child) for part in self._world.having["allows"])

    def may_submit(self, process: Process, node: int) -> None:
        """O3: it is decided to submit a node, or others in a job that is no node's (-1)."""
        limits = process.engine.run.limits
        if self._world.ever_garbled or (node >= 0 and node == self.goes_on):
            return
        if limits.idle and not self._adopted:
            idle = len(self._heard.idle)
            require(idle < limits.idle, f"O3: submit with {idle} idle procs")
        if limits.submits and not limits.own_pace:
            recent = [t for t in self._replies if t > self._world.now - limits.interval_s]
            require(len(recent) < 2 * limits.submits, "O3: too many submits in an interval")

    def _limits_hold(
        self, process: Process, cluster: Cluster, live: list[Cluster], limits: Throttles
    ) -> None:
        """O3; `live` may or may not have the new cluster."""
        dag = process.dag
        names = {c.node for c in live if c.kind is not NodeKind.SERVICE} | {cluster.node}
        if limits.jobs and cluster.kind is not NodeKind.SERVICE:
            require(len(names) <= limits.jobs, f"O3: {len(names)} nodes in the queue")
        counted = [c for c in live if c.kind is not NodeKind.SERVICE]
        names = {name for c in (*counted, cluster) for name in _in_categories(c)}
        settings = process.engine.run.settings
        categories = categories_in_force(dag.categories, settings) if settings else dag.categories
        counts = Counter(categories.get(dag.ids[name]) for name in names)
        for category, limit in dag.category_limits.items():
            require(counts[category] <= limit, f"O3: category {category} has {counts[category]}")

    def _may_run(self, process: Process, action: do.RunScript) -> None:
        name, kind = process.dag.names[action.node], action.kind
        limits = process.engine.run.limits
        retry = process.engine.run.nodes.retries.get(action.node, 0)
        if process.dag.scripts[action.node][kind].command.endswith("$RETRY"):
            require(action.words == ("script", name, str(retry)), f"O15: words {action.words}")
        running = [other for other in process.scripts.running if other.kind is kind]
        by_kind = {ScriptKind.PRE: limits.pre, ScriptKind.POST: limits.post}
        limit = by_kind.get(kind, limits.hold)
        require(not limit or len(running) < limit, f"O3: {len(running) + 1} {kind} scripts")
        if kind is ScriptKind.HOLD:
            return
        before = self._awaited(process, name) if kind is ScriptKind.PRE else ((), ())
        self.truth.begins(name, retry, *before)
        self.truth.script_begins(name, retry, kind, self._world.life)

    def _record_script(self, process: Process, event: LogEvent) -> None:
        if event.kind == EventKind.POST_SCRIPT_TERMINATED:
            kind = ScriptKind.POST
        elif event.kind == EventKind.PRESKIP or event.record == JournalRecord.PRE_ENDED:
            kind = ScriptKind.PRE
        else:
            return
        node = process.dag.ids[event.node]
        retry = process.engine.run.nodes.retries.get(node, 0)
        if event.kind != EventKind.PRESKIP:
            ended = self._statuses[node, kind]
            told = f"O15: {kind} ended with {ended}, recorded is {event.value}"
            require(event.value == ended, told)
        script = (event.node, retry, kind)
        again = script in self.truth.noted and not self._world.ever_garbled
        require(not again, f"O6: the end of {script} is recorded twice")
        self.truth.noted.add(script)

    def _procs_agree(self, report: Report) -> None:
        """O9 for procs, where nothing was removed, lost or found in the queue."""
        world = self._world
        if self._adopted or world.log.misled or world.log.complete_at() > world.now:
            return
        mine = (c for c in world.schedd.clusters.values() if c.era == world.era)
        if any(c.lost or c.removed or c.touched for c in mine):
            return
        mine_now = (j for j in world.schedd.queue.values() if j.cluster.era == world.era)
        status = Counter("idle" if j.quiet else j.status for j in mine_now)
        want = (
            status["idle"] + status["suspended"],
            status["running"] + status["away"],
            status["held"],
        )
        have = (report.procs_idle, report.procs_running, report.procs_held)
        require(want == have, f"O9: procs idle, running, held are {want}, reported {have}")

    def _is_found_in_queue(self, action: do.Action) -> bool:
        """Whether the engine takes over a job of the queue that the log has not shown."""
        if not isinstance(action, do.AppendJournalRecord):
            return False
        new = action.record == JournalRecord.ADOPTED and action.node not in self._known
        return new and action.cluster in self._in_queue


def _is_full(an_input: inputs.Input) -> bool:
    return isinstance(an_input, inputs.SubmitFailed) and an_input.full


def _all(names: Iterable[set[T]]) -> set[T]:
    return set().union(*names)


def _in_categories(cluster: Cluster) -> Collection[str]:
    """Names of the nodes, places in whose categories it takes."""
    return cluster.in_categories if cluster.asker else (cluster.node,)


def marked(dag: Dag) -> set[str]:
    """Names of the nodes that the DAG or its rescue file marks DONE."""
    return {name for node, name in enumerate(dag.names) if dag.flags[node] & DONE}


def counts_agree(engine: Engine, report: Report) -> None:
    """O9 for nodes: SERVICE nodes are in no count."""
    kinds = engine.run.dag.kinds
    nodes = [node for node in engine.node_reports() if kinds[node.node] != NodeKind.SERVICE]
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


# What may have begun, as no log shows, when the delay before a retry was over.
_BEGUN = (State.PRE_WAIT, State.PRE_RUN, State.PRE_UNCONFIRMED, State.READY, State.SUBMITTING)
# What a run with a FINAL node has left where it was.
_LEFT = frozenset((State.WAITING, State.PRE_WAIT, State.FAILED, State.FUTILE))
_UNSEEN = frozenset((*_BEGUN, State.UNKNOWN, State.SUBMIT_UNCONFIRMED))


def replay_agrees(live: Engine, world: World) -> None:
    """O7; the live engine has heard the whole log."""
    dag, log, parts = world.fresh_dag(), world.log.events(), world.parts
    given = world.given(dag)
    other = Engine(dag, live.run.config, live.run.limits, given=given, check=validate)
    other.handle(inputs.Begin(True), live.run.now)
    for event in log:
        other.handle(event, live.run.now)
    lifecycle.settle(other.run)  # as at the end of a recovery
    require(live.run.dag.names == other.run.dag.names, "O7: not the same nodes")
    for node, name in enumerate(live.run.dag.names):
        want, have = State(live.run.nodes.states[node]), State(other.run.nodes.states[node])
        if live.run.phase is Phase.FINISHING and have in _LEFT and want in (*_LEFT, State.UNKNOWN):
            continue  # the log does not show what came just before the record that FINAL begins
        unseen = have is State.RETRY_WAIT and want in _UNSEEN
        unwanted = bool(live.run.nodes.marks[node] & UNWANTED)
        unseen |= unwanted and have is State.WAITING and want in _UNSEEN
        unseen |= any(part.differs(want, have, other.run, node) for part in parts)
        require(
            unseen or make.LOGGED.get(want, want) == have,
            f"O7: {name} is {want.name}, replayed {have.name}: {live.run.nodes.move_history(node)};"
            f" replayed {other.run.nodes.move_history(node)}",
        )
        for what, one, two in (
            ("retries", live.run.nodes.retries, other.run.nodes.retries),
            ("extra retries", live.run.retrying.extra_retries, other.run.retrying.extra_retries),
        ):
            tries = one.get(node, 0), two.get(node, 0)
            require(tries[0] == tries[1], f"O7: {what} of {name}: {tries[0]}, replayed {tries[1]}")
        if want is State.SUBMITTED:
            jobs = (engine.run.job_table.by_node.get(node) for engine in (live, other))
            exceeded = tuple(one and one.tolerance_exceeded for one in jobs)
            require(exceeded[0] == exceeded[1], f"O7: {name} has failed: {exceeded}")
    same = (
        live.run.retrying.on_hold == other.run.retrying.on_hold or live.run.phase is Phase.FINISHING
    )
    require(same, f"O7: on hold {live.run.retrying.on_hold}, {other.run.retrying.on_hold}")
    for part in parts:
        part.replayed(live.run, other.run)
    follower_agrees(other, world)
    ready = live.run.provisioner.ready, other.run.provisioner.ready
    require(ready[0] == ready[1], f"O7: go-ahead {ready}")


def follower_agrees(restarted: Engine, world: World) -> None:
    """O49: who follows the log sees what a DAGMan would have that is started again now."""
    follower = world.follower.caught_up()
    require(restarted.run.dag.names == follower.run.dag.names, "O49: not the same nodes")
    for node, name in enumerate(restarted.run.dag.names):
        want, have = (State(one.run.nodes.states[node]) for one in (restarted, follower))
        require(want is have, f"O49: {name} is {want.name}, followed {have.name}")
        marks = restarted.run.nodes.marks[node], follower.run.nodes.marks[node]
        require(marks[0] == marks[1], f"O49: marks of {name}: {marks}")
    told = [_told(one) for one in (restarted, follower)]
    for one, two in zip(*told):
        require(one == two, f"O49: {one}, followed {two}")


def _told(engine: Engine) -> tuple[object, ...]:
    """What is shown of the whole DAG; throttles, and what they have held up, are not in the log."""
    groups = [one._replace(since=0.0) for one in make.group_reports(engine)]
    report = engine.report()._replace(limits=Throttles(), deferrals=Deferrals())
    return report, groups


class FollowedLog:
    """The nodes log of a world, as a reader has it who has followed it from its beginning."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._engine: Engine | None = None
        self._generation = -1
        self._taken: list[LogEvent] = []

    def caught_up(self) -> Engine:
        """The run, as all that can be read of the log by now tells."""
        log = self._world.log
        events = log.events()
        is_same = self._generation == log.generation
        if self._engine is None or not is_same or events[: len(self._taken)] != self._taken:
            self._engine, self._generation, self._taken = self._begun(), log.generation, []
        for event in events[len(self._taken) :]:
            self._engine.follow(event)
        self._engine.settle()
        self._taken = events
        return self._engine

    def _begun(self) -> Engine:
        world, dag = self._world, self._world.fresh_dag()
        config, limits = Config(), world.limits()  # what it has to know, the log says
        mode, given = Mode.FOLLOW, world.given(dag)
        engine = Engine(dag, config, limits, mode=mode, given=given, check=validate)
        engine.handle(inputs.Begin(True), 0.0)
        return engine
