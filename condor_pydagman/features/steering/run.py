"""What people ask of single nodes: cancel, hold, release, run again, mark done, skip, set; of
groups of nodes, by one of them: leave the site; and what they ask of the whole DAG, as the nodes
log has it.

A command is checked against the node's state and written into the nodes log; it takes effect when
it has been read back from there, live and in recovery mode alike.  Until then nothing new is
started and the DAG does not end, so what was checked still holds.  The person is answered when all
of a request is in force.

Holding and releasing jobs needs no record: the schedd's own events tell.  A node that is cancelled
while something of it runs is marked; it fails when that has ended, and is not retried.

Of commands for the whole DAG the priority is in force when its record has been read back, too.
The others are obeyed at once, since a full disk must not keep a DAG from being halted, and their
records are for readers: halts and throttles, which stock's clients set as well, are in the job ad.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

from condor_pydagman.engine import actions as do
from condor_pydagman.engine import lifecycle
from condor_pydagman.engine.dag_states import Phase
from condor_pydagman.engine.feature import Feature, want
from condor_pydagman.engine.inputs import LogEvent
from condor_pydagman.engine.jobs import Change
from condor_pydagman.engine.node_settings import MAX_BYTES, NodeSettings, categories_in_force
from condor_pydagman.engine.node_states import ALONE, CANCELLED, IN_QUEUE, NOT_BEGUN, Cause, State
from condor_pydagman.engine.run_records import Kind
from condor_pydagman.engine.state import RunState
from condor_pydagman.features.common import rerun
from condor_pydagman.features.steering import preconditions, selection, settings_text
from condor_pydagman.features.steering.preconditions import Words
from condor_pydagman.features.steering.steer_commands import (
    COMMANDS,
    DESCENDANTS,
    RETRY,
    NodeCommand,
)
from condor_pydagman.named_tuple import NamedTuple
from condor_pydagman.vocabulary import NO_NODE, ORDINARY_KINDS, NodeKind


class DagSteered(NamedTuple):
    """A person's command for the whole DAG, for the nodes log.  Who obeys it is told by another
    input, but of a priority: it is added to each node's own, as -Priority is, also of jobs in the
    queue."""

    by: str  # who asks, without blanks
    words: str  # what is asked, as `.dagman.out` has it
    request: int = 0  # its number, if it is to be answered as `NodesSteered`


class NodesSteered(NamedTuple):
    """A person's command for nodes.  Answered by `actions.Steered`, when all of it is in force."""

    request: int  # a number; a request of many nodes may come in parts with the same number
    command: NodeCommand
    nodes: Sequence[int]
    by: str  # who asks, without blanks
    # "retry" of CANCEL: retries apply; "descendants" of RERUN: they run anew as well; the text of
    # `NodeSettings` of SET; else ''
    options: str = ""
    last: bool = True  # whether no other part of the request follows


MOST_AT_ONCE = 200  # jobs of one request to the schedd


class Priorities:
    """Of the jobs in the queue."""

    def __init__(self, run: RunState) -> None:
        self._run = run
        # nodes whose jobs may have another priority there than is in force
        self.unsure: set[int] = set()

    def on_wanted(self, priority: int, by: str) -> None:
        """Of the whole DAG; it counts from now on.  The jobs in the queue are told between other
        things."""
        run = self._run
        restored = "Restoring the priority" if run.recovering else "Priority"
        run.say(f"{restored} of the DAG: {priority}, set by {by}")
        run.set_dag_priority(priority)
        self.may_all_differ()

    def may_all_differ(self) -> None:
        """Jobs in the queue may have another priority, if a person has set it."""
        self.may_differ(self._run.nodes.in_state(*IN_QUEUE))

    def may_differ(self, nodes: Iterable[int]) -> None:
        """The same of these nodes."""
        if self._run.dag_priority_is_set:
            self.unsure.update(nodes)

    def tell(self) -> None:
        """Give the jobs in the queue the priority in force, as soon as their ids are known."""
        run = self._run
        by_priority: dict[int, list[tuple[int, int]]] = {}
        for node in sorted(self.unsure):
            state = run.nodes.states[node]
            if state in (State.SUBMITTING, State.UNKNOWN):
                continue  # its ids are not known yet
            self.unsure.discard(node)
            jobs = run.job_table.by_node.get(node)
            if state == State.SUBMITTED and jobs is not None and jobs.cluster > 0:
                by_priority.setdefault(run.priority(node), []).append(jobs.target)
        for priority, targets in by_priority.items():
            for begin in range(0, len(targets), MOST_AT_ONCE):
                some = tuple(targets[begin : begin + MOST_AT_ONCE])
                run.emit(do.SetJobPriorities(priority, some))


COMMAND = Kind("command for a node", holds=True)  # by node and number
DAG_COMMAND = Kind("command for the DAG")  # by number
_PRIORITY = re.compile(r"(\S+) priority value (-?[0-9]{1,10})")
_OF_DAG = COMMANDS["priority"].options[0]
_JOBS = (NodeCommand.HOLD, NodeCommand.RELEASE)
_DAGMAN = "DAGMan"  # asks for what follows from an earlier command

_SINGLE = (NodeKind.FINAL, NodeKind.PROVISIONER)


class Request:
    """How far a request is."""

    __slots__ = ("again", "awaited", "complete", "done", "refused")

    def __init__(self) -> None:
        self.awaited: set[int] = set()  # numbers of its records that have not been read back
        self.done = 0  # nodes for which it is in force
        self.refused: list[tuple[int, str]] = []  # nodes that it does not fit, and why
        self.complete = False  # whether all its parts have come
        self.again: set[int] = set()  # nodes that run again with their descendants, and these


class Steering(Feature):
    """What people have asked."""

    name = "steering"
    # value: number of the command; text: who, which command, its options
    records = (("STEERED", "on_record"), ("DAG_STEERED", "on_dag_record"))
    inputs = ((NodesSteered, "on_steered"), (DagSteered, "on_dag_steered"))

    def __init__(self, run: RunState) -> None:
        super().__init__(run)
        self.requests: dict[int, Request] = {}  # those that have not been answered, by number
        self.priorities = Priorities(run)  # of the jobs in the queue
        self._cancelled: set[int] = set()  # nodes that are marked as such, and perhaps no more
        self._number = 0  # of the last record

    # A request comes.

    def on_steered(self, wanted: NodesSteered) -> None:
        """Check a command for each of its nodes; journal it where it fits."""
        request = self.requests.setdefault(wanted.request, Request())
        request.complete = wanted.last
        known: dict[int, str] = {}
        for node in wanted.nodes:
            why = self._obstacle(node, wanted, known)
            if why:
                request.refused.append((node, why))
            elif wanted.command in _JOBS:
                self._hold_or_release(node, wanted)
                request.done += 1
            else:
                words = Words(wanted.by, wanted.command, wanted.options)
                request.awaited.add(self._journal(node, words))
        self._answer_if_over(wanted.request)

    def chosen(self, kind: str, value: str | tuple[str, ...]) -> list[int]:
        """The nodes that a person means: a selector and its value; see `selection.chosen`.

        Raises:
            SelectionError: there are none; the text says what there is.
        """
        run = self.run
        categories = categories_in_force(run.dag.categories, run.settings)
        return selection.chosen(run.nodes, kind, value, categories)

    def refused(self, wanted: NodesSteered) -> list[tuple[int, str]]:
        """The nodes that a command does not fit now, each with the reason."""
        known: dict[int, str] = {}
        pairs = ((node, self._obstacle(node, wanted, known)) for node in wanted.nodes)
        return [(node, why) for node, why in pairs if why]

    def descending(self, wanted: NodesSteered, refusals: Iterable[int]) -> set[int]:
        """Of a command that concerns descendants too: its nodes that it fits, and these."""
        run = self.run
        if wanted.command is not NodeCommand.RERUN or wanted.options != DESCENDANTS:
            return set()
        return rerun.with_descendants(run, set(wanted.nodes).difference(refusals))

    def _obstacle(self, node: int, wanted: NodesSteered, known: dict[int, str]) -> str:
        """Why a command can't be obeyed; '' if it can.

        `known`: see `rerun.obstacle_below`.
        """
        run = self.run
        if run.phase is not Phase.RUNNING and not run.is_over:
            return "DAGMan is recovering: try again later"
        if run.is_over or run.end.rescue_asked:
            return "the DAG is ending"
        kind = NodeKind(run.dag.kinds[node])
        if wanted.command not in _JOBS and kind not in ORDINARY_KINDS:
            return f"it is the {kind.name} node" if kind in _SINGLE else f"it is a {kind.name} node"
        bundles, state = run.features.get("bundle"), State(run.nodes.states[node])
        why: str = bundles.obstacle_to_steer(node) if bundles is not None else ""
        why = why or preconditions.obstacle(wanted.command, state, wanted.options)
        if not why and wanted.command is NodeCommand.RERUN:
            below = wanted.options == DESCENDANTS
            why = rerun.obstacle_below(run, node, known) if below else rerun.obstacle(run, node)
        if not why and wanted.command is NodeCommand.SET:
            why = self._obstacle_to_set(node, wanted.options)
        if not why and wanted.command is NodeCommand.REMATCH:
            why = self._sites().obstacle(node)
        return why

    def _obstacle_to_set(self, node: int, options: str) -> str:
        run = self.run
        settings = settings_text.read_settings(options)
        assert settings is not None, options
        taken = settings_text.recorded_bytes(run.dag.names[node], options)
        if taken > MAX_BYTES:
            return (
                f"the new values and the node's name take {taken} bytes of the nodes log,"
                f" of which a record has {MAX_BYTES}: set fewer at once"
            )
        if settings.category not in (None, *run.dag.category_limits, *run.dag.categories.values()):
            known = ", ".join(sorted({*run.dag.category_limits, *run.dag.categories.values()}))
            return (
                f"there is no category {settings.category!r}; the categories are {known or 'none'}"
            )
        return ""

    def _sites(self) -> Any:
        """What knows the groups of nodes, even of a DAG that has none."""
        run = self.run
        want(run, "sites")
        return run.features["sites"]

    def _hold_or_release(self, node: int, wanted: NodesSteered) -> None:
        run = self.run
        jobs = run.job_table.by_node[node]
        release = wanted.command is NodeCommand.RELEASE
        verb = "released" if release else "put on hold"
        run.say(f"Node {run.dag.names[node]} is {verb}, as {wanted.by} wants")
        reason = f"{verb} (condor_pydagman steer)"  # the schedd adds by whom
        run.emit(do.HoldJobs(*jobs.target, reason, release))

    def _journal(self, node: int, words: Words) -> int:
        """Write a command into the log; returns the number of its record."""
        run = self.run
        begun = run.nodes.states[node] not in NOT_BEGUN
        if words.command is NodeCommand.CANCEL and begun:
            words = words._replace(options=f"{words.options} {preconditions.BEGUN}".strip())
        if words.command is NodeCommand.REMATCH:
            words = words._replace(options=str(self._sites().round_of(node)))
        self._number += 1
        number = self._number
        action = do.AppendJournalRecord(
            "STEERED",
            node,
            run.nodes.retries.get(node, 0),
            number,
            text=preconditions.record_text(words),
        )
        run.write(COMMAND, (node, number), action)
        return number

    # A record has been read.

    def on_record(self, node: int, event: LogEvent) -> None:
        """Obey a command that the log has."""
        run = self.run
        words = preconditions.read_text(event.text)
        if words is None:
            run.say(f"Warning: ignoring the command {event.text!r} of a later version")
            return
        if run.nodes.states[node] == State.FUTILE:
            lifecycle.settle(run)
        again: set[int] = set()
        late = self._apply(node, event, words, again)
        if late:
            name = run.dag.names[node]
            run.say(f"Node {name}: {words.command.value} by {words.by} comes too late: {late}")
        if run.written.drop(COMMAND, (node, event.value)):
            self._read_back(event.value, [(node, late)] if late else [], again)

    def _read_back(self, record: int, refused: list[tuple[int, str]], again: set[int]) -> None:
        """A record of that number, which was awaited."""
        for number, request in self.requests.items():
            if record in request.awaited:
                request.awaited.discard(record)
                request.refused += refused
                request.done += not refused
                request.again |= again
                self._answer_if_over(number)
                return

    def _answer_if_over(self, number: int) -> None:
        run = self.run
        request = self.requests[number]
        if request.complete and not request.awaited:
            del self.requests[number]
            descendants = max(0, len(request.again) - request.done)
            run.emit(do.Steered(number, request.done, tuple(request.refused), descendants))

    def _apply(self, node: int, event: LogEvent, words: Words, again: set[int]) -> str:
        """Obey; why it comes too late, '' if it does not.  What runs again with its descendants is
        added to `again`."""
        run = self.run
        state = State(run.nodes.states[node])
        command = words.command
        another_run = event.retry != run.nodes.retries.get(node, 0)
        if command is NodeCommand.SET:
            return self._set(node, words.options, words.by)
        if command is NodeCommand.CANCEL:
            return self._cancel(node, state, words)
        if command is NodeCommand.REMATCH:
            late: str = self._sites().rematch(node, words.options, words.by)
            return late
        if command is NodeCommand.RERUN and another_run and state in NOT_BEGUN:
            return ""  # it runs again already, with what it depends on
        late = preconditions.obstacle(command, state, words.options)
        if late or another_run:
            return late or "another run of it has started"
        run.say(f"Node {run.dag.names[node]}: {COMMANDS[command.value].done} by {words.by}")
        if command is NodeCommand.RERUN:
            below = words.options == DESCENDANTS
            nodes = rerun.run_again(run, node, with_descendants=below)
            again.update(nodes if below else ())
        else:
            self._mark_done(node, state)
        return ""

    def _cancel(self, node: int, state: State, words: Words) -> str:
        run = self.run
        late = preconditions.obstacle(NodeCommand.CANCEL, state, "")
        if late:
            return late
        run.say(f"Node {run.dag.names[node]}: cancelled by {words.by}")
        options = words.options.split()
        if state in NOT_BEGUN and preconditions.BEGUN not in options:
            rerun.leave_queues(run, node)
            lifecycle.fail(run, node, f"Cancelled by {words.by}")
            return ""
        if RETRY not in options:
            self._cancelled.add(node)
            run.nodes.mark(node, CANCELLED)
        if state == State.SUBMITTED:
            self._remove(node, words.by)
        return ""

    def _remove(self, node: int, by: str) -> None:
        run = self.run
        name = run.dag.names[node]
        lifecycle.remove_rest(
            run, run.job_table.by_node[node], f"Node {name} was cancelled by {by}"
        )

    def _mark_done(self, node: int, state: State) -> None:
        """The node counts as done; its children may start."""
        run = self.run
        failed, alone = state == State.FAILED, run.nodes.marks[node] & ALONE
        rerun.leave_queues(run, node)
        run.nodes.move(node, Cause.MARKED_DONE, run.now)
        if failed:  # what it made futile is found out anew
            run.nodes.forget_error(node)
            run.nodes.not_failed(node)
        weak_are_released = failed and not alone
        released = (
            run.nodes.release_strong(node)
            if weak_are_released
            else run.nodes.release_children(node)
        )
        lifecycle.start_all(run, released)

    def _set(self, node: int, options: str, by: str) -> str:
        run = self.run
        settings = settings_text.read_settings(options)
        if settings is None:
            return f"{options} is not known to this version"
        run.set(node, settings)
        if settings.timeout is not None:
            want(run, "timeout")
        run.say(f"Node {run.dag.names[node]}: {settings_text.shown(settings)}, set by {by}")
        self._place_anew(node, settings)
        return ""

    def _place_anew(self, node: int, settings: NodeSettings) -> None:
        """Another priority or category: another place in the queue of what is ready."""
        run = self.run
        is_ready = node in run.ready or run.categories.is_aside(node)
        run.ready.discard(node)
        run.categories.forget(node)
        if settings.category is not None:
            run.categories.move(node, settings.category)
        if is_ready:
            run.ready.add(node, run.priority(node))
        bundles = run.features.get("bundle")
        if bundles is not None:
            bundles.set_by_person(node)

    # What follows from commands.

    def enforce(self) -> None:
        """Remove the jobs of cancelled nodes that were being submitted; fail those whose submission
        has come to nothing; tell the schedd of other priorities."""
        if self._cancelled:
            self._end_cancelled()
        self.priorities.tell()

    def _end_cancelled(self) -> None:
        run = self.run
        commanded = {node for node, _ in run.written.of(COMMAND)}  # and not read back yet
        for node in list(self._cancelled):
            state = run.nodes.states[node]
            if not run.nodes.marks[node] & CANCELLED:
                self._cancelled.discard(node)
            elif state == State.SUBMITTED:
                if run.job_table.by_node[node].unfinished:
                    self._remove(node, _DAGMAN)
            elif state in NOT_BEGUN and node not in commanded:
                self._cancelled.discard(node)
                run.nodes.unmark(node, CANCELLED)
                self._journal(node, Words(_DAGMAN, NodeCommand.CANCEL))

    def before_retry(self, node: int, error: str) -> str:
        """What was cancelled is not retried."""
        return f"Cancelled; {error}" if self.run.nodes.marks[node] & CANCELLED else ""

    # The whole DAG.

    def on_dag_steered(self, wanted: DagSteered) -> None:
        """Journal a command."""
        self._number += 1
        number, text = self._number, f"{wanted.by} {wanted.words}"
        record = do.AppendJournalRecord("DAG_STEERED", NO_NODE, 0, number, text=text)
        self.run.write(DAG_COMMAND, number, record)
        if wanted.request:
            request = self.requests[wanted.request] = Request()
            request.awaited, request.complete = {number}, True

    def on_dag_record(self, _: int, event: LogEvent) -> None:
        """Obey a command that the log has."""
        found = _PRIORITY.fullmatch(event.text)
        if found is not None and _OF_DAG.takes(int(found[2])):
            self.priorities.on_wanted(int(found[2]), found[1])
        elif found is not None:
            self.run.say(
                f"Priority {found[2]} of the DAG is not obeyed: it is not {_OF_DAG.expected}"
            )
        if self.run.written.drop(DAG_COMMAND, event.value):
            self._read_back(event.value, [], set())

    # Priorities.

    def job_event(self, node: int, _event: LogEvent, change: Change) -> None:
        """Jobs that the log does not show may have the priority of before."""
        if change is Change.ADOPTED:
            self.priorities.may_differ((node,))

    def replayed(self) -> None:
        """So may all jobs."""
        self.priorities.may_all_differ()
