"""All that is known of a run: `RunState`, which the engine's functions take.

Its records and data structures, the clock of the present input, the list of actions asked for, and
questions that need nothing else.  What changes a run's course lives in the modules above this one.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from enum import Enum
from typing import Any

from condor_pydagman.config import Config
from condor_pydagman.engine import actions as do
from condor_pydagman.engine.dag_states import MOVES, Phase
from condor_pydagman.engine.hooks import Hooks
from condor_pydagman.engine.jobs import JobTable
from condor_pydagman.engine.node_settings import NOTHING as NOTHING_SET
from condor_pydagman.engine.node_settings import NodeSettings, retry_in_force
from condor_pydagman.engine.node_states import CLEANING, IN_QUEUE, UNWANTED, State
from condor_pydagman.engine.nodes import Nodes
from condor_pydagman.engine.queues import ReadyQueue, Removals, ScriptQueue
from condor_pydagman.engine.rules import ALL_EVENTS
from condor_pydagman.engine.run_records import (
    DeferralCounts,
    End,
    Halt,
    JobstateLines,
    Journal,
    Kind,
    LogReading,
    NoopIds,
    Provisioner,
    QueueQuery,
    Retrying,
    SavePoints,
    Scripts,
    Submission,
)
from condor_pydagman.engine.throttles import Categories, StartPace, SubmitPace, Throttles
from condor_pydagman.graph.model import Dag, Retry
from condor_pydagman.vocabulary import DagStatus, NodeKind, ScriptKind

OF_NODE = Kind("what has happened to a node, or is decided of it")


class Mode(Enum):
    """What kind of run this is."""

    RUN = "run"
    DRY_RUN = "dry run"  # -DryRun: a node is done instead of being submitted
    SETUP_ONLY = "set-up only"  # -SetupOnly: inputs are taken, pending work is not dispatched
    FOLLOW = "follow"  # another DAGMan's nodes log is replayed as it grows; it has no end


class RunState:
    """All that is known of one run, and what it asks for."""

    __slots__ = (
        "_priority_change",
        "admin",
        "categories",
        "config",
        "dag",
        "dag_id",
        "dag_priority_is_set",
        "deferrals",
        "end",
        "features",
        "final",
        "given",
        "halt",
        "hooks",
        "job_table",
        "jobstate_lines",
        "limits",
        "limits_changed",
        "log",
        "mode",
        "nodes",
        "noop_ids",
        "now",
        "observers",
        "out",
        "own_config",
        "pace",
        "phase",
        "places_shared",
        "provisioner",
        "query",
        "ready",
        "recovering",
        "removals",
        "retrying",
        "save_points",
        "scripts",
        "settings",
        "silent",
        "starts",
        "status",
        "submission",
        "written",
    )

    def __init__(
        self,
        dag: Dag,
        config: Config,
        limits: Throttles,
        *,
        admin: Config,
        dag_id: int,
        first_sequence: int,
        mode: Mode,
        given: Mapping[str, Any],
    ) -> None:
        self.dag = dag  # the DAG; it changes only if it grows
        # knobs in force (while an old log is read, those that were so then); those of this DAGMan
        self.config = self.own_config = config
        # the administrator's knobs, which cap throttles that are asked for later
        self.admin = admin
        self.limits = limits  # throttles in force
        self.limits_changed = False  # whether they have been changed since the start
        self.dag_id = dag_id  # cluster of the DAGMan job, for `$DAGID`; 0 if unknown
        self.mode = mode  # what kind of run this is
        # whether nobody hears what is said; the commonest lines are not even made then
        self.silent = mode is Mode.FOLLOW
        self.written = Journal()  # records that have not been read back
        self.now = 0.0  # time of the present input, seconds since the epoch; set by Engine.handle
        # the actions of the present input; set by Engine.handle, `emit` adds to them
        self.out: list[do.Action] = []
        self.given = given  # what features begin with, by their names
        # what the DAG uses beyond the core, by name; `feature.connect` sets both
        self.features: dict[str, Any] = {}
        self.hooks = Hooks()  # the moments at which these have a say
        # what only looks on; it is told of moments as features are, after them
        self.observers: tuple[Any, ...] = ()
        self._reset_run_state(first_sequence)
        self._reset_pending()

    def _reset_run_state(self, first_sequence: int) -> None:
        """What is known of the run: nothing yet."""
        dag = self.dag
        self.phase = Phase.STARTING  # what the whole run is doing; `enter` is its only writer
        self.recovering = False  # whether an old log is being replayed
        # how the DAG does, a halt apart; `set_status` is its only writer
        self.status = DagStatus.OK
        self.halt = Halt()
        self.end = End()
        self.nodes = Nodes(dag)
        self.job_table = JobTable(keep_ended=self.config.allow_events != ALL_EVENTS)
        finals = dag.of_kind(NodeKind.FINAL)
        self.final = finals[0] if finals else None  # the FINAL node, None if the DAG has none
        self.provisioner = Provisioner(dag)
        self.query = QueueQuery()
        self.log = LogReading()
        self.noop_ids = NoopIds()
        self.jobstate_lines = JobstateLines(first_sequence, keeps_times=bool(dag.jobstate_log))
        self.deferrals = DeferralCounts()
        # nodes in the queue in the places of others, under -MaxJobs; `share_place` alone writes it
        self.places_shared = 0

    def _reset_pending(self) -> None:
        """What is to be done: nothing yet."""
        self.ready: ReadyQueue = ReadyQueue()  # nodes that are to be submitted
        self.categories = Categories(self.dag.categories, self.dag.category_limits)
        self.pace = SubmitPace(self.config.submit_delay)
        self.submission = Submission(self.config.max_nodes_in_cluster)
        # how many nodes may be submitted in a minute
        self.starts = StartPace(self.config.max_starts_per_minute)
        self.scripts = Scripts(self.config.restart_pre_rate)
        self.retrying = Retrying()
        # what was set for nodes in place of what the DAG says
        self.settings: dict[int, NodeSettings] = {}
        self.dag_priority_is_set = False  # by a person, since the DAG was read
        self._priority_change = 0
        self.removals = Removals()  # clusters that are to be removed
        self.save_points = SavePoints()

    def queue_in(self, ready: ReadyQueue, pre: ScriptQueue, post: ScriptQueue) -> None:
        """What is to start waits in these queues, which have all that was in those before."""
        self.ready = ready
        self.scripts.use(pre, post)

    # Actions.

    def emit(self, action: do.Action) -> None:
        """Ask for something."""
        self.out.append(action)

    def say(self, text: str, level: int = 3) -> None:
        """A line for `.dagman.out`."""
        if not self.silent:
            self.out.append(_new_tuple(do.Say, (text, level, False)))  # half the time of do.Say

    def say_start(self, text: str) -> None:
        """A line that tells what is being started: not said where nothing is."""
        if self.mode is not Mode.SETUP_ONLY:
            self.say(text)

    def journal(self, node: int, action: do.Action) -> None:
        """Write an event of our own about a node, one at a time, and see to it that it is read
        back."""
        self.write(OF_NODE, node, action)

    def write(self, kind: Kind, key: Hashable, *records: do.Action) -> None:
        """Write records of our own, and see to it that they are read back."""
        self.written.add(kind, key, records, self.now)
        self.out += records

    def jobstate(self, node: int, event: str, job: str = "-") -> None:
        """A line for jobstate.log.  It carries the time of the node's last event, so that a replay
        gives the same line."""
        if self.dag.jobstate_log:
            lines = self.jobstate_lines
            time = lines.times.get(node, self.now)
            self.out.append(do.JobState(time, node, event, job, lines.sequence(node)))

    # Single writers.

    def set(self, node: int, settings: NodeSettings) -> None:
        """More is set for a node, in place of what the DAG says."""
        self.settings[node] = self.settings.get(node, NOTHING_SET).merged(settings)

    def set_dag_priority(self, priority: int) -> None:
        """Another priority is in force for the whole DAG."""
        self.dag_priority_is_set = True
        self._priority_change = priority - self.dag.priority

    def use(self, features: dict[str, Any], hooks: Hooks) -> None:
        """The run has these features from now on; see `feature.connect`."""
        self.features = features
        self.hooks = hooks
        self.nodes.tell(hooks.node_moved, hooks.pop_hopeless)
        self.job_table.tell(hooks.idle_changed)

    def show_to(self, observer: Any) -> None:
        """The observer is told what happens; see `feature.observe`."""
        self.observers += (observer,)

    def enter(self, phase: Phase) -> None:
        """The only writer of the DAG's phase."""
        assert phase in MOVES[self.phase], (self.phase, phase)
        self.phase = phase
        self.recovering = phase is Phase.RECOVERING

    def set_status(self, status: DagStatus) -> None:
        """The only writer of the DAG's status."""
        self.status = status

    def share_place(self, change: int) -> None:
        """So many more nodes are in the queue in the places of others."""
        self.places_shared += change

    def set_config(self, config: Config) -> None:
        """Other knobs are in force from now on, or were when what is read next happened."""
        self.config = config

    def set_limits(self, limits: Throttles) -> None:
        """Other throttles are in force from now on."""
        self.limits = limits
        self.limits_changed = True

    # Questions.

    def happened(self, time: float) -> float:
        """When an event happened that is stamped with `time`.

        An old log is believed.  What is read live has just happened: its stamp may be of a clock
        that was set since we started, or is another machine's.
        """
        return min(time, self.now) if self.recovering else self.now

    @property
    def is_rehearsal(self) -> bool:
        """Whether nothing really runs."""
        return self.mode in (Mode.DRY_RUN, Mode.SETUP_ONLY)

    @property
    def halted(self) -> bool:
        """Whether anything or anybody keeps the DAG halted."""
        return self.halt.on

    @property
    def starts_nothing(self) -> bool:
        """Whether nothing new may be started now, since the DAG is halted."""
        return self.halt.on and self.phase is not Phase.FINISHING

    @property
    def frozen(self) -> bool:
        """Whether nothing at all may be started now, since the DAG is paused."""
        return self.halt.paused and self.phase is not Phase.FINISHING

    @property
    def shown_status(self) -> DagStatus:
        """The DAG's status as the outside sees it: a halt hides what it was before."""
        return DagStatus.HALTED if self.halt.on and self.end.begun is None else self.status

    @property
    def final_waits(self) -> bool:
        """Whether there is a FINAL node that has not begun."""
        return self.final is not None and self.nodes.states[self.final] == State.WAITING

    @property
    def final_begun(self) -> bool:
        """Whether the FINAL node has begun, or is about to."""
        if self.phase is Phase.FINISHING:
            return True
        return self.final is not None and self.nodes.states[self.final] != State.WAITING

    @property
    def is_over(self) -> bool:
        """Whether the run has been ended, but perhaps for its FINAL node."""
        return self.end.wanted is not None or self.end.begun is not None or self.final_begun

    def is_closed_to(self, node: int) -> bool:
        """Whether `node` may not be started any more, since the FINAL node has begun, as the log
        has it, or since it is not wanted."""
        if node == self.final:
            return False
        if self.nodes.marks[node] & (UNWANTED | CLEANING) == UNWANTED:
            return True
        return self.final is not None and self.nodes.states[self.final] != State.WAITING

    def is_ordinary(self, node: int) -> bool:
        """Whether `node` is neither the FINAL node nor a SERVICE."""
        return node != self.final and node not in self.nodes.services

    def priority(self, node: int) -> int:
        """Effective priority of a node: its own, and what is added for the whole DAG."""
        priority = self.dag.priorities.get(node, 0)
        own = self.settings.get(node)
        if own is not None and own.priority is not None:
            priority = own.priority + self.dag.priority
        return priority + self._priority_change

    @property
    def dag_priority(self) -> int:
        """What is added to the priority of each node."""
        return self.dag.priority + self._priority_change

    def retry(self, node: int) -> Retry | None:
        """The node's RETRY in force."""
        return retry_in_force(self.dag.retries.get(node), self.settings.get(node))

    def category(self, node: int) -> str:
        """The node's category in force, '' if it has none."""
        own = self.settings.get(node)
        if own is not None and own.category is not None:
            return own.category
        return self.dag.categories.get(node, "")

    def runs_at(self, node: int) -> tuple[str, str]:
        """The site that the node runs at and the digest of its ad; '' for both if it has none."""
        for place in self.hooks.runs_at:
            found = place(node)
            if found[0]:
                return found
        return "", ""

    @property
    def open_nodes(self) -> int:
        """How many nodes have not ended, SERVICE and FINAL nodes left out."""
        counts = self.nodes.counts
        ended = counts[State.DONE] + counts[State.FAILED] + counts[State.FUTILE]
        return self.nodes.total - ended - self.final_waits

    def nodes_in_queue(self) -> int:
        """How many nodes hold a place under -MaxJobs."""
        places = sum(self.nodes.counts[state] for state in IN_QUEUE)
        return places - self.places_shared

    def script_room(self, kind: ScriptKind) -> float:
        """How many scripts of one kind may start now; infinity if there is no limit."""
        if kind is ScriptKind.PRE:
            limit, running = self.limits.pre, self.nodes.count_all(State.PRE_RUN)
        elif kind is ScriptKind.POST:
            limit, running = self.limits.post, self.nodes.count_all(State.POST_RUN)
        else:
            limit, running = self.limits.hold, self.scripts.hold.running
        return limit - running if limit else float("inf")


_new_tuple = tuple.__new__
