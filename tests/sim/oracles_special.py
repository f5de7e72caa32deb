"""What must hold of FINAL, PROVISIONER and SERVICE nodes, halts, delays, removals, save points.

O16 The FINAL node starts when nothing else can go on or the run is being ended, and runs once.
O17 A run that ends has run its FINAL node.
O18 Nothing else is started once the log says that the FINAL node has begun.
O19 Before the go-ahead of the PROVISIONER only SERVICE nodes start.
O20 A halted DAG starts no jobs and PRE scripts, a paused one nothing at all; but a FINAL node runs.
O21 A retry starts when its delay has passed: not before, nor later than it has to.
O23 A HOLD script runs once for each time that a proc goes on hold.
O24 A save file is written before anything of its node starts, and once.
O25 The exit code is what the FINAL node or condor_rm makes it.
O26 What is ready and not held back by anything is started.
O27 Throttles that somebody wants are in force at once.
O31 Nothing but the FINAL node is submitted when all jobs have been removed.
O46 A removal that failed is repeated.
O58 A DEFER with an end counts on after a restart, and comes to its end.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from condor_pydagman.config import effective_limit
from condor_pydagman.engine import actions as do
from condor_pydagman.engine import inputs, rules
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import ENDED
from condor_pydagman.engine.node_settings import categories_in_force
from condor_pydagman.engine.node_states import IN_QUEUE, State
from condor_pydagman.engine.queues import Target
from condor_pydagman.engine.rules import ALL_EVENTS, STRICT_IN_FINAL
from condor_pydagman.vocabulary import (
    HELPER_PROC,
    EventKind,
    JournalRecord,
    NodeKind,
    ScriptKind,
)
from tests.oracles import require

if TYPE_CHECKING:
    from condor_pydagman.engine.engine import Engine
    from tests.sim.fake_jobs import Cluster
    from tests.sim.parts import Having
    from tests.sim.process import Process
    from tests.sim.truth import Truth
    from tests.sim.world import World

_AT_REST = (State.WAITING, State.DONE, State.FAILED, State.FUTILE)
_HELD_NO_MORE = (
    EventKind.EXECUTE,
    EventKind.JOB_UNSUSPENDED,
    EventKind.JOB_RELEASED,
    EventKind.JOB_TERMINATED,
    EventKind.JOB_ABORTED,
)
REMOVED_AGAIN = 15.0  # seconds after which a removal that failed is repeated
JITTER = 1e-5  # seconds that sums of times may be off


def happened(process: Process, event: LogEvent) -> float:
    """When, by the clock of a process: an old log is believed, other clocks are not."""
    recovering = process.engine.run.phase is Phase.RECOVERING
    return min(event.time, process.now) if recovering else process.now


class SpecialOracles:
    """Watches a world, as `Oracles` does, which calls it."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._forget_era()
        self._forget_life()

    def _forget_era(self) -> None:
        self._due: dict[tuple[str, int], float] = {}  # earliest start of (node, retry)
        self._saved: set[str] = set()
        self._begun: set[str] = set()  # nodes of which the schedd or the log knows something
        # how often scripts have been put off, by the log: by node, retry, and which script
        self._put_off: Counter[tuple[str, int, str]] = Counter()
        self._ended = False  # whether the run has been ended before its time
        self._holds_over: set[inputs.HeldProc] = set()  # those whose scripts have ended, by the log

    def _forget_life(self) -> None:
        self._halts: set[str] = set()  # those in force: file, command, pause
        self._hard_end = False  # one that leaves no time for the FINAL node
        self._stopped = False
        self._all_removed = False  # whether the schedd has been asked to remove all jobs
        self._retries: dict[int, int] = {}
        self._latest: dict[int, float] = {}  # latest start of a node's next run
        self._saved_now: set[str] = set()
        self._noops: set[do.AppendNoop] = set()
        self._not_removed: dict[Target, float] = {}  # since when
        self._hold_scripts: Counter[int] = Counter()  # how many may start, by node
        self._hold_due: Counter[int] = Counter()  # how many have to
        self._held: set[tuple[int, int]] = set()

    @property
    def _truth(self) -> Truth:
        return self._world.oracles.truth

    # What the other oracles tell.

    def started(self, *, recovering: bool) -> None:
        """A process is about to begin."""
        if not recovering:
            self._forget_era()
        self._forget_life()

    def input_given(self, process: Process, an_input: inputs.Input) -> None:
        """The engine is about to be told something."""
        finishing = process.engine.run.final_begun
        if isinstance(an_input, inputs.Halt):
            how = "pause" if an_input.pause else "file" if an_input.file else "command"
            self._halts.add(how)
        elif isinstance(an_input, inputs.Resume):
            self._halts -= {"file"} if an_input.file else {"command", "pause"}
        elif isinstance(an_input, (inputs.LogBroken, inputs.AppendFailed)):
            self._hard_end = self._ended = True
        elif isinstance(an_input, inputs.DagRemoved):
            self._stopped = self._ended = True
            self._hard_end |= finishing
        elif isinstance(an_input, inputs.RemoveFailed):
            self._not_removed.setdefault((an_input.cluster, an_input.proc), self._world.now)
        elif isinstance(an_input, LogEvent):
            if an_input.record == JournalRecord.HOLD_ENDED:
                node, job = process.dag.ids[an_input.node], (an_input.cluster, an_input.proc)
                self._holds_over.add(inputs.HeldProc(node, *job, an_input.value))
            elif an_input.record == JournalRecord.DEFERRED:
                self._put_off[an_input.node, an_input.retry, an_input.text] = an_input.value
            elif an_input.proc > HELPER_PROC:
                self._hear(process, an_input)
        elif isinstance(an_input, inputs.ScriptEnded) and an_input.kind is ScriptKind.HOLD:
            script = process.dag.script(an_input.node, ScriptKind.HOLD)
            if script is not None and script.defer_status == an_input.status:
                self._hold_scripts[an_input.node] += 1

    def _hear(self, process: Process, event: LogEvent) -> None:
        world = self._world
        cluster = world.schedd.cluster_of(event.cluster, event.proc)
        if cluster is not None and cluster.era == world.era and cluster.node in process.dag.ids:
            self._hear_holds(process, event, process.dag.ids[cluster.node])

    def _hear_holds(self, process: Process, event: LogEvent, node: int) -> None:
        job, engine = (event.cluster, event.proc), process.engine
        if event.kind != EventKind.JOB_HELD:
            if event.kind in _HELD_NO_MORE:
                self._held.discard(job)
        elif job not in self._held:
            self._held.add(job)
            self._hold_scripts[node] += 1
            jobs = engine.run.job_table.by_node.get(node)
            if jobs is None or jobs.cluster != event.cluster:
                return
            ended = jobs.procs.get(event.proc, 0) & ENDED
            if engine.run.nodes.states[node] == State.SUBMITTED and not ended:
                self._hold_due[node] += not engine.run.recovering

    def input_done(self, process: Process, an_input: inputs.Input) -> None:
        """All actions for an input have been done."""
        engine, run = process.engine, process.engine.run
        self._record_retries(process, an_input)
        finishing = run.phase is Phase.FINISHING
        if process.idle and (finishing or run.phase is Phase.RUNNING):
            held_back = any(part.holds_back(run) for part in self._world.having["holds_back"])
            calm = not (finishing or self._halts or held_back or run.written.holding)
            if calm:
                self._retries_start(process)
                self._hold_scripts_start(process)
            if calm or (finishing and not run.final_waits):
                work_is_started(engine, self._world.having)
            self._removals_are_repeated()
        if isinstance(an_input, inputs.LimitsWanted):
            limits_are_in_force(engine, an_input)

    def action_asked(self, process: Process, action: do.Action) -> None:
        """An action is about to be done."""
        dag = process.dag
        for one in self._world.oracles.submissions(action):
            self._may_start(process, one.node, "job")
        if isinstance(action, do.AppendNoop) and action not in self._noops:
            self._noops.add(action)  # it may be written once more
            self._may_start(process, action.node, "NOOP")
        elif isinstance(action, do.RunScript) and action.kind is ScriptKind.PRE:
            self._may_start(process, action.node, "PRE script")
        elif isinstance(action, do.RunScript):
            frozen = "pause" in self._halts and not self._truth.final_begun
            frozen &= not self._world.ever_garbled  # the record that FINAL begins, perhaps
            frozen &= process.engine.run.phase is not Phase.FINISHING  # it is being written
            require(not frozen, f"O20: {action.kind} script started while paused")
            if action.kind is ScriptKind.HOLD:
                self._hold_scripts[action.node] -= 1
                self._hold_due[action.node] -= 1
                more = self._hold_scripts[action.node] < 0
                require(not more, f"O23: a HOLD script of {dag.names[action.node]} too many")
                over = action.held in self._holds_over and not self._world.ever_garbled
                require(not over, f"O23: the HOLD script of {action.held} runs again")
        elif isinstance(action, do.AppendJournalRecord):
            self._record(process, action)
        elif isinstance(action, do.RemoveJobs):
            self._all_removed |= not action.cluster
            self._not_removed.pop((action.cluster, action.proc), None)
            self._ended |= not action.cluster
        elif isinstance(action, do.WriteRescue):
            self._ended = True

    def submit_asked(self, process: Process, node: int) -> None:
        """O31: the schedd is asked to take a node's jobs."""
        late = self._all_removed and process.dag.kinds[node] != NodeKind.FINAL
        require(not late, f"O31: {process.dag.names[node]} submitted after all were removed")

    def cluster_taken(self, cluster: Cluster) -> None:
        """The schedd takes a cluster."""
        self._begun.add(cluster.node)

    def save_point_written(self, process: Process, name: str, text: str) -> None:
        """O24; a node that is not as it was (see `Truth`) may begin more than once."""
        if name in self._truth.changed or name in self._truth.begin_anew:
            self._saved.add(name)
            return
        require(name not in self._saved_now, f"O24: save file of {name} written twice")
        retry = process.engine.run.nodes.retries.get(process.dag.ids[name], 0)
        require(not retry, f"O24: save file of {name} written in retry {retry}")
        if not self._world.ever_garbled:
            recorded = any(who == name for who, _, _ in self._truth.noted)
            clusters = self._world.schedd.clusters.values()
            lost = any(cluster.node == name and cluster.lost for cluster in clusters)
            begun = (name in self._begun or recorded) and not lost  # nobody may know of that one
            require(not begun, f"O24: save file of {name}, which has begun")
        self._saved_now.add(name)
        self._saved.add(name)
        require(f"Node {name}\n" in text, f"O24: save file of {name} names another")

    def exited(self, process: Process, code: int) -> None:
        """O17, O25: a process has ended by itself."""
        assert process.exit is not None
        if process.exit.keep_lock or self._world.ever_garbled:
            return
        engine = process.engine
        if engine.run.config.allow_events != ALL_EVENTS:
            return  # a bad event is a hard end
        if self._hard_end or engine.run.end.begun == STRICT_IN_FINAL:
            require(code in (1, 2), f"O25: exit code {code} after a hard end")
        elif engine.run.final is not None:
            state = State(engine.run.nodes.states[engine.run.final])
            require(self._truth.final_begun, "O17: the FINAL node has not begun")
            require(state in (State.DONE, State.FAILED), f"O17: the FINAL node is {state.name}")
            want = 0 if state is State.DONE else 1
            require(code == want, f"O25: exit code {code}, the FINAL node is {state.name}")
        elif self._stopped and engine.run.end.begun is not None and code not in (0, 2):
            require(engine.run.end.begun.code == code, f"O25: exit code {code} after condor_rm")

    # The longer ones.

    def _may_start(self, process: Process, node: int, what: str) -> None:
        """O16, O18 to O21 and O24."""
        engine, dag, name = process.engine, process.dag, process.dag.names[node]
        kind, now = dag.kinds[node], self._world.now
        if kind == NodeKind.FINAL:
            self._final_may_start(engine, name)
        else:
            anew = engine.run.nodes.states[node] == State.SUBMITTED  # a NOOP cut in two by a crash
            require(anew or not self._halts, f"O20: {what} of {name} started while halted")
        if self._world.ever_garbled:
            return
        if kind != NodeKind.FINAL:
            begun = self._truth.final_begun
            require(not begun, f"O18: {what} of {name} started after the FINAL node")
        if dag.of_kind(NodeKind.PROVISIONER) and not self._truth.provisioned:
            free = kind in (NodeKind.PROVISIONER, NodeKind.SERVICE, NodeKind.FINAL)
            require(free, f"O19: {what} of {name} started before the go-ahead")
        due = self._due.get((name, engine.run.nodes.retries.get(node, 0)), 0.0)
        require(now >= due - JITTER, f"O21: {what} of {name} started {due - now:.3f} s early")
        if node in dag.save_points:
            known = name in self._saved | self._truth.changed
            require(known, f"O24: {what} of {name} started before its save file")

    def _final_may_start(self, engine: Engine, name: str) -> None:
        if self._ended or self._world.ever_garbled:
            return
        services = engine.run.nodes.services
        for node, state in enumerate(engine.run.nodes.states):
            if node != engine.run.final and node not in services and not self._truth.final_begun:
                require(
                    state in _AT_REST,
                    f"O16: {name} starts, but {engine.run.nodes.move_history(node)}",
                )

    def _record(self, process: Process, action: do.AppendJournalRecord) -> None:
        """O16: a decision is about to be recorded."""
        name = process.dag.names[action.node]
        if self._world.ever_garbled:
            return
        if action.record == JournalRecord.FINAL_STARTED:
            ended = any(who == name for who, _, _ in self._truth.noted) or name in self._begun
            require(not ended, f"O16: {name} begins once more")
            self._final_may_start(process.engine, name)
        elif action.record == JournalRecord.DEFERRED:
            kind = ScriptKind[action.text.partition(" ")[0]]
            script = process.dag.script(action.node, kind)
            most = script.defer.times if script is not None else 0
            anew = any(part.undoes and part.is_on for part in self._world.parts)
            is_more = action.value > self._put_off[name, action.retry, action.text]
            told = f"O58: {action.text} of {name} is put off for time {action.value}"
            require((is_more or anew) and not 0 < most < action.value, told)

    def _removals_are_repeated(self) -> None:
        for number, since in self._not_removed.items():
            over = self._truth.all_ended(self._world.schedd.clusters[number])
            late = self._world.now > since + REMOVED_AGAIN
            require(over or not late, f"O46: cluster {number} is not removed again")

    def _record_retries(self, process: Process, an_input: inputs.Input) -> None:
        """What the delay of a retry is, when an event has just led to one."""
        engine = process.engine
        record = getattr(an_input, "record", None)
        at_once = record in self._world.at_once
        if at_once:
            self._due.clear()  # a person may have asked for the next run at once
        for node, retry in engine.run.dag.retries.items():
            number = engine.run.nodes.retries.get(node, 0)
            if number == self._retries.get(node, 0):
                continue
            self._retries[node] = number
            if not isinstance(an_input, LogEvent) or at_once:
                continue
            name = engine.run.dag.names[node]
            by_hand = node in engine.run.retrying.on_hold
            delay = 0.0 if by_hand else rules.retry_delay_s(retry, number, name)
            due = happened(process, an_input) + delay - process.ahead
            self._due[name, number] = min(due, self._due.get((name, number), due))
            self._latest[node] = self._world.now + delay

    def _hold_scripts_start(self, process: Process) -> None:
        limit = process.engine.run.limits.hold
        running = sum(script.kind is ScriptKind.HOLD for script in process.scripts.running)
        for node, count in self._hold_due.items():
            if process.dag.script(node, ScriptKind.HOLD) is not None:
                waits = count > 0 and not (limit and running >= limit)
                require(not waits, f"O23: HOLD script of {process.dag.names[node]} does not start")

    def _retries_start(self, process: Process) -> None:
        """O21: nobody waits for longer than it has to."""
        engine = process.engine
        for node in engine.run.nodes.in_state(State.RETRY_WAIT):
            late = self._world.now - self._latest[node]
            require(late <= JITTER, f"O21: {engine.run.dag.names[node]} starts {late:.3f} s late")


def limits_are_in_force(engine: Engine, wanted: inputs.LimitsWanted) -> None:
    """O27: as far as the administrator's knobs let them."""
    config = engine.run.config
    knobs = {
        "jobs": config.max_jobs_submitted,
        "idle": config.max_jobs_idle,
        "pre": config.max_pre_scripts,
        "post": config.max_post_scripts,
        "hold": config.max_hold_scripts,
        "submits": config.max_submits_per_interval,
    }
    for name, value in wanted._asdict().items():
        have = getattr(engine.run.limits, name)
        want = have if value is None else effective_limit(value, knobs[name])
        require(have == want, f"O27: {name} is {have}, wanted {value}")


def work_is_started(engine: Engine, having: Having) -> None:
    """O26; a node that waits for its retry has no place under any throttle."""
    if engine.run.end.wanted is not None:
        return  # no more is started
    nodes, dag, now = engine.run.nodes, engine.run.dag, engine.run.now
    limits = engine.run.limits
    pace = engine.run.scripts.restart_pace.next_time()
    waiting = len(engine.run.scripts.by_kind[ScriptKind.PRE])
    running = nodes.count_all(State.PRE_RUN)
    if waiting and (pace is None or pace <= now):
        full = limits.pre and running >= limits.pre
        require(bool(full), f"O26: {waiting} PRE scripts wait, {running} run")
    waiting_nodes = {node for part in having["waiting"] for node in part.waiting(engine.run)}
    ready = [node for node in nodes.in_state(State.READY) if node not in waiting_nodes]
    if (
        not ready
        or engine.run.submission.in_flight
        or engine.run.pace.blocked_until(now, limits) > now
    ):
        return
    inside = list(nodes.in_state(*IN_QUEUE))
    idle = engine.run.job_table.idle + sum(part.idle(engine.run) for part in having["idle"])
    if limits.idle and idle >= limits.idle:
        return
    if limits.jobs and sum(node not in nodes.services for node in inside) >= limits.jobs:
        return
    categories = categories_in_force(dag.categories, engine.run.settings)
    counts = Counter(categories.get(node) for node in inside)
    for node in ready:
        limit = dag.category_limits.get(categories.get(node, ""))
        full = limit is not None and counts[categories[node]] >= limit
        require(full, f"O26: {dag.names[node]} is ready, and nothing holds it back")
