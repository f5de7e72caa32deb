"""Follows a run: entries of its two logs in, a `Run` kept up to date and events out.

The nodes log is replayed by the engine, which alone decides what state a node is in; `.dagman.out`
tells people of what is only there.  What the stock program, unlike ours, does not write to the
nodes log, and its recovery does not know either, is taken from its `.dagman.out`: how a PRE script
has ended, that jobs could not be submitted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.config import Config
from condor_pydagman.engine.engine import NOTHING, Engine
from condor_pydagman.engine.inputs import Begin, LogEvent
from condor_pydagman.engine.node_states import State
from condor_pydagman.engine.state import Mode
from condor_pydagman.engine.throttles import Throttles
from condor_pydagman.features.common import rerun
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.history import History, Observer
from condor_pydagman.follow.nodes_log import NodesLogEvent
from condor_pydagman.follow.run_model import OF_RUN, NodeRun, PutOff, Run, Start
from condor_pydagman.follow.unknown_dag import (
    add_nodes,
    begin_anew,
    is_unknown,
    unknown_dag,
)
from condor_pydagman.graph.model import Dag
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.names import logged_name
from condor_pydagman.printable import first_of, printable
from condor_pydagman.records.dagman_out import PAUSED, OutKind, OutLine, knobs_of
from condor_pydagman.vocabulary import DagStatus, EventKind, JournalRecord, ScriptKind
from condor_pydagman.words import result

# Of nodes that the DAG does not have, and of those that can't have done what the log says.
_DOUBTS = (
    "The nodes log names nodes that the DAG files, and what was added to them, do not have",
    "The nodes log tells what can't have happened to nodes of the DAG, as its files are now",
)
_NAMED = 3  # of such nodes
# What follows from events of the nodes log, mostly of the same second.
_AFTER = (
    OutKind.ABORT,
    OutKind.REMOVED,
    OutKind.RESCUE_TO,
    OutKind.END,
)
MAX_SAID = 1000  # failed nodes of which DAGMan's words are kept
_LAST_OF_SECOND = 0.999999


def order(line: OutLine) -> float:
    """Where a line stands among events of the nodes log, which have milliseconds: a line of whole
    seconds behind those of its second, if it follows from one."""
    if line.time % 1 or not (line.what in _AFTER or line.text == "POST"):
        return line.time
    return line.time + _LAST_OF_SECOND


def is_start_of_post(line: OutLine, node: str) -> bool:
    """Whether a line is the start of the POST script of a node, by its name in the nodes log."""
    is_start = line.what is OutKind.SCRIPT_START and line.text == "POST"
    return is_start and logged_name(line.node) == node


class Plan(NamedTuple):
    """A DAG that is to be followed, as its run begins with it."""

    # the graph, with the progress of the rescue file that the run began with, and without what was
    # not chosen; the engine adds to it what the run has added
    dag: Dag
    given: Mapping[str, Any] = NOTHING  # what features begin with, by their names
    # whether a node's proc, submitted at that time, is on hold from then on, of which the log has
    # no event
    is_on_hold: Callable[[int, int, float], bool] | None = None

    @property
    def is_unknown(self) -> bool:
        """Whether nobody has read the DAG: its nodes are those that the log names."""
        return is_unknown(self.dag)


def unknown_plan() -> Plan:
    """Of a DAG whose files can't be read, or are not to be."""
    return Plan(unknown_dag())


class _Followed(NamedTuple):
    """A run that is followed."""

    plan: Plan
    engine: Engine
    history: History
    is_unknown: bool


class _Early(NamedTuple):
    """A line of `.dagman.out`, which has whole seconds, that follows from an event of its second
    which has not been read.
    """

    line: OutLine  # the line
    # takes it if its node has come so far; given the line, the node, and whether the line's second
    # is over
    take: Callable[[OutLine, int, bool], bool]


class Follower:
    """What happens in a run.

    Args:
        read_plan: gives the DAG as the run that begins now begins with it; it is asked again when
            another run begins, which may have another rescue file.
    """

    def __init__(self, read_plan: Callable[[], Plan] = unknown_plan) -> None:
        self.run = Run()  # is kept up to date; another one as soon as another run begins
        # whether events are told, when a run begins: to make them takes more time than all else
        self.wanted = True
        self._read_plan = read_plan
        self._events: list[DagEvent] = []
        self._coming: Sequence[NodesLogEvent] = ()
        self._followed: _Followed | None = None
        self._early: dict[int, list[_Early]] = {}  # by their nodes
        self._failed_unlogged: set[int] = set()
        # of what `take` has returned last, what an early line has told: by its index, the offset
        # behind that line
        self.late: dict[int, int] = {}
        self._in_list, self._listed = False, ""  # of failed nodes, and the last of it
        self._is_ours = False  # whether the nodes log has records of our DAGMan
        self._do: dict[OutKind, Callable[[OutLine], object]] = {
            OutKind.START: self._start,
            OutKind.VERSION: self._version,
            OutKind.NEW_RUN: self._new_run,
            OutKind.RECOVERY: self._recovery,
            OutKind.TOLERANCE: self._knob,
            OutKind.KNOB: self._knob,
            OutKind.KNOB_PLACE: self._knob_place,
            OutKind.RESCUE_FROM: self._rescue_from,
            OutKind.RESCUE_READ: self._rescue_read,
            OutKind.RESCUE_TO: self._rescue_to,
            OutKind.SCRIPT_START: self._script_start,
            OutKind.SCRIPT_ERROR: self._script_error,
            OutKind.SCRIPT_END: self._script_end,
            OutKind.SCRIPT_DEFERRED: self._script_deferred,
            OutKind.SUBMIT_FAILURE: self._submit_failure,
            OutKind.JOB_FAILURE: lambda line: self._say_failed(line.node, f"job {line.text}"),
            OutKind.RETRY: lambda line: self.run.said_failed.pop(line.node, None),
            OutKind.ERROR: lambda line: self.run.errors.append(line.text),
            OutKind.FAILED_LIST: self._failed_list,
            OutKind.LISTED_NODE: self._listed_node,
            OutKind.LISTED_ERROR: self._listed_error,
            OutKind.LIST_END: self._list_end,
            OutKind.QUEUE_FULL: self._queue_full,
            OutKind.NO_SITE_YET: self._of_feature,
            OutKind.STEERED: self._of_feature,
            OutKind.HALT: self._halt,
            OutKind.RESUME: self._resume,
            OutKind.LIMIT: self._limit,
            OutKind.STATUS: self._status,
            OutKind.END: self._end,
        }

    @property
    def plan(self) -> Plan:
        """The DAG of the run; it grows as the run does."""
        return self._following().plan

    @property
    def engine(self) -> Engine:
        """How the run stands, as the engine has it."""
        return self._following().engine

    @property
    def doubts(self) -> list[str]:
        """What the nodes log tells and the DAG, as its files are now, can't have had; one sentence
        each."""
        if self._followed is None or self._followed.is_unknown:
            return []
        run = self._followed.engine.run
        dag = run.dag
        early = [dag.names[node] for node, _ in run.log.impossible]
        named = (event.node for event in run.log.unmatched_events)
        others = [name for name in named if name and dag.find(name) is None]
        found = zip(_DOUBTS, (others, early))
        return [
            f"{what}: {first_of([*map(printable, dict.fromkeys(names))], _NAMED)}."
            for what, names in found
            if names
        ]

    def changed(self) -> Collection[NodeRun]:
        """Nodes of which something has changed since the last call; the first call begins it."""
        return self._following().history.pop_changed()

    def expect(self, coming: Sequence[NodesLogEvent]) -> None:
        """These are the next events of the nodes log: they may have records of our DAGMan.  Of a
        DAG that can't be read, they name nodes, and to add many at once takes less time."""
        self._coming = coming
        self._is_ours = self._is_ours or any(event.record for event in coming)

    def take(self, entry: NodesLogEvent | OutLine) -> list[DagEvent]:
        """Take in the next entry of one of the logs; returns what has happened."""
        if self.late:
            self.late = {}
        if isinstance(entry, NodesLogEvent):
            return self.take_job_event(entry)
        return self.take_out_line(entry)

    def take_job_event(self, event: NodesLogEvent) -> list[DagEvent]:
        """Take in the next event of the nodes log; returns what has happened."""
        self.run.begun = self.run.begun or event.time
        if event.value is not None:
            if event.record is not None:
                self._is_ours = True
                self._failed_unlogged -= {self.plan.dag.find(event.node)}
            self._take(event)
        return self._taken()

    def take_out_line(self, line: OutLine) -> list[DagEvent]:
        """Take in the next line of `.dagman.out`; returns what has happened."""
        self.run.last = max(self.run.last, line.time)
        if line.what in OF_RUN:
            counts = self.run.counts
            OF_RUN[line.what](self.run, line)
            if self.run.counts != counts:
                self._tell("dag.status", line.time, status=self.run.dag_status, **self.run.counts)
        elif line.what in self._do:
            self._do[line.what](line)
        return self._taken()

    def knows_start_of_post(self, node: str) -> bool:
        """Whether the start of the POST script of the node's last attempt has been taken."""
        run = self.run.nodes.get(node)
        post = run.attempts[-1].post if run is not None and run.attempts else None
        return post is not None and bool(post.started)

    def settle(self) -> None:
        """No entry comes at once: find out what has been left open.  It is shown, and told with the
        next entry, as to somebody who reads on without a pause."""
        if self._followed is not None:
            self._followed.engine.settle()
            self._followed.history.preview(self.run.last)

    def _take(self, event: LogEvent) -> None:
        _, engine, history, is_unknown = self._followed or self._following()
        if is_unknown and event.node:
            self._learn(event.node)
            begin_anew(engine.run, event)
        history.take(event)
        engine.follow(event)
        if history.unsettled:
            history.settle(event.time)
        if self._early:
            self._take_early(event.time)

    def _learn(self, name: str) -> None:
        """Of a DAG that nobody has read: it has this node."""
        plan, engine, history, _ = self._following()
        if plan.is_unknown and plan.dag.find(name) is None:
            known = len(plan.dag)
            add_nodes(engine.run, [*(event.node for event in self._coming), name])
            self._coming = ()
            history.grown(range(known, len(plan.dag)))

    def _taken(self) -> list[DagEvent]:
        if not self._events:
            return []
        events = self._events[:]
        self._events.clear()
        return events

    def _tell(self, name: str, time: float, **data: Any) -> None:
        if self.wanted:
            self._events.append(DagEvent(name, time, data=data))

    def _following(self) -> _Followed:
        """What is followed, from the first time on that it is needed: to read a DAG takes time."""
        if self._followed is None:
            plan = self._read_plan()
            config = Config(**self.run.knobs)
            given = plan.given
            engine = Engine(plan.dag, config, Throttles(), mode=Mode.FOLLOW, given=given)
            engine.handle(Begin(recovering=True), self.run.begun)
            say = self._events.append if self.wanted else None
            history = History(engine.run, self.run, say, plan.is_on_hold)
            history.begin()
            engine.observe(Observer(engine.run, history))
            self._followed = _Followed(plan, engine, history, plan.is_unknown)
        return self._followed

    def _start(self, line: OutLine) -> None:
        self.run.starts.append(Start(line.time))
        if self.run.ended:
            self.run.stood(self.run.ended, line.time)
        self.run.ended, self.run.exit_code = 0.0, None
        self.run.errors.clear()
        self.run.knob_places = {}
        self.run.rescued_from, self.run.rescue_read, self.run.queue_full = 0, "", ""
        self.run.begun = self.run.begun or line.time
        # The stock program may go on with a DAG of ours.
        self._is_ours = any(one.record for one in self._coming if one.time >= line.time)
        self._tell("dag.start", line.time)

    def _version(self, line: OutLine) -> None:
        if self.run.starts:
            self.run.starts[-1] = self.run.starts[-1]._replace(version=line.text)

    def _new_run(self, line: OutLine) -> None:
        before, self.run = self.run, Run()
        self.run.starts = before.starts[-1:]
        self.run.begun = self.run.starts[0].time if self.run.starts else line.time
        self.run.last, self.run.limits = line.time, before.limits
        self.run.errors = before.errors
        self.run.knobs, self.run.knob_places = before.knobs, before.knob_places
        self.run.rescued_from, self.run.rescue_read = before.rescued_from, before.rescue_read
        self._followed, self._is_ours, self._early = None, False, {}
        self._failed_unlogged = set()
        self.expect(self._coming)

    def _recovery(self, line: OutLine) -> None:
        if self.run.starts:
            self.run.starts[-1] = self.run.starts[-1]._replace(recovering=True)
        self._forget_unlogged(line.time)

    def _forget_unlogged(self, time: float) -> None:
        """What the stock program has not logged it does not know when it is started again: nodes
        that have failed by that run anew."""
        nodes, self._failed_unlogged = self._failed_unlogged, set()
        for node in nodes:
            run = self.engine.run
            if run.nodes.states[node] == State.FAILED:
                rerun.run_again(run, node, with_descendants=False)
        if nodes:
            self.engine.settle()
            self._following().history.settle(time)

    def _knob(self, line: OutLine) -> None:
        """What the log says of knobs goes before it; the stock program's log says nothing."""
        self.run.knobs.update(knobs_of(line))
        if self._followed is not None and not self._followed.engine.run.log.config:
            self._followed.engine.run.set_config(Config(**self.run.knobs))

    def _knob_place(self, line: OutLine) -> None:
        self.run.knob_places[line.node] = (line.number, line.text)

    def _rescue_from(self, line: OutLine) -> None:
        self.run.rescued_from = line.number

    def _rescue_read(self, line: OutLine) -> None:
        self.run.rescue_read = line.text

    def _rescue_to(self, line: OutLine) -> None:
        self.run.rescue_written = line.text
        self._tell("dag.rescue", line.time, file=line.text)

    def _script_start(self, line: OutLine) -> None:
        self._learn(line.node)
        self.run.unstarted.pop(line.node, None)
        if line.text == "PRE":
            self._when_due(line, self._pre_starts)
        elif line.text == "POST":
            self._following().history.post_started(line.node, line.time)
        else:
            self._following().history.told_of_script(line.node, "script.start", line.time)

    def _pre_starts(self, line: OutLine, node: int, is_due: bool) -> bool:
        history, starts = self._following().history, self.run.starts
        if not is_due and history.is_trying(line.node, starts[-1].time if starts else 0.0):
            return False  # it is of the next attempt
        if not self._is_ours:
            self._begin_unlogged(node, line.time)
        history.pre_started(line.node, line.time)
        history.settle(line.time)  # of nodes without parents nothing has been told
        return True

    def _script_end(self, line: OutLine) -> None:
        self._learn(line.node)
        if line.number and line.text != "HOLD":
            self._say_failed(line.node, f"{line.text} script: {result(line.number)}")
        elif line.text == "POST":  # it decides, whatever its jobs have done
            self.run.said_failed.pop(line.node, None)
        if line.text == "PRE":
            dag, node = self.plan.dag, self.plan.dag.find(line.node)
            skips = None if node is None else dag.pre_skips.get(node)
            if not line.number or line.number != skips:  # else an event is in the nodes log
                self._unlogged(line, JournalRecord.PRE_ENDED, State.PRE_WAIT)
        elif line.text == "HOLD":
            self._following().history.told_of_script(
                line.node, "script.end", line.time, value=line.number
            )

    def _submit_failure(self, line: OutLine) -> None:
        self._learn(line.node)
        self._say_failed(line.node, f"can't be submitted: {line.text}")
        self._unlogged(line, JournalRecord.SUBMIT_FAILED, State.READY)

    def _script_error(self, line: OutLine) -> None:
        unstarted = self.run.unstarted
        if line.node in unstarted or len(unstarted) < MAX_SAID:
            unstarted[line.node] = line.text

    def _say_failed(self, node: str, how: str) -> None:
        said = self.run.said_failed
        if node in said or len(said) < MAX_SAID:
            said[node] = how

    def _failed_list(self, _line: OutLine) -> None:
        self.run.said_failed.clear()
        self.run.is_list = self._in_list = True

    def _listed_node(self, line: OutLine) -> None:
        if self._in_list:  # DAGMan may write the same of any node
            self._say_failed(line.node, "")
            self._listed = line.node

    def _listed_error(self, line: OutLine) -> None:
        if self._in_list:
            self._say_failed(self._listed, line.text)

    def _list_end(self, _line: OutLine) -> None:
        self._in_list = False

    def _unlogged(self, line: OutLine, record: str, state: State) -> None:
        """Something of a node, in that state, that the stock program does not write to the nodes
        log; ours has a record of it."""
        if not self._is_ours:
            self._when_due(line, partial(self._takes_as, record, state))

    def _takes_as(self, record: str, state: State, line: OutLine, node: int, _is_due: bool) -> bool:
        run = self.engine.run
        self._begin_unlogged(node, line.time)
        wanted = State.READY if self.plan.is_unknown else state
        if run.nodes.states[node] not in (wanted, State.RETRY_WAIT):
            return False
        if record == JournalRecord.PRE_ENDED:
            self._take_record(record, node, line.time, value=line.number)
        else:
            self._take_record(record, node, line.time, text=line.text)
        if run.nodes.states[node] == State.FAILED:
            self._failed_unlogged.add(node)
        return True

    def _when_due(self, line: OutLine, take: Callable[[OutLine, int, bool], bool]) -> None:
        """Take a line now, or when an event of its second has led to it."""
        node = self.engine.run.dag.find(line.node)
        if node is None or take(line, node, False):
            return
        self._early.setdefault(node, []).append(_Early(line, take))

    def _begin_unlogged(self, node: int, time: float) -> None:
        """That something of the node has ended shows that the PROVISIONER is ready, or that the
        FINAL node has begun, if nothing else goes on."""
        run = self.engine.run
        is_final = node == run.final
        if run.provisioner.holds_back(node) and not (is_final or node in run.nodes.services):
            assert run.provisioner.node is not None
            self._take_record(JournalRecord.PROVISIONED, run.provisioner.node, time)
        if is_final and run.final_waits:
            report = self.engine.report()
            if not (report.queued or report.post):
                failed = int(report.failed > 0)
                self._take_record(JournalRecord.FINAL_STARTED, node, time, value=failed)

    def _take_record(
        self, record: str, node: int, time: float, value: int = 0, text: str = ""
    ) -> None:
        """Take what our DAGMan would have written."""
        run, kind = self.engine.run, int(EventKind.GENERIC)
        name = logged_name(run.dag.names[node])
        retry = run.nodes.retries.get(node, 0)
        self._take(LogEvent(kind, -1, -1, 0, time, "", name, value, record, retry, text))

    def _take_early(self, time: float) -> None:
        """What lines tell, of whole seconds, follows from events of their seconds: look at nodes
        that have moved, and at those whose second is over."""
        early, nodes = self._early, [*self._following().history.moved_last, self.engine.run.final]
        if time >= min(lines[0].line.time for lines in early.values()) + 1:
            nodes = [*early]
        for node in nodes:
            if node in early:
                self._take_early_of(node, time)

    def _take_early_of(self, node: int, time: float) -> None:
        waiting = self._early.pop(node)
        for at, early in enumerate(waiting):
            is_due, begin = time >= early.line.time + 1, len(self._events)
            has_taken = early.take(early.line, node, is_due)
            self.late.update(dict.fromkeys(range(begin, len(self._events)), early.line.end))
            if not (has_taken or is_due):
                self._early[node] = waiting[at:]
                return

    def _script_deferred(self, line: OutLine) -> None:
        self._learn(line.node)
        until = line.time + line.delay_s
        off = PutOff(ScriptKind(line.text), line.number, line.time, until)
        self._following().history.script_deferred(line.node, off)

    def _of_feature(self, line: OutLine) -> None:
        for feature in feature_table.traced(line.what.name):
            feature.LINES[line.what](self.run, line)

    def _halt(self, line: OutLine) -> None:
        if self.run.halt(line.time, paused=line.text == PAUSED):
            self._tell("dag.halt", line.time)

    def _resume(self, line: OutLine) -> None:
        if self.run.resume(line.time):
            self._tell("dag.resume", line.time)

    def _limit(self, line: OutLine) -> None:
        if self.run.limits.get(line.text) != line.number:
            self.run.limits[line.text] = line.number
            self._tell("dag.limits", line.time, **{line.text: line.number})

    def _status(self, line: OutLine) -> None:
        """All that the stock DAGMan writes of a halt by file."""
        self.run.dag_status = line.number
        if line.number == DagStatus.HALTED:
            self._halt(line)
        elif line.number in (DagStatus.OK, DagStatus.NODE_FAILED):
            self._resume(line)

    def _queue_full(self, line: OutLine) -> None:
        self.run.queue_full = line.text

    def _end(self, line: OutLine) -> None:
        self.run.ended, self.run.exit_code = line.time, line.number
        self._tell("dag.end", line.time, exit_code=line.number, status=self.run.dag_status)
