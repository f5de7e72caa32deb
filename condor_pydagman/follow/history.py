"""What happens to nodes: their attempts and the states they come into, told as events.

No state is decided here.  The engine, which follows the nodes log, moves nodes (`engine.nodes`);
this adds what people want to know and the engine has no use for: when and where jobs ran, why they
were held, what they used.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from condor_pydagman import feature_table
from condor_pydagman.engine.engine import NOTHING
from condor_pydagman.engine.feature import Feature
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Change, Jobs
from condor_pydagman.engine.node_states import NOT_NEEDED, PUBLISHED, SKIPPED, Anew, State
from condor_pydagman.engine.state import RunState
from condor_pydagman.follow import carriers, event_facts
from condor_pydagman.follow.dag_events import DagEvent
from condor_pydagman.follow.failures import PUT_OFF, failure_of
from condor_pydagman.follow.node_placements import NodePlacements, event_fields
from condor_pydagman.follow.nodes_log import said
from condor_pydagman.follow.run_model import (
    REMOVAL_S,
    Attempt,
    Carrier,
    Hold,
    NodeRun,
    PutOff,
    Run,
    ScriptRun,
)
from condor_pydagman.follow.tally import WINDOW_S
from condor_pydagman.follow.unknown_dag import is_unknown
from condor_pydagman.graph.grow import Growth
from condor_pydagman.graph.model import LEFT_OUT
from condor_pydagman.names import logged_name
from condor_pydagman.printable import number_of
from condor_pydagman.records.own_events import RecordRead
from condor_pydagman.records.placement_event import COMPLETED, FAILED, RESCHEDULED, parse_event
from condor_pydagman.vocabulary import (
    RETURN_JOB_ABORTED,
    EventKind,
    JournalRecord,
    NodeStatus,
    ScriptKind,
)
from condor_pydagman.words import duration

_PLACEMENT_EVENTS = {COMPLETED: "data.done", RESCHEDULED: "data.retry", FAILED: "data.fail"}
_ENDED = (NodeStatus.DONE, NodeStatus.ERROR)
_PUBLISHED = [PUBLISHED[state] for state in State]
_OF_UNKNOWN = [*_PUBLISHED]  # of nodes of which nobody knows whether they are tried again
_OF_UNKNOWN[State.RETRY_WAIT] = NodeStatus.ERROR
# States that follow from those of other nodes; of a node that has not begun they are not told.
_FOLLOWING = (NodeStatus.READY, NodeStatus.FUTILE)
_SUBMITTED_ON_HOLD = ("submitted on hold at user's request", 15, 0)  # as the schedd's job ad says


class Observer(Feature):
    """Tells a history of what the engine takes note of."""

    name = "history"

    def __init__(self, run: RunState, history: History) -> None:
        super().__init__(run)
        # The commonest moments without a call in between.
        self.jobs_seen = history.jobs_seen  # type: ignore[method-assign]
        self.job_event = history.job_event  # type: ignore[method-assign]
        self.node_moved = history.node_moved  # type: ignore[method-assign]
        self.own_event = history.own_event
        self._history = history

    def node_moved(self, node: int, old: int, new: int) -> None:
        """See `Feature`."""

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """See `Feature`."""

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """See `Feature`."""

    def begins_anew(self, node: int, why: Anew) -> None:
        """See `Feature`."""
        if why is Anew.RETRY:
            self._history.retried(node)
        elif why is Anew.RUN:
            self._history.begins_anew(node)

    def grown(self, growth: Growth, children: Sequence[int]) -> None:
        """See `Feature`."""
        self._history.grown(growth.nodes)


class History:
    """The nodes of a run.

    Args:
        state: the run as the engine has it.
        run: is kept up to date.
        say: takes each event; None if nobody wants them.
        is_on_hold: see `Plan`.
    """

    def __init__(
        self,
        state: RunState,
        run: Run,
        say: Callable[[DagEvent], None] | None,
        is_on_hold: Callable[[int, int, float], bool] | None = None,
    ) -> None:
        self.state, self.run = state, run
        self._say, self._is_on_hold = say, is_on_hold
        self._on_hold: dict[int, set[int]] = {}  # by node, procs since their submission
        self._nodes: dict[int, NodeRun] = {}
        self._reasons: dict[str, dict[str, Any]] = {}
        self._evicted: dict[tuple[int, int], float] = {}  # procs that have not run since, and when
        self._holds: dict[tuple[int, int], int] = {}  # number of a proc's hold in its attempt
        self._anew: set[int] = set()  # nodes that are to run as if they never had
        self._last_release = 0.0
        self._event: LogEvent = LogEvent(0)
        self._changed: dict[str, NodeRun] | None = None  # if somebody wants to know
        self._is_unknown = is_unknown(state.dag)
        self._published = _OF_UNKNOWN if self._is_unknown else _PUBLISHED
        self.moved_last: dict[int, None] = {}  # by the last entry
        self._moved: dict[int, None] = {}  # since the last `settle`
        self._shown: dict[int, tuple[NodeStatus, float]] = {}  # what `preview` has changed

    # What the engine and the features are given.

    def say(self, event: DagEvent) -> None:
        """Send an event of the whole DAG."""
        if self._say is not None:
            self._say(event)

    def tell(self, name: str, time: float, node: NodeRun, job: str = "", **data: Any) -> None:
        """Send an event about a node's newest attempt."""
        if self._say is not None:
            attempt = max(len(node.attempts) - 1, 0)
            self._say(DagEvent(name, time, node.name, attempt, job, data))

    def because(self, node: NodeRun, **data: Any) -> None:
        """If the event at hand brings the node into another state, this is told of it."""
        self._reasons[node.name] = data

    def node(self, name: str) -> NodeRun | None:
        """The node of that name; None if the DAG has none."""
        number = self.state.dag.find(name)
        return None if number is None else self.of(number)

    def feature(self, name: str) -> Feature | None:
        """The feature of that name of the engine, None if it has none."""
        return self.state.features.get(name)

    def group_of(self, node: NodeRun) -> str:
        """The group of nodes that run at one site which the node is in; '' if it is in none."""
        dag = self.state.dag
        number = dag.find(node.name)
        group = None if number is None else dag.group_of(number)
        return "" if group is None else str(dag.groups[group].name)

    def of(self, number: int) -> NodeRun:
        """What is known of a node."""
        found = self._nodes.get(number)
        if found is None:
            name, nodes = logged_name(self.state.dag.names[number]), self.run.nodes
            found = nodes.get(name)
            if found is None:
                found = nodes[name] = NodeRun(name)
            self._nodes[number] = found
            found.all_marks, found.number = self.state.nodes.marks, number
            found.is_left_out = bool(self.state.dag.flags[number] & LEFT_OUT)
            found.is_service = number in self.state.nodes.services
            if found.is_service:
                self.run.services.append(found)
        return found

    # The course of an event.

    def begin(self) -> None:
        """The engine has begun; nothing has been told of its nodes."""
        self.grown(range(len(self.state.nodes.states)))

    def grown(self, numbers: Iterable[int]) -> None:
        """There are these nodes, of which nothing has been told."""
        states, names, published = self.state.nodes.states, self.state.dag.names, self._published
        for number in numbers:
            if names[number]:
                node = self.of(number)
                status = published[states[number]]
                if status is not node.status:
                    node.status = status
                    node.told = status if status in _ENDED else NodeStatus.NOT_READY
        for number in self._moved.keys() & set(numbers) if self._moved else ():
            del self._moved[number]
            self._shown.pop(number, None)

    def take(self, event: LogEvent) -> None:
        """An event of the log is about to be given to the engine."""
        self._event = event
        if event.time > self.run.last:
            self.run.last = event.time
        if event.kind == EventKind.GENERIC:
            self._record(event)
        elif event.kind == EventKind.POST_SCRIPT_TERMINATED:
            self._post_ended(event)
        elif event.kind == EventKind.PRESKIP:
            self._pre_skipped(event)

    def node_moved(self, node: int, old: int, new: int) -> None:
        """A node has another state; only that at the end of an event is told."""
        self._moved[node] = None

    @property
    def unsettled(self) -> bool:
        """Whether `settle` has something to do."""
        return bool(self._moved or self._reasons)

    def preview(self, time: float) -> None:
        """Show the states into which nodes have come, which `settle` tells with the next entry."""
        for number in self._moved:
            node, status = self.of(number), self._published[self.state.nodes.states[number]]
            if status is not node.status:
                self._shown.setdefault(number, (node.status, node.since))
                node.status, node.since = status, time
                if self._changed is not None:
                    self._changed[node.name] = node

    def settle(self, time: float) -> None:
        """The engine has taken it: tell of the states into which nodes have come."""
        states, published = self.state.nodes.states, self._published
        moved = self.moved_last = self._moved
        self._moved = {}
        if self._shown:
            for number, (status, since) in self._shown.items():
                node = self.of(number)
                node.status, node.since = status, since
            self._shown.clear()
        nodes = self._nodes
        for number in moved:
            node, status = nodes[number], published[states[number]]
            if status is not node.status:
                self._set_status(number, node, status, time)
        if self._reasons:
            self._reasons.clear()

    def _set_status(self, number: int, node: NodeRun, status: NodeStatus, time: float) -> None:
        if node.status is NodeStatus.ERROR and node in self.run.failures:
            self.run.failures.remove(node)
        node.status, node.since = status, time
        if self._changed is not None:
            self._changed[node.name] = node
        data: Mapping[str, Any] = NOTHING
        is_untold = status in _FOLLOWING and node.told is NodeStatus.NOT_READY
        if is_untold and not (self._reasons or node.why):
            return
        if self._reasons:
            data = self._reasons.get(node.name, NOTHING)
        if status in _ENDED:
            has_tried = bool(node.attempts) and not node.attempts[-1].over
            if has_tried:
                node.attempts[-1].over = True
            data = data or self._what_led_to(number, node, status, has_tried=has_tried)
        if data or node.why or node.cached or node.told_skipped:
            self._explain(node, data)
        if status is NodeStatus.SUBMITTED and not (node.attempts and node.attempts[-1].cluster):
            attempt = self.attempt(number)  # it is in the queue without jobs of its own
            attempt.submitted, attempt.carrier = time, self.run.carried.get(node.name)
        if not node.is_service:  # which DAGMan does not count either
            self._count(node, status, time)
        self._tell_status(node, status, time, data)

    def _explain(self, node: NodeRun, data: Mapping[str, Any]) -> None:
        """Why a node has come into its state."""
        node.why, node.cached = str(data.get("reason") or ""), "cached" in data
        node.told_skipped = node.status is NodeStatus.DONE and bool(data.get("skipped"))
        if node.told_skipped and not node.marks() & (SKIPPED | NOT_NEEDED):
            self.run.skipped.add(node.name)
        else:
            self.run.skipped.discard(node.name)

    def _tell_status(
        self, node: NodeRun, status: NodeStatus, time: float, data: Mapping[str, Any]
    ) -> None:
        was = node.told
        if was is NodeStatus.NOT_READY and status in _FOLLOWING:
            return
        node.told = NodeStatus.NOT_READY if status is NodeStatus.FUTILE else status
        if self._say is not None and node.told is not was:
            told = {name: value for name, value in data.items() if value not in (None, "")}
            self.tell("node.state", time, node, status=node.told.name, was=was.name, **told)

    def _count(self, node: NodeRun, status: NodeStatus, time: float) -> None:
        run = self.run
        if status is NodeStatus.SUBMITTED:
            run.in_queue[node.name] = node
            return
        if node.attempts:
            run.in_queue.pop(node.name, None)
        if status is NodeStatus.ERROR:
            run.failures.append(node)
        elif status is NodeStatus.DONE and node.attempts and not (node.skipped or node.why):
            run.ends.append(time)
            while run.ends[0] < time - WINDOW_S:
                run.ends.popleft()

    def _what_led_to(
        self, number: int, node: NodeRun, status: NodeStatus, *, has_tried: bool
    ) -> Mapping[str, Any]:
        if status is NodeStatus.ERROR and not has_tried:
            return {"reason": self.state.nodes.errors.get(number, "")}
        if status is NodeStatus.ERROR:
            failure = failure_of(node, self.run)
            value = failure.value or node.attempts[-1].value
            return {"value": value, "reason": failure.brief[1]}
        if status is NodeStatus.DONE and self.state.nodes.marks[number] & (SKIPPED | NOT_NEEDED):
            return {"skipped": True, "reason": self._why_skipped(number)}
        return NOTHING

    def _why_skipped(self, number: int) -> str:
        texts = (details(number) for details in self.state.hooks.details)
        text = next(filter(None, texts), "")
        return text and (text.partition(": ")[2] or "all its parents are skipped")

    def pop_changed(self) -> Collection[NodeRun]:
        """Nodes of which something has changed since the last call; the first call begins it."""
        changed, self._changed = self._changed, {}
        return changed.values() if changed else ()

    # Attempts.

    def attempt(self, number: int) -> Attempt:
        """The attempt at hand of a node, which may be a new one."""
        node, retry = self.of(number), self.state.nodes.retries.get(number, 0)
        last = node.attempts[-1] if node.attempts else None
        if last is None or (last.number < retry and (last.over or self._is_unknown)):
            if node.attempts and self._is_unknown:
                self.tell("node.retry", self._event.time, node, retry=retry)
            attempt = Attempt(retry, anew=number in self._anew)
            self._anew.discard(number)
            node.attempts = (*node.attempts, attempt)
            if self.state.hooks.runs_at:
                attempt.site = self.state.runs_at(number)[0]
        return node.attempts[-1]

    def retried(self, number: int) -> None:
        """Its next attempt is about to begin, or to wait for its time."""
        node = self.of(number)
        if node.attempts:
            node.attempts[-1].over = True
        if not self._is_unknown:
            retry = self.state.nodes.retries[number]
            self.tell("node.retry", self._event.time, node, retry=retry)

    def begins_anew(self, number: int) -> None:
        """It is to run as if it never had."""
        node = self.of(number)
        node.cached, node.cancelled_by = False, ""
        if node.attempts:
            node.attempts[-1].over = True
            self._anew.add(number)

    # Scripts.

    def is_trying(self, name: str, begun: float) -> bool:
        """Whether an attempt of the node is going on that began after that time, so that another
        PRE script is of the next one."""
        node = self.node(name)
        last = node.attempts[-1] if node is not None and node.attempts else None
        if last is None or last.over:
            return False
        has_pre = last.pre is not None and begun <= last.pre.started and last.pre.value is None
        return bool(last.procs) or has_pre

    def pre_started(self, name: str, time: float) -> None:
        """Its PRE script has started; its end may have been told before."""
        number = self.state.dag.find(name)
        if number is None:
            return
        node = self.of(number)
        last = node.attempts[-1] if node.attempts else None
        if last is not None and last.pre is not None and not last.pre.started:
            last.pre.started = min(time, last.pre.ended)
        elif last is None or not last.procs or last.over:
            self.attempt(number).pre = ScriptRun(time)
            self.run.put_offs.pop(node.name, None)
        self.tell("script.start", time, node, script="PRE")
        self._tell_pre_run(node, time)
        self._seen_of_unknown(number, NodeStatus.PRERUN, time)

    def _tell_pre_run(self, node: NodeRun, time: float) -> None:
        """It is at its PRE script: of nodes without parents nothing has been told yet."""
        if node.status is NodeStatus.PRERUN:
            self._tell_status(node, NodeStatus.PRERUN, time, {})

    def pre_ended(self, number: int, value: int, time: float) -> None:
        """Its PRE script has ended, as the nodes log says."""
        attempt, node = self.attempt(number), self.of(number)
        if attempt.pre is None:
            attempt.pre = ScriptRun()
        if attempt.pre.value is None:
            self._tell_pre_run(node, time)
            attempt.pre.ended, attempt.pre.value = time, value
            if value:
                self._end_of_defer(number, ScriptKind.PRE, value)
            self.tell("script.end", time, node, script="PRE", value=value)
            status = NodeStatus.ERROR if value else NodeStatus.READY
            self._seen_of_unknown(number, status, time)

    def post_started(self, name: str, time: float) -> None:
        """Its POST script has started."""
        number = self.state.dag.find(name)
        if number is None:
            return
        node = self.of(number)
        attempt = node.attempts[-1] if node.attempts else self.attempt(number)
        post = attempt.post = attempt.post or ScriptRun()
        if not post.started:
            post.started = max(min(time, post.ended or time), attempt.ended)
            self.run.put_offs.pop(node.name, None)
            self.tell("script.start", post.started, node, script="POST")
            if post.value is None:
                self._seen_of_unknown(number, NodeStatus.POSTRUN, time)

    def script_deferred(self, name: str, off: PutOff) -> None:
        """A script has ended, and is run again later (SCRIPT DEFER)."""
        node = self.node(name)
        if node is None or not node.attempts:
            return
        data = {"script": off.kind.name, "value": off.value, "deferred": True}
        self.tell("script.end", off.time, node, "", **data)
        if off.kind is ScriptKind.POST:
            node.attempts[-1].post = None
        elif off.kind is ScriptKind.PRE:
            node.attempts[-1].pre = None
        others = self.run.put_offs.get(node.name, []) if off.kind is ScriptKind.HOLD else []
        self.run.put_offs[node.name] = sorted([*others, off], key=lambda one: one.until)

    def _end_of_defer(self, number: int, kind: ScriptKind, value: int) -> None:
        """If the script has asked to be put off once more than its DEFER lets it, say so."""
        script = self.state.dag.script(number, kind)
        if script is None or value != script.defer.status:
            return
        defer, before = script.defer, self.state.scripts.by_kind[kind].put_offs.get(number)
        if not (defer.times or defer.total):
            return
        limit = f"for longer than {duration(defer.total)}"
        if before is not None and 0 < defer.times <= before.number:
            limit = f"more than {number_of(defer.times, 'time')}"
        self.because(self.of(number), value=value, reason=f"{kind.name} script {PUT_OFF} {limit}")

    def told_of_script(self, name: str, what: str, time: float, **data: Any) -> None:
        """A HOLD script has started or ended."""
        node = self.node(name)
        if node is not None:
            others = self.run.put_offs.pop(name, [])[what == "script.start" :]
            if others:
                self.run.put_offs[name] = others
            self.tell(what, time, node, script="HOLD", **data)

    def _post_ended(self, event: LogEvent) -> None:
        number = self.state.dag.find(event.node)
        if number is None:
            return
        node = self.of(number)
        attempt = node.attempts[-1] if node.attempts else self.attempt(number)
        post = attempt.post = attempt.post or ScriptRun()
        if post.value is None:
            post.ended, post.value = event.time, event.value
            if event.value:
                self._end_of_defer(number, ScriptKind.POST, event.value)
            self.tell("script.end", event.time, node, script="POST", value=event.value)
            status = NodeStatus.ERROR if event.value else NodeStatus.DONE
            self._seen_of_unknown(number, status, event.time)

    def _seen_of_unknown(self, number: int, status: NodeStatus, time: float) -> None:
        """A node of a DAG that nobody has read, of whose scripts the engine does not know, has come
        into that state."""
        node = self.of(number)
        if self._is_unknown and node.status is not status:
            self._set_status(number, node, status, time)

    def _pre_skipped(self, event: LogEvent) -> None:
        number = self.state.dag.find(event.node)
        if number is not None:
            value = self.state.dag.pre_skips.get(number)
            if value is not None:
                self.pre_ended(number, value, event.time)
            self.attempt(number).skipped = True
            self.because(self.of(number), skipped=True)
            self._seen_of_unknown(number, NodeStatus.DONE, event.time)

    # Jobs.

    def jobs_seen(self, node: int, jobs: Jobs) -> None:
        """A cluster is the node's."""
        attempt, event = self.attempt(node), self._event
        attempt.cluster, attempt.noop = jobs.cluster, jobs.subproc
        attempt.proc = event.proc if event.kind == EventKind.SUBMIT else jobs.only or 0
        attempt.reason = ""
        attempt.carrier = self.run.carried.get(self.of(node).name) if jobs.subproc else None
        if attempt.carrier is None or not attempt.submitted:  # else it is in the queue for longer
            attempt.submitted = event.time
        if self._on_hold:
            self._on_hold.pop(node, None)

    def job_event(self, node: int, event: LogEvent, change: Change) -> None:
        """A proc of the node does something else."""
        seen, jobs = self._nodes[node], self.state.job_table.by_node[node]
        if self._changed is not None:
            self._changed[seen.name] = seen
        attempt = seen.attempts[-1]
        ran = attempt.running
        attempt.procs, attempt.ended_procs = procs, ended = len(jobs.procs), len(jobs.codes)
        attempt.failed_procs, attempt.held = jobs.failed, jobs.held
        runs = attempt.running = procs - ended - jobs.idle
        if ran == 0 != runs or runs == 0 != ran:
            attempt.note_pause(runs, event.time)
        if self._on_hold:
            self._still_on_hold(node, attempt, event, change)
        if change is Change.SUBMITTED:
            if self._say is not None:
                self._of_job("job.submit", event, seen)
            is_on_hold = self._is_on_hold
            if is_on_hold is not None and is_on_hold(node, event.proc, event.time):
                self._on_hold.setdefault(node, set()).add(event.proc)
                attempt.held += 1
                self._hold(seen, attempt, event, _SUBMITTED_ON_HOLD)
        elif change is Change.RUNS:
            if event.kind == EventKind.EXECUTE:
                self._runs(seen, attempt, event)
            if self._evicted:
                self._evicted.pop((event.cluster, event.proc), None)
        elif change is Change.ENDED:
            if attempt.holds:
                self._released(attempt, event)
            self._ended(seen, attempt, event)
        elif change is Change.IDLE:
            if event.kind in carriers.TAKEN and runs < ran:
                attempt.evictions += 1
                attempt.outgrown += event_facts.has_outgrown(said(event))
                self._evicted[event.cluster, event.proc] = event.time
                why = event_facts.eviction_reason(said(event))
                self._of_job("job.evict", event, seen, reason=why)
        elif change is Change.HELD:
            text = said(event)
            why_held = (event_facts.reason(text), *event_facts.hold_codes(text))
            self._hold(seen, attempt, event, why_held)
        elif change is Change.RELEASED:
            self._released(attempt, event)
            self._of_job("job.release", event, seen, reason=event_facts.reason(said(event)))

    def own_event(self, event: LogEvent) -> None:
        """A feature has taken an event of a job of its own."""
        for take in feature_table.told("shown", "own_event", self.run.of):
            take(self, event)

    def carries(self, carrier: Carrier, event: LogEvent) -> None:
        """An event of the job that carries nodes: they stand in the queue as it does."""
        was_held = carrier.job.held
        carriers.take(carrier, event)
        if was_held > carrier.job.held:
            self._note_standstill(carrier.job, event.time)
        if self._changed is not None:
            nodes = map(self.run.nodes.get, carrier.nodes)
            self._changed.update((node.name, node) for node in nodes if node is not None)

    def _of_job(self, name: str, event: LogEvent, node: NodeRun, **data: Any) -> None:
        if self._say is not None:
            self.tell(name, event.time, node, _job(event), **data)

    def _runs(self, node: NodeRun, attempt: Attempt, event: LogEvent) -> None:
        host = event_facts.host(said(event))
        if attempt.carrier is not None:
            host = carriers.slot_on(attempt.carrier, host)
        attempt.hosts += (host,)
        attempt.started = attempt.started or event.time
        if self._say is not None:
            self._of_job("job.execute", event, node, host=host)

    def _hold(
        self, node: NodeRun, attempt: Attempt, event: LogEvent, why: tuple[str, int, int]
    ) -> None:
        hold = Hold(event.time, *why, _job(event))
        self._holds[event.cluster, event.proc] = len(attempt.holds)
        attempt.holds.append(hold)
        data = {"reason": hold.reason, "code": hold.code, "subcode": hold.subcode}
        self._of_job("job.hold", event, node, **data)

    def _still_on_hold(self, node: int, attempt: Attempt, event: LogEvent, change: Change) -> None:
        """Add its procs that are since their submission; this one does something else now."""
        procs = self._on_hold.get(node, set())
        if event.proc in procs:
            procs.remove(event.proc)
            if change is not Change.RELEASED:
                self._released(attempt, event)
        attempt.held += len(procs)

    def _released(self, attempt: Attempt, event: LogEvent) -> None:
        number = self._holds.pop((event.cluster, event.proc), None)
        if number is not None and number < len(attempt.holds):
            hold = attempt.holds[number]
            attempt.holds[number] = hold._replace(released=event.time)
            if hold.time >= self._last_release:  # else it was one of several that were on hold
                self._note_standstill(attempt, event.time)
            self._last_release = event.time

    def _note_standstill(self, released: Attempt, time: float) -> None:
        """Up to a release all jobs in the queue may have been on hold."""
        jobs = [node.attempts[-1].queued_as for node in self.run.in_queue.values()]
        if not any(job.running or job.idle > (job is released) for job in jobs):
            holds = (job.holds[-1].time for job in jobs if job.holds)
            self.run.stood(max(holds, default=time), time)

    def _ended(self, node: NodeRun, attempt: Attempt, event: LogEvent) -> None:
        attempt.ended = event.time
        if event.kind == EventKind.JOB_TERMINATED:
            attempt.end_with(event.value)
            self._used(node, attempt, event)
        elif event.record == JournalRecord.JOB_ENDED:
            attempt.end_with(event.value)
            self._of_job("job.terminate", event, node)
        else:
            attempt.end_with(RETURN_JOB_ABORTED)
            evicted = self._evicted.pop((event.cluster, event.proc), float("-inf"))
            attempt.evictions -= event.time <= evicted + REMOVAL_S  # it was taken to be removed
            if event.kind == EventKind.JOB_ABORTED:
                attempt.reason = attempt.reason or event.text
                self._of_job("job.abort", event, node, reason=event.text)
            else:
                self._of_job("job.abort", event, node)

    def _used(self, node: NodeRun, attempt: Attempt, event: LogEvent) -> None:
        text = said(event)
        usage = event_facts.usage(text)
        if attempt.is_part:
            attempt.cpu_s += event_facts.brief_cpu_s(usage, event.time - attempt.started)
        else:
            attempt.cpu_s += event_facts.cpu_s(text)
        sent, received = event_facts.transferred(text)
        attempt.bytes_sent += sent
        attempt.bytes_received += received
        attempt.usage = event_facts.larger(attempt.usage, usage)
        if self._say is not None:
            data: dict[str, Any] = {"value": event.value}
            if usage:
                data["usage"] = {name: row._asdict() for name, row in usage.items()}
            self._of_job("job.terminate", event, node, **data)

    # Records.

    def _record(self, event: LogEvent) -> None:
        """One of DAGMan's own records, or a note of a DATA node's worker."""
        if event.record is None:
            if event.text:
                self._placement(event)
            return
        number = self.state.dag.find(event.node) if event.node else None
        node = None if number is None else self.of(number)
        said_of = event.node, event.retry, event.value, event.text, event.cluster, event.proc
        read = RecordRead(event.record, *said_of)
        for feature in feature_table.traced(event.record):
            feature.RECORDS[event.record](self, node, read, event.time)
        if number is None or event.retry != self.state.nodes.retries.get(number, 0):
            return
        if event.record == JournalRecord.PRE_ENDED:
            self.pre_ended(number, event.value, event.time)
        elif event.record == JournalRecord.SUBMIT_FAILED:
            self.submit_failed(self.attempt(number), self.of(number), event.text, event.time)

    def submit_failed(self, attempt: Attempt, node: NodeRun, why: str, time: float) -> None:
        """Its jobs could not be submitted; both logs may say so."""
        if attempt.reason != why and not attempt.procs:
            attempt.reason = why
            self.tell("node.submit_failed", time, node, reason=why)

    def _placement(self, event: LogEvent) -> None:
        noted = parse_event(said(event))
        node = None if noted is None else self.node(noted.node)
        if noted is None or node is None:
            return
        self.run.placements.setdefault(node.name, NodePlacements()).add(noted, event.time)
        name, job = _PLACEMENT_EVENTS.get(noted.state), f"{noted.cluster}.{noted.proc}"
        if name is not None and self._say is not None:
            self.tell(name, event.time, node, job, **event_fields(noted))


def _job(event: LogEvent) -> str:
    return f"{event.cluster}.{event.proc}" if event.cluster else ""
